// Simulated nodes without a local server's front, as on Cloudflare: pods run, and answer for logs and exec.
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { startBoundEngine } from './bound-engine.ts'

const TOKEN = 'the-token-of-an-administrator-of-this-test'
const POD = '/api/v1/namespaces/default/pods/web'
const FIRST = 'simulated: container c of image nginx runs no process, this is no output of it\n'

let engine: Miniflare | undefined

beforeAll(async () => {
  engine = await startBoundEngine({}, { KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_WORKLOADS: 'simulated' })
  const metadata = { name: 'n', labels: { 'kedge.dev/simulated': 'true' } }
  expect(await send('POST', '/api/v1/nodes', { metadata })).toMatchObject({ kind: 'Node' })
  const spec = { containers: [{ name: 'c', image: 'nginx' }], automountServiceAccountToken: false }
  const pod = { metadata: { name: 'web', annotations: { 'kedge.dev/log.c': 'one\n' } }, spec }
  await eventually(async () =>
    expect(await send('POST', '/api/v1/namespaces/default/pods', pod)).toMatchObject({ kind: 'Pod' }),
  )
  await eventually(async () => expect(await send('GET', POD)).toMatchObject({ status: { phase: 'Running' } }))
}, 120_000)
afterAll(() => engine?.dispose())

const fetched = (path: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) =>
  engine!.dispatchFetch(`https://api.example.com${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${TOKEN}`, ...init.headers },
  })

async function send(method: string, path: string, body?: object): Promise<unknown> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return (await fetched(path, { method, ...sent, headers: { 'Content-Type': 'application/json' } })).json()
}

test('logs are those of the simulation', async () => {
  expect(await (await fetched(`${POD}/log`)).text()).toBe(`${FIRST}one\n`)
})

describe('over a WebSocket', () => {
  /** The messages of each channel, until the server closes the socket. */
  async function channels(path: string): Promise<Record<number, string>> {
    const headers = { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'v5.channel.k8s.io' }
    const { status, webSocket } = await fetched(path, { headers })
    expect(status).toBe(101)
    const found: Record<number, string> = {}
    const closed = new Promise((resolve) => webSocket!.addEventListener('close', resolve))
    webSocket!.addEventListener('message', ({ data }) => {
      const [channel = 0, ...text] = Buffer.from(data as ArrayBuffer)
      found[channel] = (found[channel] ?? '') + Buffer.from(text).toString()
    })
    webSocket!.accept()
    await closed
    return found
  }

  test('exec says what it was asked to run', async () => {
    expect(await channels(`${POD}/exec?command=ls&stdout=1&stderr=1`)).toEqual({
      1: 'simulated: container c runs no process, this is no output of: ls\n',
      3: expect.stringContaining('"status":"Success"') as unknown,
    })
  })
})

test('a node that is not simulated is out of reach', async () => {
  await send('POST', '/api/v1/nodes', { metadata: { name: 'real' } })
  const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] }
  const spec = { nodeName: 'real', containers: [{ name: 'c', image: 'nginx' }], automountServiceAccountToken: false }
  await fetched('/api/v1/nodes/real/status', {
    method: 'PATCH',
    body: JSON.stringify({ status }),
    headers: { 'Content-Type': 'application/merge-patch+json' },
  })
  await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'far' }, spec })
  expect(await send('GET', '/api/v1/namespaces/default/pods/far/log')).toMatchObject({
    code: 500,
    message: 'Get "https://192.0.2.1:10250/containerLogs/default/far/c": this server reaches no nodes',
  })
})
