import { beforeEach, describe, expect, test } from 'vitest'
import type { Event } from '../../../src/api/core/v1.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { ownedIn } from '../../../src/registry/work/collector-work.ts'
import { CONFIG_MAPS, ControlPlaneInMemory, EVENTS, ownedBy } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { definition, DEFINITIONS, widget, WIDGETS } from './widgets.ts'

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' }

let plane: ControlPlaneInMemory

beforeEach(async () => {
  plane = new ControlPlaneInMemory()
  await plane.context() // its first use writes what a new control plane has
  await plane.settle()
})

const absent = (uid: string, owner: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'absent',
  uid,
  ...owner,
})

const priorityClass = (ownerReferences: OwnerReference[]): JsonObject =>
  ({
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    value: 1,
    metadata: { name: 'wide', ownerReferences },
  }) as unknown as JsonObject

describe('objects that name owners when they are written', () => {
  test('bring the same work, and all of them are looked at', async () => {
    const owners = [absent('u1')]
    for (const name of ['one', 'other']) await plane.configMap(name, owners)
    await plane.configMap('of-another', [absent('u2')])
    await plane.configMap('of-none')
    const works = plane.waiting.filter((work) => work.startsWith('owned '))
    expect(new Set(works).size).toBe(2)
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(['of-none'])
  })

  test.each([{}, { owners: [absent('u1')] }])(
    'are known from work of earlier releases, which names one: %j',
    (more) => {
      const one = { ...CONFIG_MAPS, namespace: 'default', name: 'dependent', uid: 'u2' }
      expect(ownedIn(JSON.stringify({ ...one, ...more }))).toEqual(one)
    },
  )
})

describe('an owner that cannot be judged is not gone', () => {
  test.each<[string, OwnerReference[], 'kept' | 'collected']>([
    ['an owner that is gone', [absent('u1')], 'collected'],
    ['two of them', [absent('u1'), absent('u2', { kind: 'Secret' })], 'collected'],
    ['a group that is not served', [absent('u1', { apiVersion: 'nope.example.com/v1', kind: 'Nope' })], 'kept'],
    ['a version that is not served', [absent('u1', { apiVersion: 'apps/v9', kind: 'Deployment' })], 'kept'],
    ['a kind of which no objects are kept', [absent('u1', { kind: 'Binding' })], 'collected'],
    ['an absent owner beside an unknown one', [absent('u1'), absent('u2', { kind: 'Nope' })], 'kept'],
    ['an unknown owner beside an absent one', [absent('u2', { kind: 'Nope' }), absent('u1')], 'kept'],
  ])('%s', async (_, owners, expected) => {
    await plane.configMap('dependent', owners)
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(expected === 'kept' ? ['dependent'] : [])
    if (expected === 'kept')
      expect((await plane.get(CONFIG_MAPS, 'default', 'dependent'))?.metadata.ownerReferences).toHaveLength(
        owners.length,
      )
    expect(plane.waiting).toEqual([])
  })

  test('a namespaced owner of a cluster-scoped object', async () => {
    await plane.create(PRIORITY_CLASSES, priorityClass([absent('u1')]))
    await plane.settle()
    expect(await plane.names(PRIORITY_CLASSES)).toContain('wide')
  })

  test('kept objects are judged once the kind is served', async () => {
    await plane.configMap('dependent', [absent('u1', { apiVersion: 'example.com/v1', kind: 'Widget' })])
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(['dependent'])
    await plane.create(DEFINITIONS, definition())
    await plane.settle()
    await plane.pass(60_000)
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual([])
  })

  test('two references to an owner, one of them wrong: it has its owner', async () => {
    const owner = await plane.configMap('owner')
    await plane.configMap('dependent', [ownedBy(owner), ownedBy(owner, { name: 'other' })])
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(['dependent', 'owner'])
  })
})

describe('an owner of another namespace', () => {
  const reported = async () => {
    const events = (await plane.all(EVENTS)) as Event[]
    return events.map(({ metadata, involvedObject, type, reason, message, source }) => ({
      namespace: metadata?.namespace,
      involvedObject,
      type,
      reason,
      message,
      source,
    }))
  }

  test('is reported, and counts as none', async () => {
    const owner = await plane.create(
      { group: '', resource: 'secrets' },
      {
        kind: 'Secret',
        apiVersion: 'v1',
        metadata: { name: 'owner', namespace: 'kube-system' },
      },
    )
    const dependent = await plane.configMap('dependent', [ownedBy(owner)])
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual([])
    expect(await reported()).toEqual([
      {
        namespace: 'default',
        involvedObject: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          namespace: 'default',
          name: 'dependent',
          uid: dependent.metadata.uid,
        },
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [v1/Secret, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
        source: { component: 'garbage-collector-controller' },
      },
    ])
  })

  test('of a cluster-scoped object is reported in default, and the object is kept', async () => {
    const owner = await plane.configMap('owner')
    await plane.create(PRIORITY_CLASSES, priorityClass([ownedBy(owner)]))
    await plane.settle()
    expect(await plane.names(PRIORITY_CLASSES)).toContain('wide')
    expect(await reported()).toMatchObject([
      {
        namespace: 'default',
        involvedObject: { kind: 'PriorityClass', name: 'wide' },
        message: `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: ${owner.metadata.uid}] does not exist in namespace ""`,
      },
    ])
  })
})

describe('a dependent elsewhere keeps no owner, and is left alone by its deletion:', () => {
  const elsewhere = (owner: KubeObject): JsonObject =>
    ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'foreign',
        namespace: 'kube-system',
        finalizers: ['example.com/keep'],
        ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })],
      },
    }) as unknown as JsonObject

  test.each(['Foreground', 'Orphan', 'Background'])('%s', async (propagationPolicy) => {
    const owner = await plane.configMap('owner')
    await plane.configMap('dependent', [ownedBy(owner, { blockOwnerDeletion: true })])
    await plane.create(CONFIG_MAPS, elsewhere(owner))
    await plane.settle()
    await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy })
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(propagationPolicy === 'Orphan' ? ['dependent'] : [])
    const foreign = await plane.get(CONFIG_MAPS, 'kube-system', 'foreign')
    expect(foreign?.metadata.ownerReferences).toHaveLength(1)
    expect(plane.waiting).toEqual([])
  })

  test('of a cluster-scoped owner they are in any namespace', async () => {
    const owner = await plane.create(PRIORITY_CLASSES, priorityClass([]))
    await plane.create(CONFIG_MAPS, elsewhere(owner))
    await plane.settle()
    await plane.delete(PRIORITY_CLASSES, '', 'wide', { propagationPolicy: 'Foreground' })
    await plane.settle()
    expect(await plane.names(PRIORITY_CLASSES)).toContain('wide')
  })
})

describe('after a definition is deleted', () => {
  test('the dependents of its objects are deleted', async () => {
    await plane.create(DEFINITIONS, definition())
    await plane.settle()
    const [one, two] = [await plane.create(WIDGETS, widget('one')), await plane.create(WIDGETS, widget('two'))]
    await plane.configMap('dependent', [ownedBy(one), ownedBy(two)])
    await plane.settle()
    await plane.delete(DEFINITIONS, '', 'widgets.example.com')
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual([])
  })

  test('nobody looks for its objects, and when it comes back they are found again', async () => {
    for (const name of ['first', 'second']) {
      await plane.create(DEFINITIONS, definition())
      await plane.settle()
      await plane.create(WIDGETS, widget(name, [ownedBy(await plane.configMap(`owner-of-${name}`))]))
      expect((await plane.context()).dependentsOf('ConfigMap')).toMatchObject([WIDGETS])
      await plane.delete(CONFIG_MAPS, 'default', `owner-of-${name}`)
      await plane.settle()
      expect(await plane.names(WIDGETS, 'default')).toEqual([])
      await plane.delete(DEFINITIONS, '', 'widgets.example.com')
      await plane.settle()
      expect((await plane.context()).dependentsOf('ConfigMap')).toEqual([])
    }
  })

  test('objects that stayed behind are found again when their kind is served', async () => {
    await plane.create(DEFINITIONS, definition())
    await plane.settle()
    await plane.create(WIDGETS, widget('stays', [ownedBy(await plane.configMap('owner'))]))
    const { forgetDependents } = await plane.context()
    forgetDependents(WIDGETS)
    plane.add('kind-served', JSON.stringify({ ...WIDGETS, kind: 'Widget' }), 0)
    await plane.settle()
    await plane.delete(CONFIG_MAPS, 'default', 'owner')
    await plane.settle()
    expect(await plane.names(WIDGETS, 'default')).toEqual([])
  })

  test('other dependents of the kinds that owned its objects are still collected', async () => {
    plane.announce('ConfigMap', WIDGETS)
    const owner = await plane.configMap('owner')
    await plane.configMap('dependent', [ownedBy(owner, { blockOwnerDeletion: true })])
    await plane.settle()
    await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy: 'Foreground' })
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual([])
    expect(plane.waiting).toEqual([])
  })
})

test('of a new object whose owner is there to stay, the owner alone is read', async () => {
  const owner = await plane.create(PRIORITY_CLASSES, priorityClass([]))
  await plane.settle()
  await plane.configMap('dependent', [ownedBy(owner)])
  plane.asked.clear()
  await plane.settle()
  expect([...plane.asked]).toContain('priorityclasses.scheduling.k8s.io')
  expect([...plane.asked]).not.toContain('configmaps')
})

test.each([undefined, false])(
  'a dependent of an owner in foreground deletion, which another finalizer keeps, is deleted: blockOwnerDeletion %j',
  async (blockOwnerDeletion) => {
    const owner = await plane.configMap('owner', [], ['example.com/keep'])
    await plane.configMap('dependent', [ownedBy(owner, { blockOwnerDeletion })])
    await plane.settle()
    await plane.delete(CONFIG_MAPS, 'default', 'owner', { propagationPolicy: 'Foreground' })
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(['owner'])
    expect((await plane.get(CONFIG_MAPS, 'default', 'owner'))?.metadata.finalizers).toEqual(['example.com/keep'])
  },
)

describe('a circle of owners that is deleted in the foreground ends', () => {
  test.each([1, 2, 3, 5])('of %i', async (size) => {
    const names = Array.from({ length: size }, (_, n) => `c${n}`)
    const objects = []
    for (const name of names) objects.push(await plane.configMap(name))
    const client = await plane.client(CONFIG_MAPS, 'default')
    for (const [n, name] of names.entries()) {
      const owner = ownedBy(objects[(n + 1) % size]!, { blockOwnerDeletion: true, controller: true })
      await client.updateWithRetries(named(name), ({ metadata }) => (metadata.ownerReferences = [owner]))
    }
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual(names)
    await plane.delete(CONFIG_MAPS, 'default', 'c0', { propagationPolicy: 'Foreground' })
    await plane.settle()
    expect(await plane.names(CONFIG_MAPS, 'default')).toEqual([])
    expect(plane.waiting).toEqual([])
  })
})

describe('an object with many owners', () => {
  const owners = Array.from({ length: 300 }, (_, at) => absent(`uid-${at}`, { name: `absent-${at}` }))

  /** The lists that the collector makes until it is done. */
  async function listsOf(write: () => Promise<unknown>): Promise<number> {
    const { SHARDS } = plane.server.env
    const get = SHARDS.get.bind(SHARDS)
    let lists = 0
    SHARDS.get = (id) => {
      const stub = get(id)
      return new Proxy(stub, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...of: unknown[]): unknown => {
            if (name === 'fetch' && String(of[0] instanceof Request ? of[0].url : of[0]).endsWith('/list')) lists++
            return Reflect.apply(member, target, of)
          }
        },
      })
    }
    await write()
    await plane.settle()
    return lists
  }

  test('is read by its name, and not once for each owner', async () => {
    expect(await listsOf(() => plane.configMap('c', owners))).toBeLessThan(50)
    expect(await plane.names(CONFIG_MAPS)).not.toContain('c')
  })

  test('stays where one of them is there', async () => {
    const there = await plane.configMap('there')
    await plane.configMap('c', [...owners, ownedBy(there)])
    await plane.settle()
    const kept = await plane.get(CONFIG_MAPS, 'default', 'c')
    expect(kept?.metadata.ownerReferences).toEqual([ownedBy(there)])
  })

  test.each(['Background', 'Foreground'])(
    'goes with the last of them, and not before, %s',
    async (propagationPolicy) => {
      const many = await Promise.all(Array.from({ length: 20 }, (_, at) => plane.configMap(`owner-${at}`)))
      const references = many.map((one) => ownedBy(one, { blockOwnerDeletion: true }))
      await plane.configMap('c', references)
      await plane.settle()
      for (const [at, owner] of many.entries()) {
        expect((await plane.get(CONFIG_MAPS, 'default', 'c'))?.metadata.ownerReferences).toEqual(references.slice(at))
        await plane.delete(CONFIG_MAPS, 'default', owner.metadata.name!, { propagationPolicy })
        await plane.settle()
        expect(await plane.names(CONFIG_MAPS)).not.toContain(owner.metadata.name)
      }
      expect(await plane.names(CONFIG_MAPS)).not.toContain('c')
    },
  )
})
