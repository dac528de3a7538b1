// Controllers under the limits that Cloudflare has: few subrequests in an invocation, and chains of calls that may not
// be deep. Their work is cut short again and again, and comes to the same end.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { Answer } from './api-client.ts'
import { ApiClient } from './api-client.ts'

const PODS = 120
const DEPLOYMENTS = '/apis/apps/v1/namespaces/few/deployments'

let kedge: KedgeProcess
let api: ApiClient

beforeAll(async () => {
  kedge = await startKedge(['--ephemeral', '--port', '0', '--workloads', 'simulated', '--nodes', '2'], {
    ...process.env,
    KEDGE_SUBREQUESTS: '100',
  })
  api = new ApiClient(kedge.kubeconfig)
}, 120_000)
afterAll(async () => {
  api.close()
  await kedge.stop()
})

const shards = async () => {
  const { body } = (await api.send('GET', '/debug/shards')) as Answer & {
    readonly body: { readonly shards: readonly { readonly name: string; readonly deepest: number }[] }
  }
  return body.shards
}

test('a Deployment gets its pods, and its namespace goes with all of them', { timeout: 240_000 }, async () => {
  const metadata = { name: 'few' }
  expect((await api.send('POST', '/api/v1/namespaces', { metadata })).status).toBe(201)
  const labels = { app: 'few' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: PODS, selector: { matchLabels: labels }, template }
  await eventually(async () => expect((await api.send('POST', DEPLOYMENTS, { metadata, spec })).status).toBe(201))
  await eventually(async () =>
    expect((await api.send('GET', `${DEPLOYMENTS}/few`)).body).toMatchObject({ status: { readyReplicas: PODS } }),
  )
  expect((await api.send('DELETE', '/api/v1/namespaces/few')).status).toBe(200)
  await eventually(async () => expect((await api.send('GET', '/api/v1/namespaces/few')).status).toBe(404))
  // Cloudflare refuses a call that is 16 deep
  expect(Math.max(...(await shards()).map(({ deepest }) => deepest))).toBeLessThanOrEqual(11)
  expect(kedge.output()).not.toMatch(/a controller (failed|gives up)/)
})
