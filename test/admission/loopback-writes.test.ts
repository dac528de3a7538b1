/** Admission sees the writes that the server makes itself while it serves a client's request. */
import { describe, expect, test } from 'vitest'
import { pluginServer } from './plugin-server.ts'
import type { PluginServer } from './plugin-server.ts'

const GROUP = 'admissionregistration.k8s.io'

async function serverThatDenies(operations: string[], group: string, resource: string): Promise<PluginServer> {
  const server = pluginServer()
  await server.namespace('blue')
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations, resources: [resource] }
  const policy = {
    metadata: { name: 'deny' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "request.userInfo.username != 'system:apiserver'", message: 'not you' }],
    },
  }
  const binding = { metadata: { name: 'deny' }, spec: { policyName: 'deny', validationActions: ['Deny'] } }
  expect(await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicies`, policy)).toHaveProperty('code', 201)
  await server.send('POST', `/apis/${GROUP}/v1/validatingadmissionpolicybindings`, binding)
  return server
}

const DENIED = "ValidatingAdmissionPolicy 'deny' with binding 'deny' denied request: not you"

describe('addresses of Services', () => {
  const service = (clusterIP?: string) => ({ metadata: { name: 's' }, spec: { ports: [{ port: 80 }], clusterIP } })
  const SERVICES = '/api/v1/namespaces/blue/services'

  test.each([
    [undefined, '[""]', 'failed to allocate IP'],
    ['10.96.0.77', '["10.96.0.77"]', 'failed to allocate IP 10.96.0.77'],
  ])('a Service gets none that a policy refuses (%s)', async (clusterIP, value, text) => {
    const server = await serverThatDenies(['CREATE'], 'networking.k8s.io', 'ipaddresses')
    const { code, body } = await server.send('POST', SERVICES, service(clusterIP))
    expect(code).toBe(422)
    expect(body.message).toMatch(/^Service "s" is invalid: spec.clusterIPs: Invalid value: /)
    expect(body.message).toContain(`${text}: ipaddresses.networking.k8s.io "10.`)
    expect(body.message).toContain(DENIED)
    expect(value).toBeDefined()
  })

  test('a Service is deleted even if the server cannot release its address', async () => {
    const server = await serverThatDenies(['DELETE'], 'networking.k8s.io', 'ipaddresses')
    const { body } = await server.send('POST', SERVICES, service())
    expect(await server.send('DELETE', `${SERVICES}/s`)).toHaveProperty('code', 200)
    const address = `/apis/networking.k8s.io/v1/ipaddresses/${String(body.spec.clusterIP)}`
    expect(await server.send('GET', address)).toHaveProperty('code', 200)
  })
})

describe('the budget that an eviction takes from', () => {
  const PODS = '/api/v1/namespaces/blue/pods'
  const BUDGETS = '/apis/policy/v1/namespaces/blue/poddisruptionbudgets'

  async function guardedPod(server: PluginServer): Promise<void> {
    const labels = { app: 'a' }
    const ready = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' }
    await server.send('POST', PODS, {
      metadata: { name: 'p', labels },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    await server.send('PATCH', `${PODS}/p/status`, { status: ready })
    await server.send('POST', BUDGETS, { metadata: { name: 'b' }, spec: { selector: { matchLabels: labels } } })
    const status = {
      disruptionsAllowed: 1,
      currentHealthy: 1,
      desiredHealthy: 0,
      expectedPods: 1,
      observedGeneration: 1,
    }
    expect(await server.send('PATCH', `${BUDGETS}/b/status`, { status })).toHaveProperty('code', 200)
  }

  const evict = (server: PluginServer, more: object = {}) =>
    server.send('POST', `${PODS}/p/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p', namespace: 'blue' },
      ...more,
    })

  test('a policy that refuses its status refuses the eviction', async () => {
    const server = await serverThatDenies(['UPDATE'], 'policy', 'poddisruptionbudgets/status')
    await guardedPod(server)
    const { code, body } = await evict(server)
    expect([code, body.message]).toEqual([422, `poddisruptionbudgets.policy "b" is forbidden: ${DENIED}`])
    expect((await server.send('GET', `${PODS}/p`)).body.metadata).not.toHaveProperty('deletionTimestamp')
    // nothing is written on a dry run, so there is nothing to refuse
    expect(await evict(server, { deleteOptions: { dryRun: ['All'] } })).toHaveProperty('code', 201)
  })

  test('the write is that of kube-apiserver', async () => {
    const server = await serverThatDenies(['DELETE'], 'policy', 'poddisruptionbudgets/status')
    await guardedPod(server)
    expect(await evict(server)).toHaveProperty('code', 201)
    const { body } = await server.send('GET', `${BUDGETS}/b`)
    expect(body).toMatchObject({
      metadata: {
        managedFields: expect.arrayContaining([
          expect.objectContaining({ manager: 'kube-apiserver', subresource: 'status' }),
        ]),
      },
      status: { disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) } },
    })
  })
})
