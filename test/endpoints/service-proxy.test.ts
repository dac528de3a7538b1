/** A Service leads to pods of its own namespace, whatever its endpoints name. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { StatusError } from '../../src/api/status.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const PODS = { a: '10.0.0.1', b: '10.0.0.2' }

const metadata = { name: 'web', namespace: 'a', labels: { 'kubernetes.io/service-name': 'web' } }

/** Objects that lead the Service to an address. */
const byEndpoints = (ip: string, targetRef?: JsonObject): [string, string, JsonObject] => [
  '',
  'endpoints',
  { subsets: [{ addresses: [{ ip, ...(targetRef && { targetRef }) }], ports: [{ port: 80 }] }] },
]
const bySlice = (ip: string, targetRef?: JsonObject): [string, string, JsonObject] => [
  'discovery.k8s.io',
  'endpointslices',
  { endpoints: [{ addresses: [ip], ...(targetRef && { targetRef }) }], ports: [{ port: 80 }], addressType: 'IPv4' },
]

async function messageOf(
  [group, resource, object]: [string, string, JsonObject],
  path = '/services/web:80/proxy/x',
): Promise<string> {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  for (const [namespace, podIP] of Object.entries(PODS))
    await server.put('', 'pods', { metadata: { name: 'web', namespace }, status: { podIP, podIPs: [{ ip: podIP }] } })
  await server.put('', 'services', { metadata, spec: { ports: [{ port: 80 }] } })
  await server.put(group, resource, { ...object, metadata })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const error: unknown = await answer(server.request(`/api/v1/namespaces/a${path}`, { headers })).catch(
    (thrown: unknown) => thrown,
  )
  return error instanceof StatusError ? error.message : 'answered'
}

// this server has no way out, so it refuses a place that it would connect with
const REACHED = 'error trying to reach service: this server reaches no pods and no nodes'
const NO_ENDPOINTS = 'no endpoints available for service "web:80"'
const podIn = (namespace: string): JsonObject => ({ kind: 'Pod', namespace, name: 'web' })

test.each<[string, [string, string, JsonObject], string]>(
  [byEndpoints, bySlice].flatMap((by) => [
    ['a pod of the namespace', by(PODS.a, podIn('a')), REACHED],
    ['a pod of another namespace', by(PODS.b, podIn('b')), NO_ENDPOINTS],
    ['the address of another pod', by(PODS.b, podIn('a')), NO_ENDPOINTS],
    ['a pod without a namespace', by(PODS.a, { kind: 'Pod', name: 'web' }), NO_ENDPOINTS],
    ['no pod', by(PODS.a), NO_ENDPOINTS],
  ]),
)('%s by %j: %s', async (_what, by, message) => {
  expect(await messageOf(by)).toBe(message)
})

test.each(['/services/web:80/proxy/x//y', '/services/web:80/proxy//x', '/services/web:80/proxy/http://host/'])(
  '%s leads to the pod, although the path behind the proxy has an empty part',
  async (path) => expect(await messageOf(byEndpoints(PODS.a, podIn('a')), path)).toBe(REACHED),
)

test.each(['//services/web:80/proxy/x', '/services//web:80/proxy/x', '/services/web:80//proxy/x'])(
  '%s leads nowhere',
  async (path) => {
    const found = await messageOf(byEndpoints(PODS.a, podIn('a')), path)
    expect(found).toBe('the server could not find the requested resource')
  },
)
