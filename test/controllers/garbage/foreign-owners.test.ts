import { expect, test, vi } from 'vitest'
import type { Event } from '../../../src/api/core/v1.ts'
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { reportForeignOwners } from '../../../src/controllers/garbage/foreign-owners.ts'
import { StatusError } from '../../../src/api/status.ts'
import { ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { CONFIG_MAPS, EVENTS, ownedBy } from '../control-plane.ts'
import { newPlane, of } from '../reconcile.ts'

async function eventsFor(ownerReferencesOf: (owner: KubeObject, near: KubeObject) => OwnerReference[]) {
  const plane = await newPlane()
  const configMap = (name: string, namespace: string) =>
    plane.create(CONFIG_MAPS, of('v1', 'ConfigMap', { metadata: { name, namespace } }))
  const owner = await configMap('owner', 'kube-system')
  const near = await configMap('near', 'default')
  const { uid = '' } = near.metadata
  const object: KubeObject = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'dependent', namespace: 'default', uid: 'd', ownerReferences: ownerReferencesOf(owner, near) },
  }
  const found = { ...CONFIG_MAPS, namespace: 'default', name: 'dependent', uid: 'd', object }
  await reportForeignOwners(await plane.context('owned'), found)
  const events = (await (await plane.client(EVENTS, 'default')).list()) as (Event & KubeObject)[]
  return {
    uid,
    ownerUid: owner.metadata.uid,
    texts: events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
  }
}

test('an owner of another namespace causes an Event', async () => {
  const { texts, ownerUid } = await eventsFor((owner) => [ownedBy(owner)])
  expect(texts).toEqual([
    `Warning OwnerRefInvalidNamespace: ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${ownerUid}] does not exist in namespace "default"`,
  ])
})

test.each<[string, (owner: KubeObject, near: KubeObject) => OwnerReference[]]>([
  ['an owner of its own namespace', (_owner, near) => [ownedBy(near)]],
  ['an owner that is nowhere', (owner) => [ownedBy(owner, { uid: 'another' })]],
  ['an owner without a namespace', () => [{ kind: 'Node', apiVersion: 'v1', name: 'n', uid: 'u' }]],
  ['an owner whose kind nobody serves', () => [{ kind: 'Thing', apiVersion: 'example.com/v1', name: 'n', uid: 'u' }]],
])('%s is not', async (_what, references) => {
  expect((await eventsFor(references)).texts).toEqual([])
})

test('an owner is looked for among a thousand objects of its name, and no more', async () => {
  const plane = await newPlane()
  const named = (namespace: string) =>
    plane.create(CONFIG_MAPS, of('v1', 'ConfigMap', { metadata: { name: 'everywhere', namespace } }))
  for (let n = 0; n < 1_000; n++) await named(`n${n}`)
  const last = await named('z')
  const dependent = (name: string, owner: KubeObject) => {
    const object: KubeObject = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default', uid: name, ownerReferences: [ownedBy(owner)] },
    }
    return { ...CONFIG_MAPS, namespace: 'default', name, uid: name, object }
  }
  const context = await plane.context('owned')
  await reportForeignOwners(context, dependent('one', last))
  expect(await plane.names(EVENTS, 'default')).toEqual([])
  await reportForeignOwners(context, dependent('two', (await plane.get(CONFIG_MAPS, 'n999', 'everywhere'))!))
  expect(await plane.names(EVENTS, 'default')).toHaveLength(1)
})

test.each([403, 503])('an Event that a webhook refuses with %i is left out', async (code) => {
  const { create } = ResourceClient.prototype
  vi.spyOn(ResourceClient.prototype, 'create').mockImplementation(function (this: ResourceClient, object, shared) {
    return object.kind === 'Event'
      ? Promise.reject(new StatusError(code, undefined, 'refused'))
      : create.call(this, object, shared)
  })
  const { texts } = await eventsFor((owner) => [ownedBy(owner)]).finally(() => vi.restoreAllMocks())
  expect(texts).toEqual([])
})
