/** Between the look at a pod that needs no budget and its end, another writer may make it one that does. */
import { expect, test } from 'vitest'
import type { Storage } from '../../../src/storage/storage.ts'
import type { PluginServer } from '../../admission/plugin-server.ts'
import { pluginServer } from '../../admission/plugin-server.ts'

const PODS = '/api/v1/namespaces/blue/pods'
const BUDGETS = '/apis/policy/v1/namespaces/blue/poddisruptionbudgets'
const labels = { app: 'a' }
const PENDING = { phase: 'Pending' }
const UNREADY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }
const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }

const setStatus = (server: PluginServer, status: object) => server.send('PATCH', `${PODS}/p/status`, { status })

/** A pod that no disruption is allowed of, once it is ready. */
async function guarded(status: object, unhealthyPodEvictionPolicy: string): Promise<PluginServer> {
  const server = pluginServer()
  await server.namespace('blue')
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  await server.send('POST', PODS, { metadata: { name: 'p', labels }, spec })
  await setStatus(server, status)
  await server.send('POST', BUDGETS, {
    metadata: { name: 'b' },
    spec: { selector: { matchLabels: labels }, unhealthyPodEvictionPolicy },
  })
  const counts = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
  await server.send('PATCH', `${BUDGETS}/b/status`, { status: { ...counts, observedGeneration: 1 } })
  return server
}

/** Does something before the pod is read for the second time. */
function beforeSecondRead({ memory }: PluginServer, act: () => Promise<unknown>): void {
  const storage: { get: Storage['get'] } = memory.storage
  const { get } = storage
  let reads = 0
  storage.get = async (collection, key, ...more) => {
    if (collection.prefix === 'pods' && key === 'blue/p' && ++reads === 2) {
      storage.get = get
      await act()
    }
    return get(collection, key, ...more)
  }
}

const evict = (server: PluginServer, deleteOptions: object = {}) =>
  server.send('POST', `${PODS}/p/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'p' },
    deleteOptions,
  })

const isThere = async (server: PluginServer) => (await server.send('GET', `${PODS}/p`)).code === 200

test.each([
  ['is pending', PENDING, 'IfHealthyBudget', 'The disruption budget b needs 1 healthy pods and has 1 currently'],
  ['is not ready', UNREADY, 'AlwaysAllow', 'The disruption budget b is still being processed by the server.'],
])('a pod that %s and gets ready meanwhile keeps its budget', async (_, status, policy, message) => {
  const server = await guarded(status, policy)
  beforeSecondRead(server, () => setStatus(server, READY))
  const { code, body } = await evict(server)
  expect(code).toBe(429)
  expect(body.details?.causes).toEqual([{ reason: 'DisruptionBudget', message }])
  expect(await isThere(server)).toBe(true)
})

test.each([
  ['is pending', PENDING, 'IfHealthyBudget', 201],
  ['is not ready', UNREADY, 'AlwaysAllow', 429],
])('another change of a pod that %s', async (_, status, policy, code) => {
  const server = await guarded(status, policy)
  beforeSecondRead(server, () => setStatus(server, { message: 'still so' }))
  expect(await evict(server)).toHaveProperty('code', code)
  expect(await isThere(server)).toBe(code !== 201)
})

test('a version that the client names is its own', async () => {
  const server = await guarded(PENDING, 'IfHealthyBudget')
  const { resourceVersion } = (await server.send('GET', `${PODS}/p`)).body.metadata as { resourceVersion?: string }
  beforeSecondRead(server, () => setStatus(server, { message: 'still so' }))
  const answer = await evict(server, { preconditions: { resourceVersion } })
  expect(answer.code).toBe(409)
  expect(await isThere(server)).toBe(true)
})
