// The front before an engine of the test's own, which is Node's HTTP server or a bare socket.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAuthority, issue } from '../../src/cli/certificate.ts'
import type { Credential } from '../../src/cli/certificate.ts'
import { startFront } from '../../src/cli/front.ts'
import type { Front } from '../../src/cli/front.ts'

const CF = 'kedge-cf-secret'
const SUBJECT = { commonName: 'ca' }
const authority = createAuthority(SUBJECT, new Date(), 1)
const serverCertificate = issue(
  authority,
  SUBJECT,
  { subject: { commonName: 's' }, usage: 'server', names: ['127.0.0.1'], days: 1 },
  new Date(),
)

let directory: string
let engine: Server | undefined
let front: Front
let opened: Socket[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kedge-front-'))
  opened = []
})
afterEach(async () => {
  opened.forEach((socket) => socket.destroy())
  await front.close(0)
  await new Promise((resolve) => (engine ? engine.close(resolve) : resolve(undefined)))
  rmSync(directory, { recursive: true })
})

async function before(server: Server, engineReady: Promise<void> = Promise.resolve()): Promise<void> {
  engine = server
  server.on('connection', (socket) => opened.push(socket))
  const path = join(directory, 'engine.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  front = await startFront({
    host: '127.0.0.1',
    port: 0,
    server: serverCertificate,
    clientAuthorities: [authority.certificate],
    cfHeader: CF,
    engine: () => engineReady.then(() => path),
  })
}

/** Answers with what arrived. */
const echo = (): Server =>
  createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body: Buffer[] = []
    for await (const part of request) body.push(part as Buffer)
    response.end(
      JSON.stringify({
        method: request.method,
        target: request.url,
        cf: request.headers[CF] === undefined ? null : JSON.parse(String(request.headers[CF])),
        body: Buffer.concat(body).toString(),
      }),
    )
  })

function open(client?: Credential): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: front.port,
      ca: authority.certificate,
      ...(client && { cert: client.certificate, key: client.key }),
    })
    opened.push(socket)
    socket.once('secureConnect', () => resolve(socket)).once('error', reject)
  })
}

/** All that arrives until the connection closes, or until it contains `until`. */
function read(socket: Socket, until?: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1')
      if (until !== undefined && text.includes(until)) resolve(text)
    })
    socket.on('close', () => resolve(text))
    socket.on('error', () => {})
  })
}

async function exchange(request: string, client?: Credential): Promise<string> {
  const socket = await open(client)
  socket.write(request, 'latin1')
  return read(socket)
}

const bodyOf = (answer: string): unknown =>
  JSON.parse(Buffer.from(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1), 'latin1').toString())
const HEADERS = 'Host: h\r\nConnection: close\r\n'

describe('requests', () => {
  test.each([
    ['as it was sent', '/a/../b//c%2f%zz/./?x=%41|{}', '/a/../b//c%2f%zz/./?x=%41|{}'],
    ['with what no URL may hold', '/a<\xfc>#`b', '/a%3C%FC%3E%23%60b'],
    ['in absolute form', 'https://h:1/a?b', '/a?b'],
  ])('the target arrives %s', async (_name, target, expected) => {
    await before(echo())
    expect(bodyOf(await exchange(`GET ${target} HTTP/1.1\r\n${HEADERS}\r\n`))).toMatchObject({
      target: expected,
      cf: null,
    })
  })

  test('a method that the engine does not know is told beside the request', async () => {
    await before(echo())
    expect(bodyOf(await exchange(`FOO /a HTTP/1.1\r\n${HEADERS}Content-Length: 2\r\n\r\nhi`))).toEqual({
      method: 'POST',
      target: '/a',
      cf: { method: 'FOO' },
      body: 'hi',
    })
  })

  test('several at once are answered in order', async () => {
    await before(echo())
    const first = 'POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'
    const answer = await exchange(`${first}\r\nGET /2 HTTP/1.1\r\n${HEADERS}\r\n`)
    expect(answer.match(/"target":"[^"]+"/g)).toEqual(['"target":"/1"', '"target":"/2"'])
  })

  test('a head and a body may come octet by octet', async () => {
    await before(echo())
    const socket = await open()
    for (const char of `POST /x HTTP/1.1\r\n${HEADERS}Content-Length: 5\r\n\r\nhello`) {
      socket.write(char)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bodyOf(await read(socket))).toMatchObject({ method: 'POST', body: 'hello' })
  })

  test('what two readers could understand differently is refused', async () => {
    await before(echo())
    const answer = await exchange('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd')
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    expect(opened.length).toBe(1) // the engine heard nothing of it
  })

  test('one that comes before the engine is ready waits for it', async () => {
    let ready: (() => void) | undefined
    await before(echo(), new Promise((resolve) => (ready = resolve)))
    const answer = exchange(`GET /early HTTP/1.1\r\n${HEADERS}\r\n`)
    setTimeout(() => ready?.(), 100)
    expect(bodyOf(await answer)).toMatchObject({ target: '/early' })
  })
})

describe('client certificates', () => {
  const subject = { commonName: 'jané', organizations: ['system:masters', 'x,y'] }

  test('one of our authority', async () => {
    await before(echo())
    const client = issue(authority, SUBJECT, { subject, usage: 'client', days: 1 }, new Date())
    const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as { cf: object }
    expect(cf).toEqual({
      tlsClientAuth: {
        certPresented: '1',
        certVerified: 'SUCCESS',
        certRevoked: '0',
        certRFC9440: `:${client.certificate.replace(/-----[^-]+-----|\n/g, '')}:`,
        certChainRFC9440: '',
      },
    })
  })

  test('one of another authority', async () => {
    await before(echo())
    const stranger = createAuthority(SUBJECT, new Date(), 1)
    const client = issue(stranger, SUBJECT, { subject, usage: 'client', days: 1 }, new Date())
    const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as { cf: object }
    expect(cf).toMatchObject({
      tlsClientAuth: { certPresented: '1', certVerified: expect.stringMatching(/^FAILED:[A-Z_]+$/) },
    })
  })

  test('every request of a connection has it, one without a certificate never', async () => {
    await before(echo())
    const client = issue(authority, SUBJECT, { subject, usage: 'client', days: 1 }, new Date())
    const two = `GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\n${HEADERS}\r\n`
    expect((await exchange(two, client)).match(/"certVerified":"SUCCESS"/g)).toHaveLength(2)
    expect((await exchange(two)).match(/"cf":null/g)).toHaveLength(2)
  })
})

describe('answers', () => {
  test('a stream arrives as it is written, and ends at the engine when the client goes', async () => {
    let gone: (() => void) | undefined
    const ended = new Promise<void>((resolve) => (gone = resolve))
    await before(
      createServer((_request, response) => {
        response.write('one\n')
        setTimeout(() => response.write('two\n'), 50)
        response.on('close', () => gone?.())
      }),
    )
    const socket = await open()
    socket.write('GET /?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n')
    expect(await read(socket, 'two\n')).toContain('one\n')
    socket.destroy()
    await ended
  })

  test('one that comes before the whole body was sent is not lost', async () => {
    await before(
      createSocketServer((socket) => {
        socket.once('data', () => {
          socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig')
          socket.destroySoon()
        })
        socket.on('error', () => {})
      }),
    )
    const size = 5_000_000
    const socket = await open()
    socket.on('error', () => {})
    socket.write(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${size}\r\n\r\n`)
    socket.write('x'.repeat(size))
    expect(await read(socket)).toMatch(/^HTTP\/1.1 413 [^]*big$/)
  })

  test('an upgraded connection is a tunnel both ways', async () => {
    const server = createServer()
    server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      socket.on('data', (data) => socket.write(`<${String(data)}>`))
    })
    await before(server)
    const socket = await open()
    socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    await read(socket, '\r\n\r\n')
    socket.write('GET \x00\xff not HTTP')
    expect(await read(socket, '>')).toMatch(/<GET .* not HTTP>/s)
  })

  test('an engine that closes an idle connection does not end the client’s', async () => {
    const server = createServer((_request, response) => response.end('ok'))
    server.keepAliveTimeout = 1
    await before(server)
    const socket = await open()
    const request = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
    socket.write(request)
    await read(socket, 'ok')
    await Promise.all(
      opened.filter((one) => one !== socket).map((one) => new Promise((resolve) => one.once('close', resolve))),
    )
    socket.write(request)
    expect(await read(socket, 'ok')).toContain('200 OK')
  })
})

test('at the end, idle connections close at once and what is under way may finish', async () => {
  await before(createServer((_request, response) => void setTimeout(() => response.end('done'), 100)))
  const [idle, busy] = [await open(), await open()]
  busy.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
  const [first, second] = [read(idle), read(busy)]
  await new Promise((resolve) => setTimeout(resolve, 50))
  await front.close(1_000)
  expect(await first).toBe('')
  expect(await second).toContain('done')
})
