// Frames that cost their sender nothing: a connection that sends them without end is ended, and others go on.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { authority, startBefore } from '../running-front.ts'
import type { RunningFront } from '../running-front.ts'

let running: RunningFront
beforeEach(async () => void (running = await startBefore(createServer((_request, response) => response.end('ok')))))
afterEach(() => running.stop())

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8, continuation: 9 }
const END_STREAM = 1
const END_HEADERS = 4

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Header fields that nothing compresses (RFC 7541, section 6.2.2). */
const block = (...fields: (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(
    fields.map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]),
    ),
  )

const request = (method: string): Buffer =>
  block([':method', method], [':scheme', 'https'], [':path', '/'], [':authority', 'h'])

const many = (one: Buffer): Buffer => Buffer.concat(Array<Buffer>(100).fill(one))

function* forEver(first: Buffer, then: (n: number) => Buffer): Generator<Buffer, never> {
  yield first
  for (let n = 0; ; n++) yield then(n)
}

const NOTHING = Buffer.alloc(0)

test.each<[what: string, frames: () => Generator<Buffer, never>]>([
  [
    'a head without an end',
    () =>
      forEver(frame(TYPE.headers, 0, 1, request('GET')), () =>
        frame(TYPE.continuation, 0, 1, block(['x-a', 'y'.repeat(100)])),
      ),
  ],
  [
    'continuations of nothing',
    () => forEver(frame(TYPE.headers, 0, 1, request('GET')), () => many(frame(TYPE.continuation, 0, 1))),
  ],
  ['pings', () => forEver(NOTHING, () => many(frame(TYPE.ping, 0, 0, Buffer.alloc(8))))],
  ['settings', () => forEver(NOTHING, () => many(frame(TYPE.settings, 0, 0)))],
  [
    'empty data',
    () => forEver(frame(TYPE.headers, END_HEADERS, 1, request('POST')), () => many(frame(TYPE.data, 0, 1))),
  ],
  [
    'requests that are cancelled at once',
    () =>
      forEver(NOTHING, (n) =>
        Buffer.concat([
          frame(TYPE.headers, END_HEADERS | END_STREAM, 2 * n + 1, request('GET')),
          frame(TYPE.reset, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8])),
        ]),
      ),
  ],
  [
    'windows beyond what there can be',
    () => forEver(NOTHING, () => frame(TYPE.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))),
  ],
])('%s', async (_what, frames) => {
  const { port } = running.front
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  // nothing of what the server answers is read
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(TYPE.settings, 0, 0)]))
  const all = frames()
  const send = (): void => {
    for (let n = 0; n < 20 && !socket.destroyed; n++)
      if (!socket.write(all.next().value)) return void socket.once('drain', send)
    if (!socket.destroyed) setImmediate(send)
  }
  send()
  await closed
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate })
  const [headers] = await once(session.request({ ':path': '/' }), 'response')
  expect(headers).toMatchObject({ ':status': 200 })
  session.destroy()
})
