import { platformClock } from '../../src/base/clock.ts'
import { describe, expect, test, vi } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { ensureBootstrapped, restoreServerObjects, writeEdition } from '../../src/bootstrap/ensure-bootstrapped.ts'
import { parseStored } from '../../src/json/parse-json.ts'
import { withoutAdmission } from '../../src/registry/write/admission.ts'
import type { Env } from '../../src/env.ts'
import { CONTROL_SHARD, collectionOf } from '../../src/storage/collections.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { OutboxMessage, Storage } from '../../src/storage/storage.ts'
import { SnapshotData } from '../../src/tenancy/control-snapshot.ts'
import { authorityBit, CN, makeCertificate } from '../x509/make-certificate.ts'

const tenant = { uid: 't' }
const now = new Date('2026-05-01T10:00:00Z')
// the code under test reads only settings
const authority = await makeCertificate(new Date(), { subject: [[CN, 'kubernetes']], extensions: [authorityBit()] })
// the tests pass storage as an argument
const env = { KEDGE_ADVERTISE: '192.0.2.1:6443', KEDGE_CA: authority.pem, SHARDS: {} } as unknown as Env

const snapshotOf = async (storage: Storage) =>
  SnapshotData.empty.with(await storage.changes({ tenant: 't', shard: CONTROL_SHARD }))

async function read(storage: Storage, group: string, resource: string, key: string): Promise<KubeObject | undefined> {
  const stored = await storage.get(collectionOf(tenant, { group, resource }), key)
  return stored && (parseStored(stored.text) as unknown as KubeObject)
}

test('a fresh control plane has namespaces, roles, flow control, services and who wrote them', async () => {
  const storage = memoryStorage(platformClock)
  expect(await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)).toBe(true)
  const snapshot = await snapshotOf(storage)
  expect(snapshot.list({ group: '', resource: 'namespaces' }).map(({ metadata }) => metadata.name)).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ])
  const count = (group: string, resource: string) => snapshot.list({ group, resource }).length
  expect(count('rbac.authorization.k8s.io', 'clusterroles')).toBe(69)
  expect(count('rbac.authorization.k8s.io', 'clusterrolebindings')).toBe(50)
  expect(count('flowcontrol.apiserver.k8s.io', 'flowschemas')).toBe(11)
  expect(count('apiregistration.k8s.io', 'apiservices')).toBe(21)
  const view = snapshot.get({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }, 'view')
  expect(view?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
    ['clusterrole-aggregation-controller', 'Apply'],
    ['kube-apiserver', 'Update'],
  ])
  expect(await read(storage, '', 'services', 'default/kubernetes')).toMatchObject({ spec: { clusterIP: '10.96.0.1' } })
  expect(await read(storage, '', 'endpoints', 'default/kubernetes')).toMatchObject({
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 6443 }] }],
  })
})

test('the first Service has the first address of the first range, of any family', async () => {
  const storage = memoryStorage(platformClock)
  const settings = { KEDGE_SERVICE_RANGE: 'fd00:10:96::/112,10.96.0.0/16', KEDGE_ADVERTISE: '[2001:db8::1]:6443' }
  await ensureBootstrapped({ env: { ...env, ...settings }, tenant, storage, now }, SnapshotData.empty)
  expect(await read(storage, '', 'services', 'default/kubernetes')).toMatchObject({
    spec: { clusterIP: 'fd00:10:96::1', clusterIPs: ['fd00:10:96::1'], ipFamilies: ['IPv6'] },
  })
  expect(await read(storage, 'networking.k8s.io', 'ipaddresses', 'fd00:10:96::1')).toMatchObject({
    metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv6' } },
  })
  expect(await read(storage, '', 'endpoints', 'default/kubernetes')).toMatchObject({
    subsets: [{ addresses: [{ ip: '2001:db8::1' }], ports: [{ port: 6443 }] }],
  })
  expect(await read(storage, 'discovery.k8s.io', 'endpointslices', 'default/kubernetes')).toMatchObject({
    addressType: 'IPv6',
    endpoints: [{ addresses: ['2001:db8::1'] }],
  })
})

test('once marked nothing is written again; what an administrator deleted stays away', async () => {
  const storage = memoryStorage(platformClock)
  await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
  expect(await ensureBootstrapped({ env, tenant, storage, now }, await snapshotOf(storage))).toBe(false)
})

test('what the server needs comes back, as another object; a role that was deleted does not', async () => {
  const storage = memoryStorage(platformClock)
  await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
  const service = [collectionOf(tenant, { group: '', resource: 'services' }), 'default/kubernetes'] as const
  const role = [collectionOf(tenant, { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }), 'view'] as const
  const before = await read(storage, '', 'services', 'default/kubernetes')
  const last = { text: '{"metadata":{"resourceVersion":""}}', at: 32, uid: 'x' }
  for (const [collection, key] of [service, role])
    await storage.delete(collection, key, last, (await storage.get(collection, key))!.revision)
  expect(await restoreServerObjects({ env, tenant, storage, now }, withoutAdmission)).toEqual([])
  const after = await read(storage, '', 'services', 'default/kubernetes')
  expect(after).toMatchObject({ spec: { clusterIP: '10.96.0.1' } })
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid)
  expect(await storage.get(...role)).toBeUndefined()
})

test('cut short, it is finished by the next request and keeps what is there', async () => {
  const storage = memoryStorage(platformClock)
  let calls = 0
  const failing: Storage = {
    ...storage,
    async createMissing(shard, values) {
      if (++calls > 4) throw new Error('the engine ended')
      return storage.createMissing(shard, values)
    },
  }
  await expect(ensureBootstrapped({ env, tenant, storage: failing, now }, SnapshotData.empty)).rejects.toThrow()
  const before = await read(storage, '', 'serviceaccounts', 'default/default')
  await ensureBootstrapped({ env, tenant, storage, now }, await snapshotOf(storage))
  expect((await snapshotOf(storage)).list({ group: '', resource: 'namespaces' })).toHaveLength(4)
  expect(await read(storage, '', 'serviceaccounts', 'default/default')).toEqual(before)
})

const outboxOf = (storage: Storage): { readonly storage: Storage; readonly work: OutboxMessage[] } => {
  const work: OutboxMessage[] = []
  return {
    work,
    storage: {
      ...storage,
      update(collection, key, value, expected) {
        work.push(...(value.outbox ?? []))
        return storage.update(collection, key, value, expected)
      },
    },
  }
}

describe('with another address', () => {
  const moved = { ...env, KEDGE_ADVERTISE: '192.0.2.9:443' }

  test('the mark brings work for a controller, once, and requests write no objects', async () => {
    const memory = memoryStorage(platformClock)
    await ensureBootstrapped({ env, tenant, storage: memory, now }, SnapshotData.empty)
    const before = await read(memory, '', 'endpoints', 'default/kubernetes')
    const { storage, work } = outboxOf(memory)
    expect(await ensureBootstrapped({ env: moved, tenant, storage, now }, await snapshotOf(storage))).toBe(true)
    expect(work).toEqual([{ topic: 'server-edition', payload: '' }])
    expect(await read(storage, '', 'endpoints', 'default/kubernetes')).toEqual(before)
    expect(await ensureBootstrapped({ env: moved, tenant, storage, now }, await snapshotOf(storage))).toBe(false)
    expect(work).toHaveLength(1)
  })

  test('the endpoints follow and stay the same object', async () => {
    const storage = memoryStorage(platformClock)
    await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
    const before = await read(storage, '', 'endpoints', 'default/kubernetes')
    const plane = { env: moved, tenant, storage, now }
    expect(await writeEdition(plane, await snapshotOf(storage), withoutAdmission)).toEqual([])
    const after = await read(storage, '', 'endpoints', 'default/kubernetes')
    expect(after).toMatchObject({ subsets: [{ addresses: [{ ip: '192.0.2.9' }] }] })
    expect(after?.metadata.uid).toBe(before?.metadata.uid)
  })

  test('what follows keeps labels and finalizers, and counts its generation', async () => {
    const storage = memoryStorage(platformClock)
    await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
    const slices = ['discovery.k8s.io', 'endpointslices', 'default/kubernetes'] as const
    await change(storage, ...slices, (metadata) => ({ ...metadata, labels: { ...metadata.labels, mine: 'yes' } }))
    await writeEdition({ env: moved, tenant, storage, now }, await snapshotOf(storage), withoutAdmission)
    expect(await read(storage, ...slices)).toMatchObject({
      metadata: { generation: 2, labels: { 'kubernetes.io/service-name': 'kubernetes', mine: 'yes' } },
      endpoints: [{ addresses: ['192.0.2.9'] }],
    })
  })

  test('Service kubernetes stays as users have it', async () => {
    const storage = memoryStorage(platformClock)
    await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
    const before = await read(storage, '', 'services', 'default/kubernetes')
    const other = { ...env, KEDGE_ADVERTISE: '192.0.2.9:7443' }
    await writeEdition({ env: other, tenant, storage, now }, await snapshotOf(storage), withoutAdmission)
    expect(await read(storage, '', 'services', 'default/kubernetes')).toEqual(before)
  })
})

describe('with other ranges of Services', () => {
  const RANGES = ['networking.k8s.io', 'servicecidrs', 'kubernetes'] as const
  const moved = async (from: string, to: string) => {
    const storage = memoryStorage(platformClock)
    await ensureBootstrapped({ env: { ...env, KEDGE_SERVICE_RANGE: from }, tenant, storage, now }, SnapshotData.empty)
    await change(storage, ...RANGES, (metadata) => ({ ...metadata, finalizers: ['example.com/kept'] }))
    const before = await read(storage, ...RANGES)
    const plane = { env: { ...env, KEDGE_SERVICE_RANGE: to }, tenant, storage, now: new Date(now.getTime() + 5_000) }
    expect(await writeEdition(plane, await snapshotOf(storage), withoutAdmission)).toEqual([])
    return { storage, plane, before, after: await read(storage, ...RANGES) }
  }

  test('deleted, ServiceCIDR and Service come back with the new ones', async () => {
    const { storage, plane } = await moved('10.96.0.0/16', '10.97.0.0/16')
    const last = { text: '{"metadata":{"resourceVersion":""}}', at: 32, uid: 'x' }
    for (const [group, resource, key] of [RANGES, ['', 'services', 'default/kubernetes'] as const]) {
      const collection = collectionOf(tenant, { group, resource })
      await storage.delete(collection, key, last, (await storage.get(collection, key))!.revision)
    }
    expect(await restoreServerObjects(plane, withoutAdmission)).toEqual([])
    expect(await read(storage, ...RANGES)).toMatchObject({ spec: { cidrs: ['10.97.0.0/16'] } })
    expect(await read(storage, '', 'services', 'default/kubernetes')).toMatchObject({
      spec: { clusterIP: '10.97.0.1', clusterIPs: ['10.97.0.1'] },
    })
    expect(await read(storage, 'networking.k8s.io', 'ipaddresses', '10.97.0.1')).toBeDefined()
  })

  test('a second family is added to the first range', async () => {
    const { before, after } = await moved('10.96.0.0/16', '10.96.0.0/16,fd00:10:96::/112')
    expect(after).toMatchObject({ spec: { cidrs: ['10.96.0.0/16', 'fd00:10:96::/112'] } })
    expect((after as { status?: unknown }).status).toEqual((before as { status?: unknown }).status)
    expect(after?.metadata).toMatchObject({ uid: before?.metadata.uid, finalizers: ['example.com/kept'] })
    expect(after?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['kubernetes-service-cidr-controller', 'Apply'],
      ['kube-apiserver', 'Update'],
    ])
  })

  test.each([
    ['10.96.0.0/16', '10.97.0.0/16'],
    ['10.96.0.0/16', 'fd00:10:96::/112,10.96.0.0/16'],
    ['10.96.0.0/16', '10.97.0.0/16,fd00:10:96::/112'],
    ['10.96.0.0/16,fd00:10:96::/112', '10.96.0.0/16'],
    ['10.96.0.0/16,fd00:10:96::/112', '10.96.0.0/16,fd00:10:97::/112'],
  ])('from %s to %s nothing changes: an administrator moves the Services first', async (from, to) => {
    const { storage, before, after } = await moved(from, to)
    expect(after).toEqual(before)
    expect(await read(storage, '', 'services', 'default/kubernetes')).toMatchObject({
      spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'] },
    })
    const first = (address: string) => read(storage, 'networking.k8s.io', 'ipaddresses', address)
    expect(await first('10.96.0.1')).toBeDefined()
    expect(await first(to.startsWith('fd') ? 'fd00:10:96::1' : '10.97.0.1')).toBeUndefined()
  })
})

/** Another user's write of the metadata. */
async function change(
  storage: Storage,
  group: string,
  resource: string,
  key: string,
  changed: (metadata: KubeObject['metadata']) => KubeObject['metadata'],
): Promise<void> {
  const collection = collectionOf(tenant, { group, resource })
  const stored = await storage.get(collection, key)
  const object = parseStored(stored!.text) as unknown as KubeObject
  const metadata = { ...changed(object.metadata), resourceVersion: '' }
  const text = JSON.stringify({ ...object, metadata })
  const at = text.indexOf('"resourceVersion":""') + '"resourceVersion":"'.length
  await storage.update(collection, key, { text, at, uid: object.metadata.uid ?? '', outbox: [] }, stored!.revision)
}

interface Event {
  readonly stage: string
  readonly verb: string
  readonly user: { readonly username: string; readonly groups: readonly string[] }
  readonly objectRef: { readonly resource: string }
  readonly responseStatus?: { readonly code: number }
}

/** Settings with an audit log, and the events that the log received. */
function audited(): { readonly audit: Env; readonly events: Event[]; isWritable: boolean } {
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'RequestResponse' }] }
  const found = { events: [] as Event[], isWritable: true, audit: env }
  const fetch = async (_: string, { body }: RequestInit) => {
    // the audit backend sends lines of text
    if (found.isWritable) for (const line of (body as string).trim().split('\n')) found.events.push(JSON.parse(line))
    return new Response(null, { status: found.isWritable ? 204 : 500 })
  }
  found.audit = {
    ...env,
    KEDGE_AUDIT_POLICY: JSON.stringify(policy),
    KEDGE_AUDIT_LOG_MODE: 'blocking-strict',
    AUDIT_LOG: { fetch } as unknown as Fetcher, // the backend calls only `fetch`
  }
  return found
}

const countOf = (events: readonly Event[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(events, ({ objectRef }) => objectRef.resource)
      .entries()
      .map(([k, v]) => [k, v.length]),
  )

test('each object has the events that it has in kube-apiserver', async () => {
  const storage = memoryStorage(platformClock)
  const { audit, events } = audited()
  await ensureBootstrapped({ env: audit, tenant, storage, now }, SnapshotData.empty)
  const received = events.filter(({ stage }) => stage === 'RequestReceived')
  const complete = events.filter(({ stage }) => stage === 'ResponseComplete')
  expect(countOf(complete)).toEqual(countOf(received))
  // the audit events that kube-apiserver 1.36.3 wrote
  expect(countOf(complete)).toMatchObject({
    apiservices: 21,
    clusterrolebindings: 50,
    clusterroles: 69,
    endpoints: 1,
    endpointslices: 1,
    flowschemas: 11,
    ipaddresses: 1,
    namespaces: 4,
    priorityclasses: 2,
    prioritylevelconfigurations: 8,
    rolebindings: 7,
    roles: 7,
    servicecidrs: 1,
    services: 1,
  })
  for (const { verb, user, responseStatus } of complete)
    expect([verb, user.username, user.groups, responseStatus?.code]).toEqual([
      'create',
      'system:apiserver',
      ['system:masters', 'system:authenticated'],
      201,
    ])
})

test('what is there already has none; what is put right has those of an update', async () => {
  const storage = memoryStorage(platformClock)
  await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
  const { audit, events } = audited()
  const moved = { ...audit, KEDGE_ADVERTISE: '192.0.2.9:443' }
  await writeEdition({ env: moved, tenant, storage, now }, await snapshotOf(storage), withoutAdmission)
  const written = events.filter(({ stage }) => stage === 'ResponseComplete')
  expect(written.map(({ verb, objectRef }) => `${verb} ${objectRef.resource}`).toSorted()).toEqual([
    'update endpoints',
    'update endpointslices',
  ])
})

test('blocking-strict: what cannot be written down beforehand is not made', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const storage = memoryStorage(platformClock)
  const found = audited()
  found.isWritable = false
  const plane = { env: found.audit, tenant, storage, now }
  await expect(ensureBootstrapped(plane, SnapshotData.empty)).rejects.toMatchObject({ code: 503 })
  expect(await read(storage, '', 'serviceaccounts', 'default/default')).toBeUndefined()
  found.isWritable = true
  await ensureBootstrapped(plane, await snapshotOf(storage))
  expect(await read(storage, '', 'serviceaccounts', 'default/default')).toBeDefined()
})
