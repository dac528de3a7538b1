// The front before an engine of this test: Node's HTTP server or a bare socket.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect as connectSocket, createServer as createSocketServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import type { Credential } from '../../../src/cli/data-directory/certificate.ts'
import type { ClientCertificate } from '../../../src/authentication/client-certificate.ts'
import { pemText } from '../../../src/x509/pem.ts'
import { authorityBit, client as clientUse, CN, keyUsage, makeCertificate } from '../../x509/make-certificate.ts'
import type { Made } from '../../x509/make-certificate.ts'
import { FRONT_STATEMENT } from '../../../src/authentication/front-statement.ts'
import type { Front, FrontOptions } from '../../../src/cli/front/front.ts'
import { MOST_OWING } from '../../../src/cli/front/stalled-clients.ts'
import { authority, startBefore } from './running-front.ts'
import type { RunningFront } from './running-front.ts'

const CF = FRONT_STATEMENT.toLowerCase()
const SUBJECT = { commonName: 'ca' }

let running: RunningFront
let front: Front
let opened: Socket[]

beforeEach(() => void (opened = []))
afterEach(async () => {
  opened.forEach((socket) => socket.destroy())
  await running.stop()
})

async function before(server: Server, engineReady?: Promise<void>, options: Partial<FrontOptions> = {}): Promise<void> {
  server.on('connection', (socket) => opened.push(socket))
  running = await startBefore(server, options, engineReady)
  front = running.front
}

/** An engine that echoes the request. */
const echo = (): Server =>
  createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body: Buffer[] = []
    try {
      for await (const part of request) body.push(part as Buffer)
    } catch {
      return // the client has gone
    }
    response.end(
      JSON.stringify({
        method: request.method,
        target: request.url,
        cf: request.headers[CF] === undefined ? null : JSON.parse(String(request.headers[CF])),
        body: Buffer.concat(body).toString(),
      }),
    )
  })

function open(client?: Credential, session?: Buffer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: front.port,
      ca: authority.certificate,
      ...(client && { cert: client.certificate, key: client.key }),
      ...(session && { session }),
    })
    opened.push(socket)
    socket.once('secureConnect', () => resolve(socket)).once('error', reject)
  })
}

/** Reads until the connection closes, or until the text contains `until`. */
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
/** The fields that bind a front's statement to its request. */
const statement = {
  connection: expect.stringMatching(/^[\w-]{22}$/),
  request: 1,
  made: expect.any(Number),
  clientAddress: '127.0.0.1',
  mac: expect.stringMatching(/^[\w+/]{43}=$/),
}
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

  test('a method that the engine does not know is stated beside the request', async () => {
    await before(echo())
    expect(bodyOf(await exchange(`FOO /a HTTP/1.1\r\n${HEADERS}Content-Length: 2\r\n\r\nhi`))).toEqual({
      method: 'POST',
      target: '/a',
      cf: { method: 'FOO', ...statement },
      body: 'hi',
    })
  })

  test.each([
    ['that it passes on', '/api/v1/nodes/n/proxy/x', ''],
    ['whose path has escapes', '/api/v1/nodes/n/p%72ox%79/x', ''],
    ['whose path ends with an escape', '/api/v1/namespaces/a/pods/p/exe%63?command=x', ''],
    ['whose client says for which address it asks', '/apis/example.com/v1', 'X-Forwarded-For: 192.0.2.1\r\n'],
    ['whose client spells that in another way', '/apis/example.com/v1', 'x_forwarded-for: 192.0.2.1\r\n'],
  ])("a request %s is stated with the client's address", async (_name, target, lines) => {
    await before(echo())
    const answer = await exchange(`GET ${target} HTTP/1.1\r\n${HEADERS}${lines}\r\n`)
    expect(bodyOf(answer)).toMatchObject({ target, cf: statement })
  })

  test('pipelined requests are answered in order', async () => {
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

  test('a request that two readers could understand differently is refused', async () => {
    await before(echo())
    const answer = await exchange('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd')
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    expect(opened.length).toBe(1) // the front sent nothing to the engine
  })

  // A webhook may deny with a status of 600 and above, but a Worker's answer has at most 599.
  test('a status above 599 reaches the client', async () => {
    await before(createServer((_, response) => void response.writeHead(500, '600').end('no')))
    expect(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`)).toMatch(
      /^HTTP\/1\.1 600 status code 600\r\n[^]*\r\nno\r\n/,
    )
  })

  test('only the first line of an answer can set its status', async () => {
    const line = 'HTTP/1.1 500 600\r\n'
    await before(
      createServer((_, response) => {
        response.writeHead(200).write('first')
        setTimeout(() => response.end(line), 50)
      }),
    )
    const answer = await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(answer).toContain(line)
  })

  test('a request that comes before the engine is ready waits for it', async () => {
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
    const client = await issue(authority, { subject, usage: 'client', days: 1 }, new Date())
    const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as { cf: object }
    expect(cf).toEqual({
      ...statement,
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
    const stranger = await createAuthority(SUBJECT, new Date(), 1)
    const client = await issue(stranger, { subject, usage: 'client', days: 1 }, new Date())
    const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as { cf: object }
    expect(cf).toMatchObject({
      tlsClientAuth: { certPresented: '1', certVerified: expect.stringMatching(/^FAILED:[A-Z_]+$/) },
    })
  })

  test('one that is itself among the authorities', async () => {
    const other = await createAuthority(SUBJECT, new Date(), 1)
    const client = await issue(other, { subject, usage: 'client', days: 1 }, new Date())
    await before(echo(), undefined, { clientAuthorities: [client.certificate] })
    const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as { cf: object }
    expect(cf).toMatchObject({ tlsClientAuth: { certVerified: 'SUCCESS' } })
  })

  describe('with authorities in between', async () => {
    const now = new Date()
    const extensions = [authorityBit(), keyUsage(5)]
    const root = await makeCertificate(now, { subject: [[CN, 'root']], extensions })
    const middle = await makeCertificate(now, { subject: [[CN, 'middle']], by: root, extensions })
    const noAuthority = await makeCertificate(now, { subject: [[CN, 'middle']], by: root, extensions: clientUse })
    const forged = await makeCertificate(now, { subject: [[CN, 'middle']], extensions, issuer: root.name })
    const junk = await makeCertificate(now, { subject: [[CN, 'junk']], by: root, extensions })
    const past = { from: new Date(now.getTime() - 7_200_000), to: new Date(now.getTime() - 3_600_000) }
    const ended = await makeCertificate(now, { subject: [[CN, 'middle']], by: root, extensions, ...past })
    const told = async (by: Made, ...sent: Made[]) => {
      await before(echo(), undefined, { clientAuthorities: [authority.certificate, root.pem] })
      const leaf = await makeCertificate(now, { subject: [[CN, 'x']], by, extensions: clientUse })
      const certificate = [leaf, ...sent].map(({ pem }) => pem).join('')
      const client = { certificate, key: pemText('PRIVATE KEY', leaf.key) }
      const { cf } = bodyOf(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`, client)) as {
        cf: { tlsClientAuth: ClientCertificate }
      }
      expect(cf.tlsClientAuth.certRFC9440).toBe(leaf.item)
      const { certVerified, certChainRFC9440 } = cf.tlsClientAuth
      return { isVerified: certVerified === 'SUCCESS', chain: certChainRFC9440 }
    }

    test('the engine gets those that the client sent', async () => {
      expect(await told(middle, middle)).toEqual({ isVerified: true, chain: middle.item })
    })

    test('a client is told which authorities are accepted', async () => {
      await before(echo(), undefined, { clientAuthorities: [root.pem] })
      let heard = ''
      const relay = createSocketServer((client) => {
        const server = connectSocket(front.port, '127.0.0.1')
        server.on('data', (data: Buffer) => (heard += data.toString('latin1')))
        client.pipe(server).pipe(client)
        opened.push(client, server)
      })
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
      const { port } = relay.address() as AddressInfo
      // the request for a certificate is readable in this version
      const client = connect({ port, host: '127.0.0.1', ca: authority.certificate, maxVersion: 'TLSv1.2' })
      opened.push(client)
      await new Promise((resolve, reject) => client.once('secureConnect', resolve).once('error', reject))
      relay.close()
      expect(heard).toContain(Buffer.from(root.name).toString('latin1'))
    })

    test('a client that has connected before sends them again', async () => {
      await before(echo(), undefined, { clientAuthorities: [root.pem] })
      const leaf = await makeCertificate(now, { subject: [[CN, 'x']], by: middle, extensions: clientUse })
      const client = { certificate: leaf.pem + middle.pem, key: pemText('PRIVATE KEY', leaf.key) }
      let session: Buffer | undefined
      for (let time = 1; time <= 2; time++) {
        const socket = await open(client, session)
        socket.on('session', (offered: Buffer) => (session = offered))
        socket.write(`GET / HTTP/1.1\r\n${HEADERS}\r\n`)
        expect(bodyOf(await read(socket))).toMatchObject({
          cf: { tlsClientAuth: { certVerified: 'SUCCESS', certChainRFC9440: middle.item } },
        })
      }
    })

    test('roots, and what does not belong to the chain, do no harm', async () => {
      expect(await told(middle, root, junk, middle)).toMatchObject({
        isVerified: true,
        chain: `${junk.item}, ${middle.item}`,
      })
    })

    test.each([
      ['none', middle, []],
      ['one that is no authority', noAuthority, [noAuthority]],
      ['one that only says who signed it', forged, [forged]],
      ['one that has ended', ended, [ended]],
    ])('%s: not verified', async (_, by, sent) => {
      expect(await told(by, ...sent)).toMatchObject({ isVerified: false })
    })
  })

  test('every request of a connection has it, one without a certificate never', async () => {
    await before(echo())
    const client = await issue(authority, { subject, usage: 'client', days: 1 }, new Date())
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

  test.each([2, 100_000])('an answer of %d octets says when it was made', async (length) => {
    await before(
      createServer((_request, response) => {
        response.sendDate = false
        response.end('x'.repeat(length))
      }),
    )
    const answer = await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`)
    expect(answer).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/)
    expect(answer).toMatch(new RegExp(`\r\n\r\n(?:[0-9a-f]+\r\n)?x{${Math.min(length, 1_000)}}`))
  })

  test('an answer that comes before the whole body was sent is not lost', async () => {
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

describe('requests that are told apart', () => {
  const first = 'POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi'

  test('the next one goes to the engine when the answer before it is complete', async () => {
    const asked: string[] = []
    const answer: (() => void)[] = []
    await before(
      createServer((request, response) => {
        asked.push(String(request.url))
        answer.push(() => response.end('x'))
      }),
    )
    const socket = await open()
    socket.write(`${first}GET /2 HTTP/1.1\r\n${HEADERS}\r\n`)
    const answers = read(socket)
    await until(() => asked.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(asked).toEqual(['/1'])
    answer[0]!()
    await until(() => asked.length === 2)
    answer[1]!()
    expect((await answers).match(/200 OK/g)).toHaveLength(2)
  })

  test.each([
    ['a second answer', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny'],
    ['an upgrade that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('an engine that gives %s loses the client', async (_what, text) => {
    await before(createSocketServer((socket) => void socket.once('data', () => socket.write(text))))
    expect(await exchange(first)).toBe('')
  })

  test('a chunked body arrives in chunks of the front’s own, without extensions and trailers', async () => {
    const heard: Buffer[] = []
    await before(createSocketServer((socket) => void socket.on('data', (data) => heard.push(data as Buffer))))
    const socket = await open()
    socket.write('POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: CHUNKED\r\nX: y\r\n\r\n')
    socket.write('1;a=b\r\nh\r\n001\r\ni\r\n0\r\nA: b\r\n\r\n')
    const all = (): string => Buffer.concat(heard).toString()
    await until(() => all().endsWith('0\r\n\r\n'))
    expect(all()).toBe('POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\nX: y\r\n\r\n2\r\nhi\r\n0\r\n\r\n')
  })

  test('a body that turns out malformed never reaches its end', async () => {
    let error: (() => void) | undefined
    const aborted = new Promise<void>((resolve) => (error = resolve))
    await before(
      createServer((request) => {
        request.on('error', () => error?.()).resume()
        request.on('end', () => expect.unreachable())
      }),
    )
    const socket = await open()
    socket.write('POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
    const answer = read(socket)
    await until(() => opened.length === 2)
    socket.write('0\r\nA: b\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    await aborted
  })

  test('a client that expects 100 Continue gets it', async () => {
    await before(echo())
    const socket = await open()
    socket.write(`POST /a HTTP/1.1\r\n${HEADERS}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`)
    await read(socket, '100 Continue\r\n\r\n')
    socket.write('hi')
    expect(bodyOf(await read(socket))).toMatchObject({ body: 'hi' })
  })
})

const SHORT = { head: 1, body: 1, idle: 1, answer: 1, close: 1 }
const LONG = { head: 1e9, body: 1e9, idle: 1e9, answer: 1e9, close: 1e9 }

describe('what does not come', () => {
  test('a handshake', async () => {
    await before(echo(), undefined, { handshakeMs: 1 })
    const socket = connectSocket(front.port, '127.0.0.1')
    opened.push(socket)
    await new Promise((resolve) => socket.once('close', resolve))
  })

  test.each([
    ['anything', '', ''],
    ['the end of a head', 'GET / HTTP/1.1\r\nHost: h', 'HTTP/1.1 408 Request Timeout'],
  ])('%s', async (_what, text, answer) => {
    await before(echo(), undefined, { deadlines: { ...LONG, head: 1 } })
    const socket = await open()
    socket.write(text)
    expect((await read(socket)).split('\r\n')[0]).toBe(answer)
  })

  test('the rest of a body, which the engine is told', async () => {
    let gone: (() => void) | undefined
    const closed = new Promise<void>((resolve) => (gone = resolve))
    await before(
      createServer((request) => void request.on('error', () => {}).on('close', () => gone?.())),
      undefined,
      { deadlines: { ...LONG, body: 1 } },
    )
    const socket = await open()
    socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhi')
    expect(await read(socket)).toMatch(/^HTTP\/1.1 408 Request Timeout/)
    await closed
  })

  test('another request', async () => {
    await before(
      createServer((_request, response) => response.end('ok')),
      undefined,
      {
        deadlines: { ...LONG, idle: 1 },
      },
    )
    const socket = await open()
    socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    expect(await read(socket)).toMatch(/ok$|ok\r\n0\r\n\r\n$/)
  })

  describe.each([
    ['with the answer', 0],
    ['later', 20],
  ])('the end of a WebSocket that the engine ended %s', (_when, wait) => {
    const ended = Buffer.from([0x82, 1, 0x78, 0x88, 2, 0x03, 0xe8])
    const webSockets = (frames: Buffer) => {
      const server = createServer()
      server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
        const head = Buffer.from(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
        )
        socket.write(wait === 0 ? Buffer.concat([head, frames]) : head)
        if (wait > 0) setTimeout(() => socket.write(frames), wait)
        socket.on('data', (data) => socket.write(data)).on('error', () => {})
      })
      return server
    }
    const upgrade = 'GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

    test('has a deadline', async () => {
      await before(webSockets(ended), undefined, { deadlines: { ...LONG, close: 1 } })
      const socket = await open()
      socket.write(upgrade)
      expect(await read(socket)).toContain('101 Switching Protocols')
    })

    test('an open one has none', async () => {
      await before(webSockets(ended.subarray(0, 3)), undefined, { deadlines: { ...SHORT, head: 1e9 } })
      const socket = await open()
      socket.write(upgrade)
      await read(socket, 'x')
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      socket.write(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0x79]))
      expect(await read(socket, 'y')).toContain('y')
    })
  })

  test('a slow answer of the engine has no deadline', async () => {
    await before(
      createServer((_request, response) => void setTimeout(() => response.end('late'), 2_500)),
      undefined,
      {
        deadlines: { ...SHORT, head: 1e9 },
      },
    )
    expect(await exchange(`GET / HTTP/1.1\r\n${HEADERS}\r\n`)).toContain('late')
  })
})

test('heads that are not whole have a bound together, beyond which the longest end', async () => {
  await before(echo(), undefined, { deadlines: LONG })
  const short = await open()
  short.write(`GET / HTTP/1.1\r\n${HEADERS}`)
  const beginning = `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(900_000)}`
  const long = await Promise.all(Array.from({ length: 40 }, () => open()))
  let ended = 0
  for (const socket of long)
    socket
      .on('error', () => {})
      .on('close', () => ended++)
      .resume()
      .write(beginning)
  await vi.waitFor(() => expect(ended).toBeGreaterThanOrEqual(3), 20_000)
  expect(ended).toBeLessThan(40)
  short.write('\r\n')
  expect(await read(short, '200 OK')).toContain('200 OK')
})

test('long heads of requests under way have a bound together, beyond which the longest end', async () => {
  const answers: (() => void)[] = []
  const server = createServer(
    { maxHeaderSize: 2 << 20 },
    (_request, response) => void answers.push(() => response.end()),
  )
  await before(server, undefined, { deadlines: LONG })
  const request = (octets: number) => `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(octets)}\r\n\r\n`
  const short = await open()
  let answered = 0
  short.on('data', () => answered++).write(request(7_000))
  let ended = 0
  const long = await Promise.all(Array.from({ length: 40 }, () => open()))
  for (const socket of long) {
    socket.on('error', () => {}).on('close', () => ended++)
    socket.resume().write(request(900_000))
  }
  // 37 of them have 32 MiB
  await vi.waitFor(() => expect(ended + answers.length).toBeGreaterThanOrEqual(41), 20_000)
  expect(ended).toBeGreaterThanOrEqual(3)
  expect(ended).toBeLessThan(10)
  for (const answer of answers) answer()
  await until(() => answered === 1)
  // whoever has its answer has room again
  const [left] = long.filter(({ destroyed }) => !destroyed)
  left!.write(request(900_000))
  await until(() => answers.length + ended >= 42)
})

test('clients that owe more of a body are not too many', async () => {
  await before(echo(), undefined, { deadlines: LONG })
  let ended = 0
  const body = 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n1'
  const sockets: TLSSocket[] = []
  for (let count = 0; count < MOST_OWING + 3; count++) {
    const socket = await open()
    socket.on('error', () => {}).on('close', () => ended++)
    socket.write(body)
    sockets.push(socket)
  }
  await vi.waitFor(() => expect(ended).toBe(3), 20_000)
  const last = sockets.at(-1)!
  last.write('23456789')
  expect(await read(last, '123456789')).toContain('123456789')
})

describe('more connections than there may be', () => {
  const request = `GET / HTTP/1.1\r\n${HEADERS}\r\n`

  test('connections without a finished handshake count; further ones get an error', async () => {
    await before(echo(), undefined, { limits: { total: 2, perAddress: 2 } })
    const silent = [0, 1].map(() => connectSocket(front.port, '127.0.0.1'))
    opened.push(...silent)
    await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    expect(await exchange(request)).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\n[^]*Retry-After: 1\r\n/)
    silent[0]!.destroy()
    await until(async () => (await exchange(request)).startsWith('HTTP/1.1 200'))
  })
})

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('at shutdown idle connections close at once, and requests in flight may finish', async () => {
  let answer: (() => void) | undefined
  await before(createServer((_request, response) => void (answer = () => response.end('done'))))
  const [idle, busy] = [await open(), await open()]
  busy.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
  const [first, second] = [read(idle), read(busy)]
  await until(() => answer !== undefined)
  const closed = front.close(60_000)
  expect(await first).toBe('')
  answer!()
  await closed
  expect(await second).toContain('done')
})

test('what clients do not take of WebSockets waits in the front, with a bound together, beyond which the longest end', async () => {
  const MEGABYTE = 1 << 20
  const frame = Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 0]), Buffer.alloc(MEGABYTE)])
  let ended = 0
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    for (let left = Number(request.url!.slice(1)); left > 0; left--) socket.write(frame)
    socket.on('error', () => {}).on('close', () => ended++)
  })
  await before(server, undefined, { deadlines: LONG })
  const upgrade = 'Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const some = await open()
  some.write(`GET /20 HTTP/1.1\r\n${upgrade}`)
  const much = await open()
  // nothing is read of it
  much.on('error', () => {}).write(`GET /120 HTTP/1.1\r\n${upgrade}`)
  await vi.waitFor(() => expect(ended).toBe(1), 20_000)
  let taken = 0
  some.on('data', ({ length }: Buffer) => (taken += length))
  await vi.waitFor(() => expect(taken).toBeGreaterThan(20 * MEGABYTE), 20_000)
  expect(ended).toBe(1)
})
