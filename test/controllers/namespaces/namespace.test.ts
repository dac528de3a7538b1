import { beforeEach, describe, expect, test } from 'vitest'
import type { Namespace } from '../../../src/api/core/v1.ts'
import type { Remains } from '../../../src/controllers/namespaces/namespace.ts'
import { controllerOf } from '../../../src/controllers/controllers.ts'
import { setConditions } from '../../../src/controllers/namespaces/namespace.ts'
import { CONFIG_MAPS, ControlPlaneInMemory } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const NOW = '2026-01-01T00:00:00Z'

const conditionsOf = (remains: Partial<Remains>) => {
  const namespace: Namespace = { metadata: { name: 'a' } }
  setConditions(namespace, { resources: new Map(), finalizers: new Map(), failures: [], ...remains }, NOW)
  return namespace.status?.conditions?.map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  )
}

const DISCOVERED = [
  'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
  'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
]
const DELETED =
  'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization'
const EMPTY = [
  'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
  'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
]

test.each<[string, Partial<Remains>, string[]]>([
  ['nothing is left', {}, [...DISCOVERED, DELETED, ...EMPTY]],
  [
    'finalizers hold objects back',
    {
      resources: new Map([
        ['secrets.', 1],
        ['configmaps.', 2],
      ]),
      finalizers: new Map([['a.b/c', 3]]),
    },
    [
      ...DISCOVERED,
      DELETED,
      'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 resource instances',
      'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: a.b/c in 3 resource instances',
    ],
  ],
  [
    'pods come to their end: what is left is not counted before they are gone',
    { resources: new Map([['pods.', 2]]), finalizers: new Map([['a.b/c', 1]]) },
    [...DISCOVERED, DELETED, ...EMPTY],
  ],
  [
    'pods should have gone',
    { resources: new Map([['pods.', 1]]), failures: ['unexpected items still remain'] },
    [
      ...DISCOVERED,
      'NamespaceDeletionContentFailure True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still remain',
      ...EMPTY,
    ],
  ],
])('%s', (_, remains, conditions) => {
  expect(conditionsOf(remains)).toEqual(conditions)
})

describe('a namespace that is deleted', () => {
  const NAMESPACES = { group: '', resource: 'namespaces' }
  let plane: ControlPlaneInMemory

  beforeEach(async () => {
    plane = new ControlPlaneInMemory()
    await plane.context()
    await plane.settle()
    await plane.create(NAMESPACES, {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'shop' },
      spec: { finalizers: ['kubernetes'] },
    })
    await plane.create(CONFIG_MAPS, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a', namespace: 'shop', finalizers: ['example.com/held'] },
    })
    await plane.settle()
  })

  const isThere = async () => (await plane.names(NAMESPACES)).includes('shop')
  const release = async () =>
    (await plane.client(CONFIG_MAPS, 'shop')).updateWithRetries(
      named('a'),
      ({ metadata }) => delete metadata.finalizers,
    )

  test('loses what came in its last moment, and a new one of its name keeps its own', async () => {
    const create = (name: string) =>
      plane.create(CONFIG_MAPS, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'shop' } })
    const swept = async (whileListing: () => Promise<unknown>) => {
      const context = await plane.context('namespace-sweep')
      const { SHARDS } = context.env
      let isFirst = true
      const listing = (stub: object): object =>
        new Proxy(stub, {
          get:
            (shard, method) =>
            async (...args: unknown[]) => {
              if (isFirst) await whileListing()
              isFirst = false
              return (Reflect.get(shard, method) as (...args: unknown[]) => unknown).apply(shard, args)
            },
        })
      const get = (id: DurableObjectId) =>
        String(id).endsWith('/configmaps') ? listing(SHARDS.get(id)) : SHARDS.get(id)
      const shards = new Proxy(SHARDS, {
        get: (all, name) => (name === 'get' ? get : (Reflect.get(all, name) as unknown)),
      })
      await controllerOf('namespace-sweep')!.reconcile('shop', { ...context, env: { ...context.env, SHARDS: shards } })
      return plane.names(CONFIG_MAPS, 'shop')
    }
    await release()
    await plane.delete(NAMESPACES, '', 'shop')
    await plane.pass(10_000)
    await create('late')
    const again = async () => {
      await plane.create(NAMESPACES, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop' } })
      await create('new')
    }
    expect(await swept(again)).toEqual(['late', 'new'])
    await plane.delete(CONFIG_MAPS, 'shop', 'new')
    await plane.delete(NAMESPACES, '', 'shop')
    await plane.pass(10_000)
    await create('late')
    expect(await swept(async () => {})).toEqual([])
  })

  test('waits longer and longer for what finalizers hold when it is gone, however much that is', async () => {
    await release()
    await plane.delete(NAMESPACES, '', 'shop')
    await plane.pass(10_000)
    const held = { namespace: 'shop', finalizers: ['example.com/held'] }
    for (let n = 0; n < 2_000; n++)
      await plane.create(CONFIG_MAPS, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { ...held, name: `n${n}` } })
    const look = async () => controllerOf('namespace-sweep')!.reconcile('shop', await plane.context('namespace-sweep'))
    expect(await look()).toBe(0)
    await expect(look()).rejects.toThrow('something is left in a namespace that is gone: configmaps.')
  })

  test('keeps what it holds for five seconds, however often its controller is called', async () => {
    await release()
    plane.now = new Date(plane.now.getTime() + 900) // in the middle of the second that deletionTimestamp names
    await plane.delete(NAMESPACES, '', 'shop')
    for (const _ of [1, 2, 3, 4]) {
      plane.add('namespace', 'shop', 0)
      await plane.pass(1_000)
    }
    await plane.pass(999)
    expect(await plane.names(CONFIG_MAPS, 'shop')).toEqual(['a'])
    await plane.pass(1_000)
    expect(await plane.names(CONFIG_MAPS, 'shop')).toEqual([])
    expect(await isThere()).toBe(false)
  })

  test('that something holds back is looked at more and more seldom', async () => {
    await plane.delete(NAMESPACES, '', 'shop')
    await plane.settle()
    plane.tried.length = 0
    for (let second = 0; second < 3600; second += 10) await plane.pass(10_000)
    expect(plane.tried.filter((controller) => controller === 'namespace').length).toBeLessThan(100)
    expect(await isThere()).toBe(true)
  })

  test('and that waited long goes as soon as its last object goes', async () => {
    await plane.delete(NAMESPACES, '', 'shop')
    await plane.settle()
    for (let minute = 0; minute < 60; minute++) await plane.pass(60_000)
    await release()
    await plane.settle()
    expect(await isThere()).toBe(false)
  })

  test('of thousands of objects goes in several looks, between which other work has its turn', async () => {
    await release()
    for (let n = 0; n < 4_500; n++)
      await plane.server.put('', 'configmaps', {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: `c-${n}`, namespace: 'shop' },
      })
    await plane.delete(NAMESPACES, '', 'shop')
    plane.now = new Date(plane.now.getTime() + 6_000)
    const look = async () => controllerOf('namespace')!.reconcile('shop', await plane.context('namespace'))
    const left = async () => (await plane.names(CONFIG_MAPS, 'shop')).length
    expect([await look(), await left()]).toEqual([0, 2_501])
    expect([await look(), await left()]).toEqual([0, 501])
    expect(await isThere()).toBe(true)
    expect([await look(), await left()]).toEqual([undefined, 0])
    expect(await isThere()).toBe(false)
  })
})
