import { describe, expect, test } from 'vitest'
import { memoryServer } from '../../request-in-memory.ts'
import { settingsOf } from '../../../src/settings.ts'
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { definitionOf } from '../../../src/registry/definitions.ts'
import { LONGEST_PAYLOAD, workFor } from '../../../src/registry/work/outbox.ts'

const SECRETS = { group: '', resource: 'secrets' }

const owner = (name: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Secret',
  name,
  uid: `uid-${name}`,
  blockOwnerDeletion,
})

const secret = (ownerReferences: OwnerReference[]): KubeObject => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 'c', namespace: 'a', uid: 'uid-c', ...(ownerReferences.length === 0 ? {} : { ownerReferences }) },
})

describe('owners that an object no longer holds back may go', () => {
  const freed = (before: OwnerReference[], after: OwnerReference[]) =>
    workFor(
      definitionOf(SECRETS),
      { resource: SECRETS, object: secret(after), old: secret(before), now: 0 },
      settingsOf(memoryServer().env),
    )
      .filter(({ topic }) => topic === 'owners-freed')
      .flatMap(({ payload }) => (JSON.parse(payload) as { owners: OwnerReference[] }).owners.map(({ name }) => name))

  test.each<[string, OwnerReference[], OwnerReference[], string[]]>([
    ['one was taken off', [owner('o'), owner('p')], [owner('p')], ['o']],
    ['all were taken off', [owner('o'), owner('p')], [], ['o', 'p']],
    ['one is not to be held back any more', [owner('o')], [owner('o', false)], ['o']],
    ['nothing changed', [owner('o')], [owner('o')], []],
    ['one came', [owner('o')], [owner('o'), owner('p')], []],
    ['one that was not held back was taken off', [owner('o', false)], [], []],
  ])('%s', (_, before, after, expected) => {
    expect(freed(before, after)).toEqual(expected)
  })
})

describe('work has short keys, whatever an object names', () => {
  const pods = { group: '', resource: 'pods' }
  const workOf = (resource: typeof pods, change: { object?: KubeObject; old?: KubeObject }) =>
    workFor(definitionOf(resource), { resource, ...change, now: 0 }, settingsOf(memoryServer().env))
  const many = Array.from({ length: 20_000 }, (_, at) => owner(`o${at}`))
  const long = 'n'.repeat(1_000_000)
  const named = (ownerReferences: OwnerReference[]) => ({ ...secret(ownerReferences), kind: 'Pod' })

  test.each<[string, OwnerReference[]]>([
    ['20,000 owners', many],
    ['an owner with a long name', [{ ...owner(long), controller: true }]],
    ['an owner with a long uid', [{ ...owner('o'), uid: long }]],
    ['an owner of a long kind', [{ ...owner('o'), kind: long, controller: true }]],
  ])('%s', (_, owners) => {
    const [object, old] = [named(owners), named([])]
    for (const change of [{ object }, { object, old }, { object: old, old: object }, { old: object }])
      for (const { topic, payload } of workOf(pods, change))
        expect([topic, payload.length <= LONGEST_PAYLOAD]).toEqual([topic, true])
  })

  test('an object with many owners is named itself', () => {
    const key = { ...SECRETS, namespace: 'a', name: 'c', uid: 'uid-c' }
    expect(workOf(SECRETS, { object: secret(many) })).toEqual([{ topic: 'dependent', payload: JSON.stringify(key) }])
    expect(workOf(SECRETS, { object: secret(many.slice(0, 16)) }).map(({ topic }) => topic)).toEqual(['owned'])
  })

  test('all of its owners may go after it', () => {
    const freed = workOf(SECRETS, { old: secret(many) }).map(
      ({ topic, payload }) => [topic, (JSON.parse(payload) as { owners: OwnerReference[] }).owners] as const,
    )
    expect(freed.map(([topic]) => topic).slice(0, 3)).toEqual(['departed', 'owners-freed', 'owners-freed'])
    expect(freed.flatMap(([, owners]) => owners)).toEqual(many)
  })
})

test.each([
  ['', 'endpoints', 'kubernetes', 1],
  ['discovery.k8s.io', 'endpointslices', 'kubernetes', 1],
  ['', 'endpoints', 'mine', 0],
  // kube-apiserver leaves it to users
  ['', 'services', 'kubernetes', 0],
])('an update of what the server puts right: %s %s %s', (group, resource, name, count) => {
  const object = { kind: 'X', apiVersion: 'v1', metadata: { name, namespace: 'default', uid: 'u' } }
  const found = workFor(
    definitionOf({ group, resource }),
    { resource: { group, resource }, object, old: object, now: 0 },
    settingsOf(memoryServer().env),
  ).filter(({ topic }) => topic === 'server-object-gone')
  expect(found).toHaveLength(count)
})

test.each([
  ['networking.k8s.io', 'servicecidrs', undefined, 'kubernetes', ['']],
  ['networking.k8s.io', 'servicecidrs', undefined, 'mine', []],
  ['', 'namespaces', undefined, 'kube-node-lease', ['kube-node-lease']],
  ['', 'services', 'default', 'kubernetes', ['']],
])('an object of the server that is gone: %s %s %s/%s', (group, resource, namespace, name, payloads) => {
  const metadata = { name, uid: 'u', ...(namespace === undefined ? {} : { namespace }) }
  const gone = workFor(
    definitionOf({ group, resource }),
    { resource: { group, resource }, old: { kind: 'X', apiVersion: 'v1', metadata }, now: 0 },
    settingsOf(memoryServer().env),
  ).filter(({ topic }) => topic === 'server-object-gone')
  expect(gone.map(({ payload }) => payload)).toEqual(payloads)
})
