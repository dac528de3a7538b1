// A definition is a database, and a control plane may have a thousand: nobody who walks over all of them opens those that
// were never written to.
import { beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { crdFinalizerController } from '../../src/controllers/crd-finalizer.ts'
import { serveBackup } from '../../src/endpoints/backup.ts'
import { serveRestore } from '../../src/endpoints/restore.ts'
import { DEFINITIONS } from '../../src/registry/custom-resources/definition.ts'
import { writtenEntries } from '../../src/registry/written-types.ts'
import { WRITTEN_SHARDS } from '../../src/storage/written-shards.ts'
import { freshControlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import { ControlPlaneInMemory } from '../controllers/control-plane.ts'

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
  vi.stubGlobal('IdentityTransformStream', TransformStream) // the engine's own
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

/** Of everything that was written before this. */
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
    await definitions.update(name, ({ metadata }) => {
      metadata.finalizers = ['customresourcecleanup.apiextensions.k8s.io']
    })
    await plane.delete(DEFINITIONS, '', name)
    const context = await plane.context()
    await crdFinalizerController.reconcile(name, context)
  }
  expect(await plane.names(DEFINITIONS)).toEqual([])
  expect(custom()).toEqual([`widgets.${group(3)}`])
})

test('a backup holds what was written, and opens nothing else', async () => {
  await withOneWidget()
  const lines = (await backup()).trim().split('\n')
  expect(lines.filter((line) => line.includes('"name":"w"'))).toHaveLength(1)
  expect(custom()).toEqual([`widgets.${group(3)}`])
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
