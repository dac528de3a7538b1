import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject, KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { findObject, OwnersOfOne, stateOf, waitsForDependents } from '../../../src/controllers/garbage/owners.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { CONFIG_MAPS, ownedBy } from '../control-plane.ts'
import { newPlane } from '../reconcile.ts'

describe('an owner is', () => {
  let plane: ControlPlaneInMemory
  let owner: KubeObject
  beforeAll(async () => {
    plane = await newPlane()
    owner = await plane.configMap('owner')
  })

  test.each<[string, Partial<OwnerReference>, string, string]>([
    ['present', {}, 'default', 'present'],
    ['gone, from another namespace', {}, 'kube-system', 'gone'],
    ['gone, when another one has its name', { uid: 'another' }, 'default', 'gone'],
    ['gone, when nothing has its name', { name: 'nothing' }, 'default', 'gone'],
    [
      'gone, when no object of its kind is kept',
      { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' },
      'default',
      'gone',
    ],
    ['unknown, when its kind is not served', { kind: 'Thing', apiVersion: 'example.com/v1' }, 'default', 'unknown'],
    ['unknown, when its version is none', { apiVersion: 'a/b/c' }, 'default', 'unknown'],
    ['unknown to what has no namespace', {}, '', 'unknown'],
  ])('%s', async (_what, more, namespace, expected) => {
    const { state } = await stateOf(await plane.context('owned'), ownedBy(owner, more), namespace)
    expect(state).toBe(expected)
  })

  test('kept without what the collector does not read', async () => {
    const data = { large: 'x'.repeat(1000) }
    const finalizers = ['example.com/one', 'orphan']
    const large = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'large', namespace: 'default', finalizers },
      data,
    }
    const written = await plane.create(CONFIG_MAPS, large as unknown as JsonObject)
    const context = await plane.context('owned')
    const found = await Promise.all([
      stateOf(context, ownedBy(written), 'default'),
      new OwnersOfOne(context, 'default').stateOf(ownedBy(written)),
    ])
    for (const one of found) {
      expect(one).toMatchObject({ state: 'present', owner: { object: { metadata: { finalizers: ['orphan'] } } } })
      expect(JSON.stringify(one)).not.toContain('xxx')
    }
  })

  test('gone once it was seen to go, though its kind is not served any more', async () => {
    const context = await plane.context('owned')
    const reference = { kind: 'Thing', apiVersion: 'example.com/v1', name: 'a', uid: 'u' }
    expect(await stateOf(context, reference, 'default')).toMatchObject({ state: 'unknown' })
    context.absentOwners.add({ uid: 'u', ownerKind: 'Thing.example.com', namespace: 'default' })
    expect(await stateOf(context, reference, 'default')).toEqual({ state: 'gone' })
    expect(await stateOf(context, reference, 'kube-system')).toMatchObject({ state: 'unknown' })
  })

  test('the same beside thousands of others, of which all are read together', async () => {
    const context = await plane.context('owned')
    const owners = new OwnersOfOne(context, 'default')
    const others = Array.from({ length: 2_000 }, (_, n) => ownedBy(owner, { name: `other-${n}` }))
    const same = [ownedBy(owner), ownedBy(owner, { uid: 'another' })]
    const read = vi.spyOn(ResourceClient.prototype, 'get')
    await owners.lookFor([...others, ...same])
    const states = await Promise.all([...others, ...same].map(async (one) => (await owners.stateOf(one)).state))
    expect(states).toEqual([...others.map(() => 'gone'), 'present', 'gone'])
    expect(read).not.toHaveBeenCalled()
    read.mockRestore()
  })

  test.each<[string, Partial<OwnerReference>, string]>([
    ['a kind that is not served', { kind: 'Thing', apiVersion: 'example.com/v1' }, 'default'],
    ['no namespace', {}, ''],
  ])('unknown also where there are many: %s', async (_, more, namespace) => {
    const owners = new OwnersOfOne(await plane.context('owned'), namespace)
    const many = Array.from({ length: 20 }, (_, n) => ownedBy(owner, { ...more, name: `other-${n}` }))
    await owners.lookFor(many)
    for (const one of many) expect(await owners.stateOf(one)).toMatchObject({ state: 'unknown' })
  })

  test('found by name and uid', async () => {
    const context = await plane.context('owned')
    const key = { ...CONFIG_MAPS, namespace: 'default', name: 'owner', uid: owner.metadata.uid! }
    expect((await findObject(context, key))?.object.metadata.name).toBe('owner')
    expect(await findObject(context, { ...key, uid: 'another' })).toBeUndefined()
  })
})

test.each<[object, boolean]>([
  [{ finalizers: ['foregroundDeletion'], deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
  [{ finalizers: ['foregroundDeletion'] }, false],
  [{ finalizers: ['orphan'], deletionTimestamp: '2026-01-01T00:00:00Z' }, false],
])('%j waits for dependents: %s', (metadata, waits) => {
  expect(waitsForDependents({ metadata } as KubeObject)).toBe(waits)
})
