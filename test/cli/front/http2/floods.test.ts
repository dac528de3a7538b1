// Frames that cost their sender nothing: a connection that sends them without end is ended, and others go on.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MOST_SILENT } from '../../../../src/cli/front/stalled-clients.ts'
import { authority, startBefore } from '../running-front.ts'
import type { RunningFront } from '../running-front.ts'
import { END_HEADERS, END_STREAM, FRAME, frame, headerBlock, PREFACE } from './frames.ts'

let running: RunningFront
/** Connections of the front to the engine. */
let toEngine: number
beforeEach(async () => {
  toEngine = 0
  const engine = createServer((_request, response) => response.end('ok'))
  running = await startBefore(engine.on('connection', () => toEngine++))
})
afterEach(() => running.stop())

const request = (method: string): Buffer =>
  headerBlock([':method', method], [':scheme', 'https'], [':path', '/'], [':authority', 'h'])

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
      forEver(frame(FRAME.headers, 0, 1, request('GET')), () =>
        frame(FRAME.continuation, 0, 1, headerBlock(['x-a', 'y'.repeat(100)])),
      ),
  ],
  [
    'continuations of nothing',
    () => forEver(frame(FRAME.headers, 0, 1, request('GET')), () => many(frame(FRAME.continuation, 0, 1))),
  ],
  ['pings', () => forEver(NOTHING, () => many(frame(FRAME.ping, 0, 0, Buffer.alloc(8))))],
  ['settings', () => forEver(NOTHING, () => many(frame(FRAME.settings, 0, 0)))],
  [
    'empty data',
    () => forEver(frame(FRAME.headers, END_HEADERS, 1, request('POST')), () => many(frame(FRAME.data, 0, 1))),
  ],
  [
    'requests that are cancelled at once',
    () =>
      forEver(NOTHING, (n) =>
        Buffer.concat([
          frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * n + 1, request('GET')),
          frame(FRAME.reset, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8])),
        ]),
      ),
  ],
  [
    'windows beyond what there can be',
    () => forEver(NOTHING, () => frame(FRAME.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))),
  ],
])('%s', async (_what, frames) => {
  const { port } = running.front
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ALPNProtocols: ['h2'] })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  // nothing of what the server answers is read
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]))
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

test('requests that are cancelled at once take no connections to the engine, and hold up nobody', async () => {
  const { port } = running.front
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ALPNProtocols: ['h2'] })
  await once(
    socket.on('error', () => {}),
    'secureConnect',
  )
  const cancelled = (n: number) =>
    Buffer.concat([
      frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * n + 1, request('GET')),
      frame(FRAME.reset, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8])),
    ])
  socket.resume().write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]))
  socket.write(Buffer.concat(Array.from({ length: 900 }, (_, n) => cancelled(n))))
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate })
  const [headers] = await once(session.request({ ':path': '/' }), 'response')
  expect(headers).toMatchObject({ ':status': 200 })
  // a request that begins in a turn may be cancelled in the next one
  expect(toEngine).toBeLessThan(100)
  session.destroy()
  socket.destroy()
})

/** A field that later heads may name (RFC 7541, section 6.2.1), and its number then. */
const REMEMBERED = Buffer.concat([
  Buffer.from([0x40, 3]),
  Buffer.from('x-a'),
  Buffer.from([120]),
  Buffer.alloc(120, 'y'),
])
const NAMED = 0x80 | 62

test('a head that names a field a thousand times ends its connection', async () => {
  const { port } = running.front
  const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ALPNProtocols: ['h2'] })
  await once(
    socket.on('error', () => {}),
    'secureConnect',
  )
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const head = (id: number, more: Buffer) =>
    frame(FRAME.headers, END_HEADERS | END_STREAM, id, Buffer.concat([request('GET'), more]))
  socket.resume().write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), head(1, REMEMBERED)]))
  socket.write(Buffer.concat(Array.from({ length: 90 }, (_, n) => head(2 * n + 3, Buffer.alloc(1_900, NAMED)))))
  await closed
  expect(toEngine).toBeLessThan(2)
})

test('who sends the same long head a thousand times is served', async () => {
  const { port } = running.front
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate })
  const authorization = `Bearer ${'t'.repeat(3_900)}`
  for (let n = 0; n < 1_000; n += 50) {
    const answers = Array.from({ length: 50 }, async () => {
      const stream = session.request({ ':path': '/', authorization })
      const [headers] = await once(stream.resume(), 'response')
      return headers as Record<string, unknown>
    })
    for (const headers of await Promise.all(answers)) expect(headers).toMatchObject({ ':status': 200 })
  }
  session.destroy()
})

test('of many heads without an end only as many stay as have room, whatever else their connections have', async () => {
  const { port } = running.front
  const open = async () => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ALPNProtocols: ['h2'] })
    await once(
      socket.on('error', () => {}),
      'secureConnect',
    )
    socket.resume().write(
      Buffer.concat([
        PREFACE,
        frame(FRAME.settings, 0, 0),
        // its body does not end either, so the connection is in use
        frame(FRAME.headers, END_HEADERS, 1, request('POST')),
        frame(FRAME.headers, 0, 3, request('GET')),
        frame(FRAME.continuation, 0, 3, headerBlock(['x-a', 'y'.repeat(100)])),
      ]),
    )
    return socket
  }
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate })
  let asked = 0
  session.on('ping', () => asked++)
  const sockets: TLSSocket[] = []
  for (let n = 0; n < MOST_SILENT + 40; n += 20) sockets.push(...(await Promise.all(Array.from({ length: 20 }, open))))
  const left = () => sockets.filter(({ closed }) => !closed).length
  await vi.waitFor(() => expect(left()).toBeLessThanOrEqual(MOST_SILENT), 30_000)
  expect(left()).toBeGreaterThan(MOST_SILENT - 40)
  const [headers] = await once(session.request({ ':path': '/' }), 'response')
  expect(headers).toMatchObject({ ':status': 200 })
  // who has nothing to say is not asked again and again
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  const before = asked
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect({ before: before > 0, since: asked - before }).toEqual({ before: true, since: 0 })
  session.destroy()
  for (const socket of sockets) socket.destroy()
}, 60_000)
