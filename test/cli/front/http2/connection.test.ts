// The front as a server of HTTP/2: a real client, and an engine of this test.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, constants } from 'node:http2'
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  SecureClientSessionOptions,
} from 'node:http2'
import { createServer as createSocketServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FRONT_STATEMENT } from '../../../../src/authentication/front-statement.ts'
import { issue } from '../../../../src/cli/data-directory/certificate.ts'
import type { Credential } from '../../../../src/cli/data-directory/certificate.ts'
import type { FrontOptions } from '../../../../src/cli/front/front.ts'
import { authority, startBefore } from '../running-front.ts'
import type { RunningFront } from '../running-front.ts'
import { END_HEADERS, END_STREAM, FRAME, frame, framesIn, headerBlock, INDEXED_400, PREFACE } from './frames.ts'
import type { Frame } from './frames.ts'

let running: RunningFront
/** The engine's connections, in the order in which they came. */
let connections: Socket[]
let sessions: ClientHttp2Session[]

beforeEach(() => {
  connections = []
  sessions = []
})
afterEach(async () => {
  sessions.forEach((session) => session.destroy())
  connections.forEach((socket) => socket.destroy())
  await running.stop()
})

async function before(engine: Server, options: Partial<FrontOptions> = {}): Promise<void> {
  engine.on('connection', (socket: Socket) => connections.push(socket.on('error', () => {})))
  running = await startBefore(engine, options)
}

function open(client?: Credential, options: SecureClientSessionOptions = {}): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${running.front.port}`, {
    ca: authority.certificate,
    maxSendHeaderBlockLength: 1 << 22,
    maxSessionMemory: 4_000,
    ...(client && { cert: client.certificate, key: client.key }),
    ...options,
  })
  sessions.push(session.on('error', () => {}))
  return session
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The code of the reset that ended the stream; 0 where it ended in order. */
  readonly code: number
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let headers: IncomingHttpHeaders = {}
  let text = ''
  stream.on('response', (given) => (headers = given))
  stream.on('data', (data: Buffer) => (text += data.toString()))
  stream.on('error', () => {})
  await new Promise((resolve) => stream.once('close', resolve))
  return { status: Number(headers[':status']), headers, text, code: stream.rstCode }
}

const ask = (session: ClientHttp2Session, head: OutgoingHttpHeaders, body?: string): Promise<Answer> => {
  const stream = session.request(head, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return answerOf(stream)
}

/** An engine that echoes the request. */
const echo = (): Server =>
  createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body: Buffer[] = []
    for await (const part of request) body.push(part as Buffer)
    const { method, url, headers } = request
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(body).toString() }))
  })

const LONG = { head: 1e9, body: 1e9, idle: 1e9, answer: 1e9, close: 1e9 }

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a request', () => {
  test.each<[what: string, head: OutgoingHttpHeaders, body: string | undefined, arrives: object]>([
    ['without a body', { ':path': '/a?b=%2f', 'x-a': '1' }, undefined, { method: 'GET', url: '/a?b=%2f', body: '' }],
    ['with a body', { ':path': '/a', ':method': 'POST' }, 'hi', { method: 'POST', body: 'hi' }],
    [
      'with a length',
      { ':path': '/a', ':method': 'PUT', 'content-length': 2 },
      'hi',
      { method: 'PUT', headers: expect.objectContaining({ 'content-length': '2' }), body: 'hi' },
    ],
    ['with a large body', { ':path': '/a', ':method': 'POST' }, 'x'.repeat(3e6), { body: 'x'.repeat(3e6) }],
    [
      'with repeated headers',
      { ':path': '/a', 'impersonate-group': ['a', 'b'] },
      undefined,
      { headers: expect.objectContaining({ 'impersonate-group': 'a, b' }) },
    ],
  ])('%s', async (_what, head, body, arrives) => {
    await before(echo())
    const { status, text } = await ask(open(), head, body)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject(arrives)
  })

  test('of many at once each has its answer, over connections that are used again', async () => {
    await before(echo())
    const session = open()
    for (let turn = 0; turn < 3; turn++) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(session, { ':path': `/${n}` })))
      expect(answers.map(({ text }) => (JSON.parse(text) as { url: string }).url)).toEqual(
        answers.map((_, n) => `/${n}`),
      )
    }
    expect(connections.length).toBeLessThanOrEqual(50)
    session.destroy()
    await until(() => connections.every(({ destroyed }) => destroyed))
  })

  test('that expects 100 Continue gets it', async () => {
    await before(echo())
    const stream = open().request({ ':path': '/', ':method': 'POST', expect: '100-continue' })
    await once(stream, 'continue')
    stream.end('hi')
    expect((await answerOf(stream)).text).toContain('"body":"hi"')
  })

  test.each<[what: string, head: OutgoingHttpHeaders, status: number]>([
    ['for a statement of its own', { ':path': '/', [FRONT_STATEMENT.toLowerCase()]: '{}' }, 400],
    ['that expects something else', { ':path': '/', ':method': 'POST', expect: 'x' }, 417],
    ['with a path of 66,000 octets', { ':path': `/${'x'.repeat(66_000)}` }, 414],
  ])('%s is refused, and the next one is not', async (_what, head, status) => {
    await before(echo())
    const session = open()
    expect(await ask(session, head)).toMatchObject({ status })
    expect(connections).toHaveLength(0)
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200 })
  })

  // a client's library does not send it
  test.each(['GET', 'HEAD'])('to %s with a header of HTTP/1.1 is refused', async (method) => {
    await before(echo())
    const socket = connectTls({
      host: '127.0.0.1',
      port: running.front.port,
      ca: authority.certificate,
      ALPNProtocols: ['h2'],
    })
    await once(socket, 'secureConnect')
    const head = headerBlock(
      [':method', method],
      [':scheme', 'https'],
      [':path', '/'],
      [':authority', 'h'],
      ['http2-settings', 'x'],
    )
    const { headers, settings } = FRAME
    socket.write(Buffer.concat([PREFACE, frame(settings, 0, 0), frame(headers, END_HEADERS | END_STREAM, 1, head)]))
    const seen: Frame[] = []
    let octets = Buffer.alloc(0)
    for await (const data of socket) {
      octets = Buffer.concat([octets, data as Buffer])
      seen.splice(0, Infinity, ...framesIn(octets))
      if (seen.some(({ type, flags }) => type !== settings && (flags & END_STREAM) !== 0)) break
    }
    expect(seen.find(({ type }) => type === headers)?.payload[0]).toBe(INDEXED_400)
    expect(seen.map(({ type }) => type)).not.toContain(FRAME.reset)
    expect(connections).toHaveLength(0)
  })

  test('whose body has another length than it says does not reach its end', async () => {
    const ended: string[] = []
    let asked = false
    await before(
      createServer((request) => {
        asked = true
        request.on('error', () => ended.push('error')).resume()
        request.on('end', () => ended.push('end'))
      }),
    )
    const head = { ':path': '/', ':method': 'POST', 'content-length': 5 }
    const stream = open().request(head)
    stream.write('h')
    await until(() => asked)
    stream.end('i')
    expect(await answerOf(stream)).toMatchObject({ code: constants.NGHTTP2_PROTOCOL_ERROR })
    await until(() => ended.length > 0)
    expect(ended).toEqual(['error'])
  })

  test('is stated with the certificate of its connection', async () => {
    await before(echo())
    const client = await issue(authority, { subject: { commonName: 'jane' }, usage: 'client', days: 1 }, new Date())
    const session = open(client)
    for (let turn = 0; turn < 2; turn++) {
      const { text } = await ask(session, { ':path': '/' })
      expect(text).toContain(String.raw`\"certVerified\":\"SUCCESS\"`)
    }
    expect((await ask(open(), { ':path': '/' })).text).not.toContain('certVerified')
  })
})

describe('an answer', () => {
  test('has the headers of the engine, and the time', async () => {
    await before(
      createServer((_request, response) => {
        response.sendDate = false
        response.writeHead(201, [
          ['Warning', '1'],
          ['Warning', '2'],
          ['X-A', 'b'],
        ])
        response.end('hi')
      }),
    )
    const { status, headers, text } = await ask(open(), { ':path': '/' })
    expect({ status, text }).toEqual({ status: 201, text: 'hi' })
    expect(headers).toMatchObject({ warning: '1, 2', 'x-a': 'b', date: expect.stringMatching(/GMT$/) })
    expect(headers).not.toHaveProperty('transfer-encoding')
  })

  test.each(['HEAD', 'GET'])('to %s without content', async (method) => {
    await before(createServer((_request, response) => void response.writeHead(204).end()))
    const session = open()
    for (let turn = 0; turn < 2; turn++)
      expect(await ask(session, { ':path': '/', ':method': method })).toMatchObject({ status: 204, text: '', code: 0 })
    expect(connections).toHaveLength(1)
  })

  test('with a status that HTTP/2 does not have is 500', async () => {
    await before(createServer((_request, response) => void response.writeHead(500, '600').end('no')))
    expect(await ask(open(), { ':path': '/' })).toMatchObject({ status: 500, text: 'no' })
  })

  // a server behind the engine may have written them
  test.each([
    'TE: x',
    'HTTP2-Settings: x',
    'Keep-Alive: x',
    'Upgrade: h2c',
    'Etag: 1\r\nEtag: 2',
    'Content-Type: a\r\nContent-Type: b',
    'Set-Cookie: a\r\nSet-Cookie: b',
    'X: \xff',
    'X-\xe9: y',
    ': y',
    ':status: 201',
    'X Y: z',
    'X: a\0b',
  ])('with the header %j leaves the others alone', async (line) => {
    await before(
      createSocketServer((socket) =>
        socket.on('data', (data: Buffer) => {
          const isOdd = data.toString().startsWith('GET /odd')
          socket.write(`HTTP/1.1 200 OK\r\n${isOdd ? `${line}\r\n` : ''}Content-Length: 2\r\n\r\nhi`, 'latin1')
        }),
      ),
    )
    const session = open()
    const [odd, plain] = await Promise.all(['/odd', '/'].map((path) => ask(session, { ':path': path })))
    expect(odd).toMatchObject(odd!.code === 0 ? { text: 'hi' } : { text: '' })
    expect(plain).toMatchObject({ status: 200, text: 'hi', code: 0 })
    expect(await ask(session, { ':path': '/' })).toMatchObject({ text: 'hi' })
  })

  test('that ends with the engine’s connection', async () => {
    await before(
      createSocketServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nhi'))),
    )
    expect(await ask(open(), { ':path': '/' })).toMatchObject({ status: 200, text: 'hi', code: 0 })
  })

  test.each([
    ['with a length', 'Content-Length: 9\r\n\r\nhi'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n'],
    ['in its head', 'Content-Le'],
  ])('%s that the engine breaks off is an error', async (_what, text) => {
    await before(
      createSocketServer((socket) => void socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${text}`))),
    )
    expect(await ask(open(), { ':path': '/' })).toMatchObject({ code: constants.NGHTTP2_INTERNAL_ERROR })
  })

  test('that comes before the whole body was sent is not lost', async () => {
    await before(
      createSocketServer((socket) => {
        socket.once('data', () =>
          socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig'),
        )
      }),
    )
    const session = open()
    const answer = await ask(session, { ':path': '/', ':method': 'POST' }, 'x'.repeat(5_000_000))
    expect(answer).toMatchObject({ status: 413, text: 'big' })
  })

  test('arrives as it is written, and ends at the engine when the client cancels', async () => {
    const gone: string[] = []
    await before(
      createServer((request, response) => {
        response.write('one\n')
        setTimeout(() => response.write('two\n'), 20)
        response.on('close', () => gone.push(String(request.url)))
      }),
    )
    const session = open()
    const [first, second] = ['/1', '/2'].map((path) => session.request({ ':path': path }))
    for (const stream of [first!, second!]) {
      let text = ''
      stream.on('data', (data: Buffer) => (text += data.toString()))
      await until(() => text === 'one\ntwo\n')
    }
    first!.close(constants.NGHTTP2_CANCEL)
    await until(() => gone.length > 0)
    expect(gone).toEqual(['/1'])
    session.destroy()
    await until(() => gone.length > 1)
  })

  test('that was cancelled leaves room for later ones', async () => {
    await before(createServer((request, response) => response.end(request.url === '/' ? 'ok' : 'x'.repeat(1 << 21))))
    const session = open()
    for (let n = 0; n < 300; n++) {
      const long = session.request({ ':path': '/long' }).on('error', () => {})
      long.on('response', () => setTimeout(() => long.close(constants.NGHTTP2_CANCEL), 1))
      await new Promise((resolve) => long.once('close', resolve))
    }
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200, text: 'ok' })
  })

  test('that comes early leaves room for later ones', async () => {
    await before(createServer((request, response) => response.writeHead(request.url === '/' ? 200 : 413).end('ok')))
    const session = open()
    for (let n = 0; n < 150; n++)
      expect(await ask(session, { ':path': '/early', ':method': 'POST' }, 'x'.repeat(1_000_000))).toMatchObject({
        status: 413,
        code: 0,
      })
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200, text: 'ok' })
  })

  test.each([2, 1 << 20])('of %d octets that nobody takes is broken off', async (length) => {
    await before(
      createServer((_request, response) => response.end('x'.repeat(length))),
      {
        deadlines: { ...LONG, answer: 1 },
      },
    )
    const stuck = open(undefined, { settings: { initialWindowSize: 0 } }).request({ ':path': '/' })
    expect(await answerOf(stuck)).toMatchObject({ status: 200, text: '', code: constants.NGHTTP2_INTERNAL_ERROR })
  })

  test('that nobody reads does not hold up another one', async () => {
    await before(
      createServer((request, response) => {
        if (request.url === '/short') return void response.end('short')
        const more = (): void => void (response.write('x'.repeat(1 << 16)) && setImmediate(more))
        response.on('drain', more)
        more()
      }),
    )
    const session = open()
    const long = session.request({ ':path': '/long' })
    await once(long, 'response') // and its content is not read
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await ask(session, { ':path': '/short' })).toMatchObject({ text: 'short' })
    long.close()
  })

  test('comes while the engine takes nothing of the body of another request', async () => {
    await before(
      createServer((request, response) => {
        if (request.url !== '/stuck') request.resume().on('end', () => response.end('done'))
      }),
    )
    const session = open()
    const stuck = session.request({ ':path': '/stuck', ':method': 'POST' })
    stuck.write('x'.repeat(2_000_000))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const answer = await ask(session, { ':path': '/', ':method': 'POST' }, 'y'.repeat(1_000_000))
    expect(answer).toMatchObject({ text: 'done' })
    stuck.close()
  })
})

describe('what does not come', () => {
  test('a request', async () => {
    await before(echo(), { deadlines: { ...LONG, head: 1 } })
    await once(open(), 'close')
  })

  test('another request', async () => {
    await before(echo(), { deadlines: { ...LONG, idle: 1 } })
    const session = open()
    const closed = once(session, 'close')
    expect(await ask(session, { ':path': '/' })).toMatchObject({ status: 200 })
    await closed
  })

  test('the rest of a body, which the engine is told', async () => {
    let isAborted = false
    await before(
      createServer((request) => void request.on('error', () => (isAborted = true)).resume()),
      { deadlines: { ...LONG, body: 1 } },
    )
    const stream = open().request({ ':path': '/', ':method': 'POST' })
    stream.write('hi')
    expect(await answerOf(stream)).toMatchObject({ status: 408 })
    await until(() => isAborted)
  })
})

describe('more than there may be', () => {
  test('requests count as connections; further ones get an error', async () => {
    await before(
      createServer(() => {}),
      { limits: { total: 3, perAddress: 3 } },
    )
    const session = open()
    for (const path of ['/1', '/2']) session.request({ ':path': path }).on('error', () => {})
    await until(() => connections.length === 2)
    expect(await ask(session, { ':path': '/3' })).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
  })

  test('requests of one connection wait for the client to get answers', async () => {
    await before(
      createServer(() => {}),
      { http2Streams: 2 },
    )
    const session = open()
    await once(session, 'remoteSettings')
    expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 2 })
    for (const path of ['/1', '/2', '/3']) session.request({ ':path': path }).on('error', () => {})
    await until(() => connections.length === 2)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(connections).toHaveLength(2)
  })

  test('requests that are cancelled at once end the connection', async () => {
    await before(createServer(() => {}))
    const session = open()
    const closed = new Promise((resolve) => session.once('close', resolve))
    let asked = 0
    const flood = setInterval(() => {
      for (let n = 0; n < 90 && !session.closed && !session.destroyed; n++, asked++)
        session
          .request({ ':path': '/' })
          .on('error', () => {})
          .close(constants.NGHTTP2_CANCEL)
    }, 5)
    await closed
    clearInterval(flood)
    expect(asked).toBeLessThan(20_000)
  })
})

describe('the protocol', () => {
  const protocolOf = async (offered: string[]): Promise<string | false | null> => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: running.front.port,
      ca: authority.certificate,
      ALPNProtocols: offered,
    })
    await once(socket, 'secureConnect')
    socket.destroy()
    return socket.alpnProtocol
  }

  test('is HTTP/2 where the client has it', async () => {
    await before(echo())
    expect(await protocolOf(['http/1.1', 'h2'])).toBe('h2')
    expect(await protocolOf(['http/1.1'])).toBe('http/1.1')
  })

  test('is HTTP/1.1 where HTTP/2 is off', async () => {
    await before(echo(), { http2Streams: 0 })
    expect(await protocolOf(['h2', 'http/1.1'])).toBe('http/1.1')
  })
})

test('at shutdown idle connections close at once, and requests in flight may finish', async () => {
  let answer: (() => void) | undefined
  await before(createServer((_request, response) => void (answer = () => response.end('done'))))
  const [idle, busy] = [open(), open()]
  await once(idle, 'remoteSettings')
  const idleClosed = once(idle, 'close')
  const pending = ask(busy, { ':path': '/' })
  await until(() => answer !== undefined)
  const closed = running.front.close(60_000)
  await idleClosed
  answer!()
  await closed
  expect(await pending).toMatchObject({ text: 'done' })
})
