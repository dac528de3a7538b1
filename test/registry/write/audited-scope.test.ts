import { beforeEach, expect, test, vi } from 'vitest'
import type { GroupResource } from '../../../src/api/group-version.ts'
import type { JsonObject, KubeObject } from '../../../src/api/object.ts'
import { Clientset, clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { withoutAdmission } from '../../../src/registry/write/admission.ts'
import { controllerUsers } from '../../../src/controllers/client/controller-users.ts'
import type { ControllerContext } from '../../../src/controllers/controller.ts'
import type { Env } from '../../../src/env.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { memoryServer } from '../../request-in-memory.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

interface Event {
  readonly stage: string
  readonly level: string
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string }
  readonly auditID: string
  readonly userAgent?: string
  readonly objectRef: object
  readonly responseStatus?: { readonly code: number }
  readonly requestObject?: JsonObject
  readonly responseObject?: JsonObject
}

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    { level: 'None', users: ['system:apiserver'] },
    { level: 'None', resources: [{ group: '', resources: ['events'] }] },
    { level: 'Metadata', resources: [{ group: '', resources: ['serviceaccounts'] }] },
    { level: 'RequestResponse', omitStages: ['RequestReceived'] },
  ],
}
const CONFIG_MAPS = { group: '', resource: 'configmaps' }
const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector'

let events: Event[]
let isWritable: boolean
let context: ControllerContext

beforeEach(() => begin(POLICY))

async function begin(policy: object): Promise<void> {
  events = []
  isWritable = true
  const log = {
    async fetch(_url: string, init: RequestInit) {
      // the audit backend sends text
      if (isWritable)
        for (const line of (init.body as string).trim().split('\n')) events.push(JSON.parse(line) as Event)
      return new Response(null, { status: isWritable ? 204 : 500 })
    },
  }
  const { env, tenant, now, request } = memoryServer({
    KEDGE_AUDIT_POLICY: JSON.stringify(policy),
    KEDGE_AUDIT_LOG_MODE: 'blocking-strict',
    AUDIT_LOG: log as unknown as Env['AUDIT_LOG'] & {}, // the backend calls only `fetch`
  })
  const served = await servedResources(request('/'))
  context = {
    env,
    tenant,
    served,
    user: controllerUsers.departed,
    waitUntil: () => {},
    room: { take: () => {}, leave: () => {} },
    budget: { room: async () => {}, turn: async () => {} },
    freshServed: () => Promise.resolve(served),
    now: () => now,
    dependentsOf: () => [],
    addDependents: () => {},
    forgetDependents: () => {},
    alone: (_, work) => work(),
    watchedKinds: { has: () => false, forgetOthers: () => {} },
    sightings: { get: () => undefined, set: () => {} },
    absentOwners: { has: () => false, add: () => {} },
    once: (_, read) => read(),
    together: [],
    overdue: new Promise(() => {}),
    later: () => {},
  }
}

const client = (resource: GroupResource = CONFIG_MAPS, user = context.user) =>
  new Clientset(context, { user, fieldManager: 'kube-controller-manager', admission: withoutAdmission }).resource(
    resource,
    'default',
  )
const object = (kind: string, rest: object = {}) =>
  ({ kind, apiVersion: 'v1', metadata: { name: 'a' }, ...rest }) as unknown as JsonObject & KubeObject

test('each write has an event, under the name of the controller', async () => {
  const configMaps = client()
  await configMaps.create(object('ConfigMap', { data: { k: 'v' } }))
  await configMaps.updateWithRetries(named('a'), (one) => Object.assign(one, { data: { k: 'w' } }))
  await configMaps.apply(named('a'), object('ConfigMap', { data: { l: 'x' } }))
  await configMaps.delete(named('a'))
  expect(events.map(({ verb, requestURI, responseStatus }) => [verb, requestURI, responseStatus?.code])).toEqual([
    ['create', '/api/v1/namespaces/default/configmaps', 201],
    ['update', '/api/v1/namespaces/default/configmaps/a', 200],
    ['patch', '/api/v1/namespaces/default/configmaps/a', 200],
    ['delete', '/api/v1/namespaces/default/configmaps/a', 200],
  ])
  expect(new Set(events.map(({ user }) => user.username))).toEqual(new Set([COLLECTOR]))
  expect(events[0]).toMatchObject({
    stage: 'ResponseComplete',
    level: 'RequestResponse',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
    requestObject: { kind: 'ConfigMap', data: { k: 'v' } },
    responseObject: { kind: 'ConfigMap', data: { k: 'v' } },
  })
})

test('a write without a change has no event, and a refused one says why', async () => {
  const configMaps = client()
  await configMaps.create(object('ConfigMap'))
  await configMaps.updateWithRetries(named('a'), () => {})
  await expect(configMaps.create(object('ConfigMap'))).rejects.toMatchObject({ code: 409 })
  expect(events.map(({ verb, responseStatus }) => [verb, responseStatus?.code])).toEqual([
    ['create', 201],
    ['create', 409],
  ])
})

test('an object that is only marked was deleted', async () => {
  const configMaps = client()
  await configMaps.create(object('ConfigMap', { metadata: { name: 'a', finalizers: ['example.com/x'] } }))
  await configMaps.delete(named('a'))
  expect(events.map(({ verb }) => verb)).toEqual(['create', 'delete'])
})

test('events contain no part of a Secret', async () => {
  await client({ group: '', resource: 'secrets' }).create(object('Secret', { data: { k: 'aGlkZGVu' } }))
  expect(events).toMatchObject([{ level: 'Metadata', verb: 'create' }])
  expect(JSON.stringify(events)).not.toContain('aGlkZGVu')
})

test('the policy decides, by user and by resource', async () => {
  await client(CONFIG_MAPS, controllerUsers['crd-names']).create(object('ConfigMap'))
  expect(events).toEqual([])
})

test('blocking-strict: what cannot be written down beforehand is not done', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const accounts = client({ group: '', resource: 'serviceaccounts' })
  isWritable = false
  await expect(accounts.create(object('ServiceAccount'))).rejects.toMatchObject({ code: 503 })
  expect(await accounts.get('a')).toBeUndefined()
  isWritable = true
  await accounts.create(object('ServiceAccount'))
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
})

test('clients of workload controllers, too', async () => {
  const configMaps = clientsetFor(context, 'job-controller').resource(typedResource('', 'configmaps'), 'default')
  await configMaps.create({ metadata: { name: 'a' } })
  await configMaps.patch(named('a'), 'application/merge-patch+json', { metadata: { labels: { k: 'v' } } })
  await configMaps.delete(named('a'))
  expect(events.map(({ verb, user }) => [verb, user.username])).toEqual(
    ['create', 'patch', 'delete'].map((verb) => [verb, 'system:serviceaccount:kube-system:job-controller']),
  )
})

// Like kube-apiserver's loopback client: each request has its own audit ID, and objectRef has a name only if the path
// has.
test('what the server asks of itself, beside a write', async () => {
  await begin({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'RequestResponse' }] })
  events = [] // drops the events of the objects that `begin` creates
  const services = client({ group: '', resource: 'services' })
  const spec = { type: 'NodePort', clusterIP: '10.96.0.77', ports: [{ port: 80 }] }
  await services.create(object('Service', { spec }))
  await expect(services.create(object('Service', { metadata: { name: 'b' }, spec }))).rejects.toMatchObject({
    code: 422,
  })
  await services.delete(named('a'))
  const own = events.filter(({ user }) => user.username === 'system:apiserver')
  const collection = '/apis/networking.k8s.io/v1/ipaddresses'
  expect(
    own.map(({ stage, verb, requestURI, responseStatus }) => [stage, verb, requestURI, responseStatus?.code]),
  ).toEqual([
    ['RequestReceived', 'create', collection, undefined],
    ['ResponseComplete', 'create', collection, 201],
    ['RequestReceived', 'create', collection, undefined],
    ['ResponseComplete', 'create', collection, 409],
    ['RequestReceived', 'delete', `${collection}/10.96.0.77`, undefined],
    ['ResponseComplete', 'delete', `${collection}/10.96.0.77`, 200],
  ])
  expect(own[0]).toMatchObject({ userAgent: 'kube-apiserver', objectRef: { resource: 'ipaddresses' } })
  expect(own[0]!.objectRef).not.toHaveProperty('name')
  expect(own[1]).toMatchObject({
    auditID: own[0]!.auditID,
    objectRef: { name: '10.96.0.77' },
    requestObject: { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } } },
  })
  const asked = new Set(events.filter((event) => !own.includes(event)).map(({ auditID }) => auditID))
  expect(own.filter(({ auditID }) => asked.has(auditID))).toEqual([])
})

test('the usage in a quota', async () => {
  await begin({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata' }],
  })
  const clients = clientsetFor(context, 'job-controller')
  const quotas = clients.resource(typedResource('', 'resourcequotas'), 'default')
  const hard = { configmaps: '5' }
  await quotas.create(object('ResourceQuota', { spec: { hard } }))
  await quotas.updateStatusWithRetries(named('a'), (quota) =>
    Object.assign(quota, { status: { hard, used: { configmaps: '0' } } }),
  )
  const before = events.length
  await clients.resource(CONFIG_MAPS, 'default').create({ metadata: { name: 'a' } })
  expect(events.slice(before).map(({ user, verb, requestURI }) => [user.username, verb, requestURI])).toEqual([
    ['system:apiserver', 'update', '/api/v1/namespaces/default/resourcequotas/a/status'],
    ['system:serviceaccount:kube-system:job-controller', 'create', '/api/v1/namespaces/default/configmaps'],
  ])
})
