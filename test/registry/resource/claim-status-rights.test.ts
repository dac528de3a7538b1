/** The rights that the parts of a ResourceClaim's status need beside the right to the status. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/api/object.ts'
import { StatusError } from '../../../src/api/status.ts'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const RBAC = 'rbac.authorization.k8s.io'
const GROUP = 'resource.k8s.io'

/** `RESOURCE VERB [NAME]` */
type Right = readonly [resource: string, verb: string, name?: string]
const BINDING: Right = ['resourceclaims/binding', 'update']
const DRIVER: Right = ['resourceclaims/driver', 'arbitrary-node:update', 'a.example.com']
const ON_NODE: Right = ['resourceclaims/driver', 'associated-node:update', 'a.example.com']

const result = (driver: string) => ({ request: 'r', driver, pool: 'p', device: 'd' })
const nodeSelector = {
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
}
const allocation = { devices: { results: [result('a.example.com'), result('b.example.com')] }, nodeSelector }
const reservedFor = [{ resource: 'pods', name: 'web', uid: '1' }]
const device = (driver: string) => ({ driver, pool: 'p', device: 'd', data: { x: 1 } })

interface Given {
  readonly rights?: readonly Right[]
  /** Rights at the cluster scope, too. */
  readonly everywhere?: boolean
  readonly old?: JsonObject
  readonly status: JsonObject
  readonly user?: string
  readonly node?: string
  readonly gates?: string
}

async function outcomeOf({ rights = [], everywhere = true, old = {}, status, node, gates, ...given }: Given) {
  const server = memoryServer({
    KEDGE_ADMIN_TOKEN: 'an-administrator-whose-token-is-long-enough',
    ...(gates === undefined ? {} : { KEDGE_FEATURE_GATES: gates }),
  })
  const { user = 'system:serviceaccount:blue:driver' } = given
  const all: readonly Right[] = [['resourceclaims/status', 'update'], ...rights]
  const rules = all.map(([resource, verb, name]) => ({
    apiGroups: [GROUP],
    resources: [resource],
    verbs: [verb],
    ...(name === undefined ? {} : { resourceNames: [name] }),
  }))
  const [scope, metadata] = everywhere ? ['cluster', { name: 'x' }] : ['', { name: 'x', namespace: 'blue' }]
  await server.put(RBAC, `${scope}roles`, { metadata, rules })
  await server.put(RBAC, `${scope}rolebindings`, {
    metadata,
    roleRef: { apiGroup: RBAC, kind: everywhere ? 'ClusterRole' : 'Role', name: 'x' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
  })
  const claim = {
    metadata: { name: 'x', namespace: 'blue' },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'All' } }] } },
  }
  await server.put('', 'namespaces', { metadata: { name: 'blue' } })
  await server.put(GROUP, 'resourceclaims', { ...claim, status: old })
  const request = server.request(`/apis/${GROUP}/v1/namespaces/blue/resourceclaims/x/status`, {
    method: 'PUT',
    headers: {
      Authorization: 'Bearer an-administrator-whose-token-is-long-enough',
      'Content-Type': 'application/json',
      'Impersonate-User': user,
      ...(node === undefined ? {} : { 'Impersonate-Extra-Authentication.kubernetes.io%2Fnode-Name': node }),
    },
    body: JSON.stringify({ ...claim, status }),
  })
  const answered: unknown = await answer(request).catch((thrown: unknown) => thrown)
  if (answered instanceof Response) return answered.status
  if (!(answered instanceof StatusError)) throw answered
  return answered.message.replace('ResourceClaim.resource.k8s.io "x" is invalid: ', '')
}

const ACCOUNT = 'User "system:serviceaccount:blue:driver" cannot'
const NO_BINDING = `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: ${ACCOUNT} update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope`
const noDriver = (driver: string, ...verbs: readonly string[]) =>
  `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: resourceclaims.resource.k8s.io "${driver}" is forbidden: ${ACCOUNT} ${verbs[0]} resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "blue"`
const ANY = 'arbitrary-node:update'
const OWN = 'associated-node:update'
const allocated = { allocation, devices: [device('a.example.com')] }

test.each<[what: string, given: Given, outcome: string | number]>([
  ['an allocation', { status: { allocation } }, NO_BINDING],
  ['consumers', { old: { allocation }, status: { allocation, reservedFor } }, NO_BINDING],
  ['a claim that is given back', { old: { allocation }, status: {} }, NO_BINDING],
  ['an allocation by who may bind', { rights: [BINDING], status: { allocation } }, 200],
  [
    'an allocation by who may bind in the namespace alone',
    { rights: [BINDING], everywhere: false, status: { allocation } },
    NO_BINDING,
  ],
  ['nothing', { old: allocated, status: allocated }, 200],
  [
    'no part that needs more, in another spelling',
    { old: { allocation }, status: { allocation, reservedFor: [], devices: [] } },
    200,
  ],
  ['a new device', { old: { allocation }, status: allocated }, noDriver('a.example.com', ANY)],
  ['a device that is gone', { old: allocated, status: { allocation } }, noDriver('a.example.com', ANY)],
  [
    'a device that changes',
    { old: allocated, status: { allocation, devices: [{ ...device('a.example.com'), data: { x: 2 } }] } },
    noDriver('a.example.com', ANY),
  ],
  ['a device by its driver', { rights: [DRIVER], old: { allocation }, status: allocated }, 200],
  ['in the namespace', { rights: [DRIVER], everywhere: false, old: { allocation }, status: allocated }, 200],
  [
    'a device of another driver',
    { rights: [DRIVER], old: allocated, status: { allocation, devices: [device('b.example.com')] } },
    noDriver('b.example.com', ANY),
  ],
  [
    'a device by its driver on some node',
    { rights: [ON_NODE], old: { allocation }, status: allocated },
    noDriver('a.example.com', ANY),
  ],
  [
    'a device by its driver on another node',
    { rights: [ON_NODE], node: 'n2', old: { allocation }, status: allocated },
    noDriver('a.example.com', ANY),
  ],
  [
    'a device by its driver on its node',
    { rights: [ON_NODE], node: 'n1', old: { allocation }, status: allocated },
    200,
  ],
  [
    'a device by nobody on its node',
    { node: 'n1', old: { allocation }, status: allocated },
    noDriver('a.example.com', OWN, ANY),
  ],
  ['the gate is off', { gates: 'DRAResourceClaimGranularStatusAuthorization=false', status: { allocation } }, 200],
])('%s', async (_what, given, outcome) => {
  expect(await outcomeOf(given)).toBe(outcome)
})
