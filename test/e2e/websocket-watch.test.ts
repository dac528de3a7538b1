// A watch over a WebSocket, as browsers open it: one event a text message, and handshakes that kube-apiserver refuses.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'
import type { Shaken } from './raw-socket.ts'
import { OPCODES, framesOf, shakeHands as shakeHandsAt } from './raw-socket.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const ORIGIN = { Origin: 'https://dashboard.example.com' }

let server: KedgeProcess
let client: ApiClient
let token: string

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  token = client.token
})
afterAll(() => server.stop())

const shakeHands = (path: string, headers: Record<string, string>): Promise<Shaken> =>
  shakeHandsAt(server.url + path, token, headers)

async function* messages(shaken: Shaken): AsyncGenerator<string> {
  for await (const { opcode, payload } of framesOf(shaken)) if (opcode === OPCODES.text) yield payload.toString()
}

test('every event is a text message of its own', async () => {
  const { body } = await client.send('GET', `${CONFIG_MAPS}?limit=1`)
  const version = body.metadata.resourceVersion
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}`, ORIGIN)
  expect(shaken.status).toBe(101)
  const accept = createHash('sha1').update(`${shaken.key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  expect(shaken.headers['sec-websocket-accept']).toBe(accept)

  const stream = messages(shaken)
  const names = ['a', 'b', 'c']
  for (const name of names) await client.send('POST', CONFIG_MAPS, { metadata: { name } })
  for (const name of names) {
    const { value } = await stream.next()
    expect(value).toMatch(/\n$/)
    const event = JSON.parse(value as string) as { type: string; object: { metadata: { name: string } } }
    expect([event.type, event.object.metadata.name]).toEqual(['ADDED', name])
  }
  shaken.socket!.destroy()
})

test.each([
  ['no Origin', {}, 403],
  ['an Origin that is no URL', { Origin: 'nowhere' }, 403],
  ['another version', { ...ORIGIN, 'Sec-WebSocket-Version': '12' }, 400],
  ['several sub-protocols', { ...ORIGIN, 'Sec-WebSocket-Protocol': 'a, b' }, 400],
])('%s is refused', async (_, headers, status) => {
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1`, headers)
  expect(shaken.status).toBe(status)
})

test('one sub-protocol is echoed whatever it is', async () => {
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1`, { ...ORIGIN, 'Sec-WebSocket-Protocol': 'anything' })
  expect(shaken.headers['sec-websocket-protocol']).toBe('anything')
  shaken.socket?.destroy()
})

test.each([
  ['beside another protocol, which is the answer', (own: string) => `${own}, x`, 101, 'x'],
  ['behind it', (own: string) => `x, ${own}`, 101, 'x'],
  ['beside two', (own: string) => `${own}, x, y`, 400, undefined],
  ['alone', (own: string) => own, 401, undefined],
])('a token as a sub-protocol %s', async (_, offer, status, answered) => {
  const own = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
  const headers = { ...ORIGIN, Authorization: '', 'Sec-WebSocket-Protocol': offer(own) }
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1`, headers)
  expect([shaken.status, shaken.headers['sec-websocket-protocol']]).toEqual([status, answered])
  shaken.socket?.destroy()
})

test('errors before the stream are ordinary answers', async () => {
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1&labelSelector=a%20b`, ORIGIN)
  expect(shaken.status).toBe(400)
})
