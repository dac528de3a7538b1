import { beforeEach, describe, expect, test } from 'vitest'
import type { ConfigMap, Pod, ResourceQuota } from '../../../src/api/core/v1.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import type { ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const PODS = typedResource<Pod>('', 'pods')
const CONFIG_MAPS = typedResource<ConfigMap>('', 'configmaps')
const QUOTAS = typedResource<ResourceQuota>('', 'resourcequotas')

let plane: ControlPlaneInMemory
let clients: Clientset
let pods: ResourceClient<Pod>
let configMaps: ResourceClient<ConfigMap>

beforeEach(async () => {
  plane = new ControlPlaneInMemory()
  clients = clientsetFor(await plane.context(), 'replicaset-controller')
  pods = clients.resource(PODS, 'default')
  configMaps = clients.resource(CONFIG_MAPS, 'default')
})

const pod = (name = 'web'): Pod => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'nginx' }] },
})
const configMap = (data: Record<string, string>): ConfigMap => ({ metadata: { name: 'a' }, data })

test('a created object has defaults, what admission adds, and fields that are owned', async () => {
  const created = await pods.create(pod())
  expect(created).toMatchObject({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { namespace: 'default', managedFields: [{ manager: 'kube-controller-manager', operation: 'Update' }] },
    spec: { restartPolicy: 'Always', enableServiceLinks: true, serviceAccountName: 'default', priority: 0 },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })
  expect(await pods.get('web')).toEqual(created)
})

test('generateName gives a name of its own to each', async () => {
  const generated = { ...pod(), metadata: { generateName: 'web-' } }
  const names = [(await pods.create(generated)).metadata.name, (await pods.create(generated)).metadata.name]
  expect(names).toEqual([expect.stringMatching(/^web-.{5}$/), expect.stringMatching(/^web-.{5}$/)])
  expect(new Set(names).size).toBe(2)
})

test('create leaves its argument unchanged', async () => {
  const given = pod()
  await pods.create(given)
  expect(given).toEqual(pod())
})

test('an invalid object is refused as to any client', async () => {
  await expect(pods.create({ metadata: { name: 'web' }, spec: { containers: [] } })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.containers: Required value'),
  })
})

test('quota counts what a controller creates, and gives back what could not be written', async () => {
  const quotas = clients.resource(QUOTAS, 'default')
  await quotas.create({ metadata: { name: 'q' }, spec: { hard: { pods: '1' } } })
  await plane.settle()
  await pods.create(pod('one'))
  await expect(pods.create(pod('two'))).rejects.toMatchObject({ code: 403, status: { reason: 'Forbidden' } })
  await expect(pods.create(pod('one'))).rejects.toMatchObject({ code: 403 })
  expect((await quotas.get('q'))?.status?.used).toEqual({ pods: '1' })
})

test('a list is selected by labels, by fields, and by owner', async () => {
  const owner = await configMaps.create(configMap({}))
  const { uid = '' } = owner.metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid }]
  await pods.create({ ...pod('owned'), metadata: { name: 'owned', ownerReferences } })
  await pods.create(pod('labelled'))
  const names = async (options: Parameters<typeof pods.list>[0]) =>
    (await pods.list(options)).map(({ metadata }) => metadata.name)
  expect(await names({ labelSelector: 'app=web' })).toEqual(['labelled'])
  expect(await names({ fieldSelector: 'metadata.name=owned' })).toEqual(['owned'])
  expect(await names({ labels: { app: 'web' }, fields: { 'metadata.name': 'labelled' } })).toEqual(['labelled'])
  expect(await names({ fields: { 'metadata.name': 'a,metadata.name!=b' } })).toEqual([])
  expect(await names({ owner: uid })).toEqual(['owned'])
  expect(await names({ fieldSelector: 'spec.nodeName=' })).toEqual(['labelled', 'owned'])
})

test('an update of an older version is a conflict', async () => {
  const first = await configMaps.create(configMap({ a: '1' }))
  await configMaps.update({ ...first, data: { a: '2' } })
  await expect(configMaps.update({ ...first, data: { a: '3' } })).rejects.toMatchObject({
    code: 409,
    status: { reason: 'Conflict' },
  })
  expect((await configMaps.get('a'))?.data).toEqual({ a: '2' })
})

test('an update with retries runs again when somebody was faster', async () => {
  await configMaps.create(configMap({ count: '0' }))
  const increment = (object: ConfigMap) => {
    object.data = { count: String(Number(object.data?.['count']) + 1) }
  }
  await Promise.all([1, 2, 3].map(() => configMaps.updateWithRetries(named('a'), increment)))
  expect((await configMaps.get('a'))?.data).toEqual({ count: '3' })
})

test('an update with retries that changes nothing writes nothing; of what is not there it is refused', async () => {
  const created = await configMaps.create(configMap({ a: '1' }))
  expect(await configMaps.updateWithRetries(named('a'), () => {})).toEqual(created)
  await expect(configMaps.updateWithRetries(named('b'), () => {})).rejects.toMatchObject({ code: 404 })
})

const data = { a: '3' }
const MERGE = 'application/merge-patch+json'

function atAnyVersion({ metadata: { resourceVersion: _, ...metadata }, ...object }: ConfigMap): ConfigMap {
  return { ...object, metadata }
}

describe.each<[string, number, (judged: ConfigMap) => Promise<unknown>]>([
  ['PUT', 409, (judged) => configMaps.update({ ...judged, data })],
  ['PUT of any version', 409, (judged) => configMaps.update({ ...atAnyVersion(judged), data })],
  ['update', 404, (judged) => configMaps.updateWithRetries(judged, (object) => void (object.data = data))],
  ['patch', 404, (judged) => configMaps.patch(judged, MERGE, { data })],
  ['apply', 404, (judged) => configMaps.apply(judged, { kind: 'ConfigMap', apiVersion: 'v1', data })],
  ['delete', 409, (judged) => configMaps.delete(judged)],
  ['delete of the collection', 409, (judged) => configMaps.deleteCollection([judged])],
])('what was judged of one object: %s', (_verb, code, write) => {
  test('does nothing to another of its name', async () => {
    const judged = await configMaps.create(configMap({ a: '1' }))
    await configMaps.delete(judged)
    const other = await configMaps.create(configMap({ a: '2' }))
    await expect(write(judged)).rejects.toMatchObject({ code })
    expect(await configMaps.get('a')).toEqual(other)
  })

  test('makes no object where it is gone', async () => {
    const judged = await configMaps.create(configMap({ a: '1' }))
    await configMaps.delete(judged)
    await write(judged).catch((error: unknown) =>
      expect(error).toMatchObject({ code: expect.toBeOneOf([404, 409]) as number }),
    )
    expect(await configMaps.get('a')).toBeUndefined()
  })

  test('is done to the object itself, and to none that was not read', async () => {
    const judged = await configMaps.create(configMap({ a: '1' }))
    await expect((async () => write(configMap({ a: '1' })))()).rejects.toThrow('a was not read before it is written')
    expect(await configMaps.get('a')).toEqual(judged)
    await write(judged)
    expect(await configMaps.get('a')).not.toEqual(judged)
  })
})

test('a status is written apart from the spec, and owned as such', async () => {
  await pods.create(pod())
  const written = await pods.updateStatusWithRetries(named('web'), (object) => {
    object.status = { ...object.status, phase: 'Running' }
    object.spec!.nodeName = 'ignored'
  })
  expect(written.status?.phase).toBe('Running')
  expect(written.spec?.nodeName).toBeUndefined()
  expect(written.metadata.managedFields?.map(({ subresource = '' }) => subresource)).toEqual(['', 'status'])
  const again = await pods.updateStatus({ ...written, status: { ...written.status, phase: 'Succeeded' } })
  expect(again.status?.phase).toBe('Succeeded')
})

test.each([
  ['application/merge-patch+json', { metadata: { labels: { app: null, tier: 'front' } } }],
  ['application/strategic-merge-patch+json', { metadata: { labels: { app: null, tier: 'front' } } }],
  ['application/json-patch+json', [{ op: 'replace', path: '/metadata/labels', value: { tier: 'front' } }]],
] as const)('a patch of type %s', async (type, body) => {
  await pods.create(pod())
  expect((await pods.patch(named('web'), type, body)).metadata.labels).toEqual({ tier: 'front' })
})

test('apply makes what is not there, and takes over what others own', async () => {
  const config = (data: Record<string, string>) => ({ kind: 'ConfigMap', apiVersion: 'v1', data })
  expect((await configMaps.apply(named('a'), config({ a: '1' }))).data).toEqual({ a: '1' })
  const applied = await configMaps.apply(named('a'), config({ a: '2' }), { fieldManager: 'another' })
  expect(applied.data).toEqual({ a: '2' })
  expect(applied.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
    ['another', 'Apply'],
  ])
})

test('a delete of a version removes no later one', async () => {
  const first = await configMaps.create(configMap({}))
  const { resourceVersion = '' } = await configMaps.update({ ...first, data }).then(({ metadata }) => metadata)
  const old = { resourceVersion: first.metadata.resourceVersion ?? '' }
  await expect(configMaps.delete(first, old)).rejects.toMatchObject({ code: 409 })
  expect(await configMaps.delete(first, { resourceVersion })).toMatchObject({ gone: true })
})

test('a delete without a look removes the present object, and nothing else', async () => {
  const known = await configMaps.create({ ...configMap({ a: '1' }), metadata: { name: 'a', finalizers: ['e.com/f'] } })
  await configMaps.updateWithRetries(named('a'), (object) => void (object.data = { a: '2' }))
  await configMaps.delete(known, {}, known)
  const marked = await configMaps.get('a')
  expect(marked).toMatchObject({ data: { a: '2' }, metadata: { deletionTimestamp: expect.any(String) } })
  await configMaps.updateWithRetries(named('a'), ({ metadata }) => void delete metadata.finalizers)
  await configMaps.create(configMap({}))
  await expect(configMaps.delete(known, {}, known)).rejects.toMatchObject({ code: 409 })
  await configMaps.delete(named('a'))
  await expect(configMaps.delete(known, {}, known)).rejects.toMatchObject({ code: 404 })
})

test('what is added or put without looking is stored, and what is shared is frozen', async () => {
  await pods.add(pod('added'))
  const created = await pods.create(pod('shared'), true)
  expect(created.metadata).toMatchObject({ name: 'shared', resourceVersion: expect.any(String) })
  expect(Object.isFrozen(created.spec)).toBe(true)
  await pods.putStatus({ ...created, status: { ...created.status, phase: 'Running' } }, created)
  const phases = (await pods.list()).map(({ metadata, status }) => [metadata.name, status?.phase])
  expect(phases).toEqual([
    ['added', 'Pending'],
    ['shared', 'Running'],
  ])
})

test('a write brings work for the controllers', async () => {
  await pods.create(pod())
  await pods.delete(named('web'), { gracePeriodSeconds: 0 })
  // it is marked first: quotas count a pod until its grace period is over
  expect(plane.waiting.map((work) => work.split(' ')[0])).toEqual(['resource-quota', 'departed'])
})

test('a resource that is not served has no client', async () => {
  const unknown = typedResource('example.com', 'widgets')
  expect(() => clients.resource(unknown)).toThrow('widgets.example.com is not served')
  expect(await clients.ifServed(unknown)).toBeUndefined()
})
