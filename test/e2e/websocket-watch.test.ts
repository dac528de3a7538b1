// A watch over a WebSocket, as browsers open it: one event a text message, and handshakes that kube-apiserver refuses.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const ORIGIN = { Origin: 'https://dashboard.example.com' }

let server: KedgeProcess
let client: ApiClient
let token: string

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  const config = JSON.parse(readFileSync(server.kubeconfig, 'utf8')) as { users: [{ user: { token: string } }] }
  token = config.users[0].user.token
})
afterAll(() => server.stop())

interface Shaken {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly socket?: Duplex
  readonly head?: Buffer
  readonly key: string
}

function shakeHands(path: string, headers: Record<string, string>): Promise<Shaken> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString('base64')
    const sent = request(server.url + path, {
      rejectUnauthorized: false,
      agent: false,
      headers: {
        Authorization: `Bearer ${token}`,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': key,
        ...headers,
      },
    })
    sent.once('error', reject)
    sent.once('response', (response: IncomingMessage) => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, key })
    })
    sent.once('upgrade', (response, socket, head) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, socket, head, key }),
    )
    sent.end()
  })
}

/** Unmasked text frames of a server, as they come (RFC 6455 §5.2). */
async function* messages(socket: Duplex, head: Buffer): AsyncGenerator<string> {
  let bytes = head
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    for (let frame = textFrame(bytes); frame !== undefined; frame = textFrame(bytes)) {
      bytes = bytes.subarray(frame.end)
      if (frame.opcode === 1) yield frame.text
    }
  }
}

function textFrame(bytes: Buffer): { opcode: number; text: string; end: number } | undefined {
  if (bytes.length < 4) return undefined
  const short = bytes[1]! & 0x7f
  const [length, start] =
    short < 126 ? [short, 2] : short === 126 ? [bytes.readUInt16BE(2), 4] : [Number(bytes.readBigUInt64BE(2)), 10]
  if (bytes.length < start + length) return undefined
  return { opcode: bytes[0]! & 0x0f, text: bytes.subarray(start, start + length).toString(), end: start + length }
}

test('every event is a text message of its own', async () => {
  const { body } = await client.send('GET', `${CONFIG_MAPS}?limit=1`)
  const version = body.metadata.resourceVersion
  const shaken = await shakeHands(`${CONFIG_MAPS}?watch=1&resourceVersion=${version}`, ORIGIN)
  expect(shaken.status).toBe(101)
  const accept = createHash('sha1').update(`${shaken.key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  expect(shaken.headers['sec-websocket-accept']).toBe(accept)

  const stream = messages(shaken.socket!, shaken.head!)
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
