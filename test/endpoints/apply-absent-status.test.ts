/** What an apply to the status of an absent object does, as in kube-apiserver 1.36.3. */
import { expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const RBAC = 'rbac.authorization.k8s.io'
const headers = { Authorization: `Bearer ${ADMINISTRATOR}` }

async function send(path: string, method: string, type: string, body: object, as?: string): Promise<object> {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  await server.put('', 'namespaces', { metadata: { name: 'a' } })
  const rules = [{ apiGroups: [''], resources: ['services/status'], verbs: ['get', 'update', 'patch'] }]
  await server.put(RBAC, 'clusterroles', { metadata: { name: 'r' }, rules })
  await server.put(RBAC, 'clusterrolebindings', {
    metadata: { name: 'r' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'r' },
    subjects: [{ apiGroup: RBAC, kind: 'User', name: 'writer' }],
  })
  const acting: Record<string, string> = as === undefined ? {} : { 'Impersonate-User': as }
  const init = { method, headers: { ...headers, ...acting, 'Content-Type': type }, body: JSON.stringify(body) }
  try {
    const response = await answer(server.request(`${path}?fieldManager=m`, init))
    return { code: response.status, ...(await response.json<object>()) }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return error.status
  }
}

const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const SERVICE = '/api/v1/namespaces/a/services/d/status'
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'd' } }
const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }
const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] }

test('the Service is created without an address, and without the status', async () => {
  expect(await send(SERVICE, 'PATCH', APPLY, { ...service, spec, status })).toMatchObject({
    code: 201,
    metadata: {
      managedFields: [
        {
          manager: 'm',
          operation: 'Apply',
          subresource: 'status',
          fieldsV1: { 'f:status': { 'f:loadBalancer': { 'f:ingress': {} } } },
        },
      ],
    },
    spec: {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'LoadBalancer',
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: false,
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  })
})

test('it needs the permission to create', async () => {
  const apply = await send(SERVICE, 'PATCH', APPLY, { ...service, spec, status }, 'writer')
  expect(apply).toMatchObject({
    code: 403,
    message: expect.stringContaining('cannot create resource "services/status"'),
  })
})

const POLICY = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/d/status'
const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'd' },
  status: { observedGeneration: 1 },
}

test('the ValidatingAdmissionPolicy is created, without the status', async () => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] }
  const created = await send(POLICY, 'PATCH', APPLY, { ...policy, spec })
  expect(created).toMatchObject({
    code: 201,
    metadata: {
      generation: 1,
      managedFields: [{ subresource: 'status', fieldsV1: { 'f:status': { 'f:observedGeneration': {} } } }],
    },
    spec: { failurePolicy: 'Fail', validations: [{ expression: 'true' }] },
    status: {},
  })
  expect(created).not.toHaveProperty('status.observedGeneration')
})

test.each<[what: string, path: string, type: string, body: object, code: number, message: string]>([
  [
    'a Service of which it says only the status',
    SERVICE,
    APPLY,
    { ...service, status },
    422,
    'Service "d" is invalid: spec.ports: Required value',
  ],
  ['a policy of which it says only the status', POLICY, APPLY, policy, 422, expect.stringContaining('spec.')],
  ['a patch of a policy', POLICY, MERGE, policy, 404, expect.stringContaining('"d" not found')],
  ['a patch of a Service', SERVICE, MERGE, { status }, 404, 'services "d" not found'],
  [
    'a Pod',
    '/api/v1/namespaces/a/pods/p/status',
    APPLY,
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { phase: 'Running' } },
    404,
    'pods "p" not found',
  ],
  [
    'a Service in a namespace that is absent',
    '/api/v1/namespaces/b/services/d/status',
    APPLY,
    { ...service, spec, status },
    404,
    'namespaces "b" not found',
  ],
])('%s', async (_what, path, type, body, code, message) => {
  expect(await send(path, 'PATCH', type, body)).toMatchObject({ code, message })
})
