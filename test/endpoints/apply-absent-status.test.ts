/** What an apply to the status of an absent object does, as in kube-apiserver 1.36.3. */
import { expect, test } from 'vitest'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const ADMINISTRATOR = 'an-administrator-whose-token-is-long-enough'
const headers = { Authorization: `Bearer ${ADMINISTRATOR}` }

async function send(path: string, method: string, type: string, body: object): Promise<object> {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: ADMINISTRATOR })
  await server.put('', 'namespaces', { metadata: { name: 'a' } })
  const init = { method, headers: { ...headers, 'Content-Type': type }, body: JSON.stringify(body) }
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

test.each<[what: string, path: string, type: string, body: object, code: number, message: string]>([
  [
    'a Service of which it says only the status',
    SERVICE,
    APPLY,
    { ...service, status },
    422,
    'Service "d" is invalid: spec.ports: Required value',
  ],
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
