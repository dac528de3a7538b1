import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../../../src/admission/attributes.ts'
import { resourceQuota as resourceQuotaWith } from '../../../../src/admission/plugins/quota/resource-quota.ts'
import type { ResourceQuota } from '../../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import { withoutAdmission } from '../../../../src/registry/write/admission.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import type { StorageErrorCode } from '../../../../src/storage/errors.ts'
import { storedObjects } from '../../../../src/tenancy/stored-objects.ts'
import type { MemoryServer } from '../../../request-in-memory.ts'
import { memoryServer } from '../../../request-in-memory.ts'

const resourceQuota = resourceQuotaWith(withoutAdmission)

const QUOTAS = { group: '', resource: 'resourcequotas' }

async function serverWith(...quotas: { name: string; hard: Record<string, string>; used?: Record<string, string> }[]) {
  const server = memoryServer()
  await server.put('', 'namespaces', { metadata: { name: 'blue' } })
  for (const { name, hard, used = Object.fromEntries(Object.keys(hard).map((one) => [one, '0'])) } of quotas) {
    const metadata = { name, namespace: 'blue', creationTimestamp: '2026-01-01T00:00:00Z' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard }, status: { hard, used } }
    await server.put('', 'resourcequotas', quota)
  }
  return server
}

const usedIn = async (server: MemoryServer) =>
  Object.fromEntries(
    (await storedObjects<ResourceQuota>(server.request('/'), QUOTAS, 'blue')).map(({ metadata, status }) => [
      metadata.name,
      status?.used,
    ]),
  )

const configMap = (name: string, more: Partial<Attributes> = {}): Partial<Attributes> => ({
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  object: { metadata: { name, namespace: 'blue' } },
  name,
  ...more,
})

function ask(server: MemoryServer, more: Partial<Attributes>, request = server.request('/')) {
  // the plugin reads no other attributes
  const attributes = {
    operation: 'CREATE',
    subresource: '',
    namespace: 'blue',
    dryRun: false,
    ...more,
    request,
  } as Attributes
  return resourceQuota.handles(attributes) ? Promise.resolve(resourceQuota.validate?.(attributes)) : undefined
}

const REFUSED =
  'configmaps "a" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1'

describe('a create', () => {
  test('is charged before it is done, and what fails gives it back', async () => {
    const server = await serverWith({ name: 'q', hard: { configmaps: '1' } })
    const undo = await ask(server, configMap('a'))
    expect(await usedIn(server)).toEqual({ q: { configmaps: '1' } })
    await expect(ask(server, configMap('a'))).rejects.toThrow(REFUSED)
    await undo?.()
    expect(await usedIn(server)).toEqual({ q: { configmaps: '0' } })
  })

  test('that began before the quota, and takes long, is charged', async () => {
    const server = await serverWith()
    await server.put('', 'namespaces', { metadata: { name: 'red' } })
    const metadata = { name: 'other', namespace: 'red' }
    await server.put('', 'resourcequotas', { apiVersion: 'v1', kind: 'ResourceQuota', metadata })
    const slow = server.request('/')
    const later = (seconds: number) => void (server.now = new Date(server.now.getTime() + seconds * 1000))
    later(30)
    // this isolate finds no quota in the namespace
    expect(await ask(server, configMap('b'))).toBeUndefined()
    const status = { hard: { configmaps: '0' }, used: { configmaps: '0' } }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'blue' } }
    await server.put('', 'resourcequotas', { ...quota, spec: { hard: status.hard }, status })
    later(2)
    await expect(ask(server, configMap('a'), slow)).rejects.toThrow('exceeded quota: q')
  })

  test('of many at once never exceeds', async () => {
    const server = await serverWith({ name: 'q', hard: { configmaps: '7' } })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => ask(server, configMap(`c${index}`))),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toContain('exceeded quota: q')
    expect(await usedIn(server)).toEqual({ q: { configmaps: '7' } })
  })

  test('that one quota refuses is charged to none', async () => {
    const server = await serverWith({ name: 'p', hard: { configmaps: '5' } }, { name: 'q', hard: { configmaps: '0' } })
    await expect(ask(server, configMap('a'))).rejects.toThrow('exceeded quota: q')
    expect(await usedIn(server)).toEqual({ p: { configmaps: '0' }, q: { configmaps: '0' } })
  })

  test('that cannot be charged says why, also where the charges before it cannot be given back', async () => {
    const hard = { configmaps: '5' }
    const server = await serverWith({ name: 'p', hard }, { name: 'q', hard })
    const { update } = server.storage
    const answers: StorageErrorCode[] = ['TooLarge', 'Full']
    let updates = 0
    Object.assign(server.storage, {
      update: (...write: Parameters<typeof update>) =>
        updates++ === 0 ? update(...write) : Promise.reject(new StorageError(answers.shift() ?? 'Conflict')),
    })
    await expect(ask(server, configMap('a'))).rejects.toMatchObject({ code: 413 })
    expect(answers).toEqual([])
  })

  test('that is a dry run is judged and not charged', async () => {
    const server = await serverWith({ name: 'q', hard: { configmaps: '1' } })
    expect(await ask(server, configMap('a', { dryRun: true }))).toBeUndefined()
    expect(await usedIn(server)).toEqual({ q: { configmaps: '0' } })
  })

  test('in a namespace without quota, and of what is cluster-wide, is free', async () => {
    const server = await serverWith({ name: 'q', hard: { configmaps: '0' } })
    expect(await ask(server, configMap('a', { namespace: 'green' }))).toBeUndefined()
    expect(ask(server, configMap('a', { namespace: '' }))).toBeUndefined()
  })

  test('of an object without a name is reported with its generateName', async () => {
    const server = await serverWith({ name: 'q', hard: { configmaps: '0' } })
    const object: KubeObject = { metadata: { generateName: 'g-' } }
    await expect(ask(server, configMap('', { object }))).rejects.toThrow('configmaps "g-" is forbidden')
  })
})

test('a quota of this isolate counts at once, and later', async () => {
  const server = await serverWith()
  expect(await ask(server, configMap('a'))).toBeUndefined()
  const resource = { group: '', version: 'v1', resource: 'resourcequotas' }
  await ask(server, { resource, object: { metadata: { name: 'q', namespace: 'blue' } }, name: 'q' })
  // a read between admission and the write finds nothing, and the cache must not keep that
  expect(await ask(server, configMap('a'))).toBeUndefined()
  const metadata = { name: 'q', namespace: 'blue' }
  const [hard, used] = [{ configmaps: '0' }, { configmaps: '0' }]
  await server.put('', 'resourcequotas', { metadata, spec: { hard }, status: { hard, used } })
  for (const later of [0, 900, 1100, 5000]) {
    server.now = new Date(server.now.getTime() + later)
    await expect(ask(server, configMap('a'))).rejects.toThrow('exceeded quota: q')
  }
})

test('a quota of another isolate counts within a second', async () => {
  const server = await serverWith({ name: 'other', hard: { secrets: '0' } })
  expect(await ask(server, configMap('a', { namespace: 'green' }))).toBeUndefined()
  const metadata = { name: 'q', namespace: 'green' }
  const [hard, used] = [{ configmaps: '0' }, { configmaps: '0' }]
  await server.put('', 'resourcequotas', { metadata, spec: { hard }, status: { hard, used } })
  server.now = new Date(server.now.getTime() + 1000)
  await expect(ask(server, configMap('a', { namespace: 'green' }))).rejects.toThrow('exceeded quota: q')
})

describe('a quota whose status says nothing of a write', () => {
  const metadata = { name: 'q', namespace: 'blue', creationTimestamp: '2026-01-01T00:00:00Z' }
  const spec = { hard: { configmaps: '2', secrets: '5' } }
  type Status = Record<string, Record<string, string>>
  const statuses: [string, Status | undefined][] = [
    ['of an earlier release', undefined],
    ['that a client emptied', {}],
    ['that knows other resources', { hard: { secrets: '5' }, used: { secrets: '4' } }],
    ['that has limits only', { hard: { configmaps: '2' } }],
    ['that has usage only', { used: { secrets: '0' } }],
  ]
  async function serverOf(status: Status | undefined) {
    const server = memoryServer()
    await server.put('', 'namespaces', { metadata: { name: 'blue' } })
    await server.put('', 'configmaps', { metadata: { name: 'there', namespace: 'blue' } })
    await server.put('', 'configmaps', { metadata: { name: 'elsewhere', namespace: 'green' } })
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec, ...(status && { status }) }
    await server.put('', 'resourcequotas', quota)
    return server
  }
  const refused = 'exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2'

  test.each(statuses)('%s holds: what is there is counted first', async (_, status) => {
    const server = await serverOf(status)
    await ask(server, configMap('a'))
    expect((await usedIn(server))['q']).toEqual({ ...status?.['used'], configmaps: '2' })
    await expect(ask(server, configMap('b'))).rejects.toThrow(refused)
  })

  test.each(statuses)('%s is judged by a dry run, and not written', async (_, status) => {
    const server = await serverOf(status)
    await server.put('', 'configmaps', { metadata: { name: 'too', namespace: 'blue' } })
    await expect(ask(server, configMap('b', { dryRun: true }))).rejects.toThrow(refused)
    expect((await usedIn(server))['q']).toEqual(status?.['used'])
  })

  test('of many creators at once lets no more through', async () => {
    const server = await serverOf(undefined)
    const asked = Array.from({ length: 20 }, (_, n) => ask(server, configMap(`c${n}`)))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('counts any resource where it is kept', async () => {
    const server = memoryServer()
    await server.put('', 'namespaces', { metadata: { name: 'blue' } })
    const hard = { 'count/leases.coordination.k8s.io': '1' }
    await server.put('', 'resourcequotas', { metadata, spec: { hard } })
    await server.put('coordination.k8s.io', 'leases', { metadata: { name: 'one', namespace: 'blue' } })
    const resource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
    await expect(ask(server, configMap('two', { resource }))).rejects.toThrow(
      'used: count/leases.coordination.k8s.io=1',
    )
  })
})

describe('devices of a class that stands for an extended resource', () => {
  const HARD = { 'requests.example.com/gpu': '3', 'requests.deviceclass.resource.kubernetes.io/gpus': '4' }
  const claim = (name: string, count: number, metadata: object = {}): Partial<Attributes> => ({
    resource: { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' },
    kind: { group: 'resource.k8s.io', version: 'v1', kind: 'ResourceClaim' },
    name,
    object: {
      metadata: { name, namespace: 'blue', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
      spec: {
        devices: {
          requests: [{ name: 'r', exactly: { deviceClassName: 'gpus', allocationMode: 'ExactCount', count } }],
        },
      },
    } as unknown as KubeObject, // all that is read of it
  })
  const annotations = { 'resource.kubernetes.io/extended-resource-claim': 'true' }
  const ownedBy = (name: string) => ({
    annotations,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: `uid-${name}`, controller: true }],
  })

  async function start(
    used = { 'requests.example.com/gpu': '0', 'requests.deviceclass.resource.kubernetes.io/gpus': '0' },
  ) {
    const server = await serverWith({ name: 'q', hard: HARD, used })
    await server.put('resource.k8s.io', 'deviceclasses', {
      metadata: { name: 'gpus' },
      spec: { extendedResourceName: 'example.com/gpu' },
    })
    const resources = { requests: { 'example.com/gpu': '2' }, limits: { 'example.com/gpu': '2' } }
    await server.put('', 'pods', {
      metadata: { name: 'web', namespace: 'blue', uid: 'uid-web' },
      spec: { containers: [{ name: 'c', resources }] },
    })
    return server
  }

  test('are charged under both names of the class', async () => {
    const server = await start()
    await ask(server, claim('a', 2))
    expect(await usedIn(server)).toEqual({
      q: { 'requests.deviceclass.resource.kubernetes.io/gpus': '2', 'requests.example.com/gpu': '2' },
    })
    await expect(ask(server, claim('b', 2))).rejects.toThrow(
      'resourceclaims.resource.k8s.io "b" is forbidden: exceeded quota: q, requested: requests.example.com/gpu=2, used: requests.example.com/gpu=2, limited: requests.example.com/gpu=3',
    )
  })

  test('are not charged again where the pod was, whose they are', async () => {
    const server = await start({
      'requests.example.com/gpu': '2',
      'requests.deviceclass.resource.kubernetes.io/gpus': '0',
    })
    await ask(server, claim('web-x', 2, ownedBy('web')))
    expect(await usedIn(server)).toEqual({
      q: { 'requests.deviceclass.resource.kubernetes.io/gpus': '2', 'requests.example.com/gpu': '2' },
    })
  })

  test.each<[string, object]>([
    [
      'of a pod that is another one now',
      { ...ownedBy('web'), ownerReferences: [{ ...ownedBy('web').ownerReferences[0], uid: 'before' }] },
    ],
    ['of a pod that is not there', ownedBy('other')],
    ['that no scheduler made', { ...ownedBy('web'), annotations: {} }],
  ])('are charged for a claim %s', async (_, metadata) => {
    const server = await start({
      'requests.example.com/gpu': '2',
      'requests.deviceclass.resource.kubernetes.io/gpus': '0',
    })
    await expect(ask(server, claim('web-x', 2, metadata))).rejects.toThrow('exceeded quota: q')
  })

  test('of a second claim for one pod are charged', async () => {
    const server = await start({
      'requests.example.com/gpu': '2',
      'requests.deviceclass.resource.kubernetes.io/gpus': '0',
    })
    const first = claim('first', 2, ownedBy('web')).object as never
    await server.put('resource.k8s.io', 'resourceclaims', first)
    await expect(ask(server, claim('second', 2, ownedBy('web')))).rejects.toThrow('exceeded quota: q')
  })

  test('count for nothing where no class has the name', async () => {
    const server = await serverWith({ name: 'q', hard: { 'requests.example.com/nic': '1' } })
    await ask(server, claim('a', 5))
    expect(await usedIn(server)).toEqual({ q: { 'requests.example.com/nic': '0' } })
  })

  test('of claims and of pods are one sum where the quota is new', async () => {
    const server = await start({} as never)
    const stored = claim('there', 1).object as never
    await server.put('resource.k8s.io', 'resourceclaims', stored)
    await expect(ask(server, claim('a', 1))).rejects.toThrow('used: requests.example.com/gpu=3, limited')
  })
})
