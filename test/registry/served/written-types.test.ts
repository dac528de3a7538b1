// Each definition has a database of its own, and a control plane may have a thousand definitions. Code that walks over
// all of them must not open databases that were never written.
import '../../digest-stream.ts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/apiextensions/v1.ts'
import { groupResourceText } from '../../../src/api/group-version.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { crdFinalizerController } from '../../../src/controllers/definitions/finalizer.ts'
import { serveBackup } from '../../../src/endpoints/backup/backup.ts'
import { serveRestore } from '../../../src/endpoints/backup/restore.ts'
import { DEFINITIONS } from '../../../src/registry/custom-resources/definition.ts'
import { builtInResources } from '../../../src/registry/served/resources.ts'
import { builtInStorages } from '../../../src/storage/collections.ts'
import { writtenEntries, writtenShards } from '../../../src/registry/served/written-types.ts'
import { WRITTEN_SHARDS } from '../../../src/storage/shards/written-shards.ts'
import { freshControlSnapshot } from '../../../src/tenancy/control-snapshot.ts'
import { ControlPlaneInMemory } from '../../controllers/control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const COUNT = 12

const group = (n: number) => `g${n}.example.com`
const definition = (n: number): JsonObject => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: `widgets.${group(n)}` },
  spec: {
    group: group(n),
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    conversion: { strategy: 'None' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
  status: {},
})

let plane: ControlPlaneInMemory

beforeEach(async () => {
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has this class; Node has only TransformStream
  plane = new ControlPlaneInMemory()
  await plane.context()
  await plane.settle()
})

const custom = () => [...plane.asked].filter((name) => name.startsWith('widgets.')).sort()

async function define(): Promise<void> {
  for (let n = 0; n < COUNT; n++) await plane.create(DEFINITIONS, definition(n))
  await plane.settle()
}

async function withOneWidget(): Promise<void> {
  await define()
  await plane.create(NAMESPACES, {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'shop' },
    spec: { finalizers: ['kubernetes'] },
  })
  await plane.create(
    { group: group(3), resource: 'widgets' },
    { kind: 'Widget', apiVersion: `${group(3)}/v1`, metadata: { name: 'w', namespace: 'shop' } },
  )
  await plane.settle()
  plane.asked.clear()
}

/** A backup of everything written so far. */
async function backup(): Promise<string> {
  plane.server.now = new Date(Date.now() + 2)
  return (await serveBackup(plane.server.request('/backup'))).text()
}

test('definitions that become served open no database', async () => {
  await define()
  expect(await plane.names(DEFINITIONS)).toHaveLength(COUNT)
  expect(custom()).toEqual([])
})

test('a namespace that goes opens those with objects, and empties them', async () => {
  await withOneWidget()
  await plane.delete(NAMESPACES, '', 'shop')
  await plane.pass(6_000)
  expect(await plane.names(NAMESPACES)).not.toContain('shop')
  expect(custom()).toEqual([`widgets.${group(3)}`])
})

test('a definition that goes takes its objects with it, and opens no database where there are none', async () => {
  await withOneWidget()
  const definitions = await plane.client(DEFINITIONS, '')
  for (let n = 0; n < COUNT; n++) {
    const name = `widgets.${group(n)}`
    await definitions.updateWithRetries(named(name), ({ metadata }) => {
      metadata.finalizers = ['customresourcecleanup.apiextensions.k8s.io']
    })
    await plane.delete(DEFINITIONS, '', name)
    const context = await plane.context()
    await crdFinalizerController.reconcile(name, context)
  }
  expect(await plane.names(DEFINITIONS)).toEqual([])
  expect(custom()).toEqual([`widgets.${group(3)}`])
})

describe('a definition that changes or goes', () => {
  const spec = (kind: string) => (object: KubeObject) => {
    const definition: CustomResourceDefinition = object
    definition.spec!.names!.listKind = kind
  }

  test.each([
    ['without objects opens no database', []],
    ['without objects ends the watches there are', [0]],
  ])('%s', async (_, watched) => {
    await define()
    for (const n of watched) plane.watched.add(`widgets.${group(n)}`)
    for (const n of [0, 1]) {
      const definitions = await plane.client(DEFINITIONS, '')
      await definitions.updateWithRetries(named(`widgets.${group(n)}`), spec('Widgets'))
      await plane.settle()
      await plane.delete(DEFINITIONS, '', `widgets.${group(n)}`)
      await plane.settle()
    }
    expect(await plane.names(DEFINITIONS)).toHaveLength(COUNT - 2)
    expect(custom()).toEqual(watched.map((n) => `widgets.${group(n)}`))
  })

  test('ends the watches of its objects before the change is answered', async () => {
    await withOneWidget()
    await (await plane.client(DEFINITIONS, '')).updateWithRetries(named(`widgets.${group(3)}`), spec('Widgets'))
    expect(custom()).toEqual([`widgets.${group(3)}`])
  })

  test('with its objects takes the account of them with it', async () => {
    await withOneWidget()
    const written = async () => writtenShards(await freshControlSnapshot(plane.server))
    expect(await written()).toContain(`widgets.${group(3)}`)
    const begun = await serveBackup(plane.server.request('/backup'))
    await plane.delete(DEFINITIONS, '', `widgets.${group(3)}`)
    await plane.settle()
    expect(await written()).not.toContain(`widgets.${group(3)}`)
    // a backup that began before still has them
    expect(await begun.text()).toContain('"name":"w"')
  })
})

test('a backup holds what was written, and opens nothing else', async () => {
  await withOneWidget()
  const lines = (await backup()).trim().split('\n')
  expect(lines.filter((line) => line.includes('"name":"w"'))).toHaveLength(1)
  expect(custom()).toEqual([`widgets.${group(3)}`])
})

describe('objects that are not served', () => {
  const WIDGETS = { group: group(3), resource: 'widgets' }
  const name = `widgets.${group(3)}`

  /** Restores the backup into a new control plane. */
  async function moved(): Promise<{ to: ControlPlaneInMemory; unserved: unknown }> {
    const body = await backup()
    const to = new ControlPlaneInMemory()
    await to.context()
    await to.settle()
    const answer = await serveRestore(to.server.request('/restore', { method: 'POST', body }), async () => {})
    const { unserved } = (await answer.json()) as { unserved?: unknown }
    return { to, unserved }
  }

  const isServed = (served: boolean) => (object: KubeObject) => {
    const definition: CustomResourceDefinition = object
    definition.spec!.versions![0]!.served = served
  }

  test('for their definition has no served version are in a backup, and served again with it', async () => {
    await withOneWidget()
    await (await plane.client(DEFINITIONS, '')).updateWithRetries(named(name), isServed(false))
    await plane.settle()
    const { to, unserved } = await moved()
    expect(unserved).toBeUndefined()
    await (await to.client(DEFINITIONS, '')).updateWithRetries(named(name), isServed(true))
    await to.settle()
    expect(await to.get(WIDGETS, 'shop', 'w')).toMatchObject({ kind: 'Widget', metadata: { name: 'w' } })
  })

  test('for their definition went without its finalizer are in a backup, and served again when it comes back', async () => {
    await withOneWidget()
    const before = await plane.get(WIDGETS, 'shop', 'w')
    await plane.delete(DEFINITIONS, '', name)
    await (
      await plane.client(DEFINITIONS, '')
    ).updateWithRetries(named(name), ({ metadata }) => {
      delete metadata.finalizers
    })
    await plane.settle()
    expect(await plane.names(DEFINITIONS)).not.toContain(name)
    const { to, unserved } = await moved()
    expect(unserved).toEqual([name])
    await to.create(DEFINITIONS, definition(3))
    await to.settle()
    expect(await to.get(WIDGETS, 'shop', 'w')).toEqual(before)
  })
})

test('every built-in resource that is stored has a place that backups know', () => {
  const { resources } = builtInResources()
  const stored = resources.filter(({ persisted }) => persisted).map(({ storage }) => groupResourceText(storage))
  expect(builtInStorages().map(groupResourceText)).toEqual(expect.arrayContaining([...new Set(stored)]))
})

test('what a restore brought is known, and what it took away is not', async () => {
  await withOneWidget()
  const body = await backup()
  const other = new ControlPlaneInMemory()
  await other.context()
  await other.settle()
  await serveRestore(other.server.request('/restore', { method: 'POST', body }), async () => {})
  const snapshot = await freshControlSnapshot(other.server)
  const names = snapshot.list(WRITTEN_SHARDS).map(({ metadata }) => metadata.name)
  expect(names).toEqual(expect.arrayContaining(['control', 'configmaps', `widgets.${group(3)}`]))
  expect(names).not.toContain(`widgets.${group(4)}`)
  const { env, tenant } = other.server
  const groups = writtenEntries(env, tenant, snapshot).map((entry) => entry.group)
  expect(groups).toContain(group(3))
  expect(groups).not.toContain(group(4))
})

test('of a control plane of a release that kept no account everything counts as written', async () => {
  await withOneWidget()
  const { env, tenant, storage } = plane.server
  const row = { tenant: tenant.uid, shard: 'control', prefix: 'writtenshards.kedge' }
  const { revision, text } = (await storage.get(row, 'control'))!
  await storage.delete(row, 'control', { text, at: 0, uid: 'gone' }, revision)
  const entries = writtenEntries(env, tenant, await freshControlSnapshot(plane.server))
  expect(entries.filter(({ resource }) => resource === 'widgets')).toHaveLength(COUNT)
})
