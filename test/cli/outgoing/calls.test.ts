/** The front makes calls for the engine: the tests check its answers for servers of every kind. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createAuthority, issue } from '../../../src/cli/data-directory/certificate.ts'
import { StatusError } from '../../../src/api/status.ts'
import { MAX_CONNECTIONS } from '../../../src/cli/outgoing/kept-connections.ts'
import { MOST_ARRIVING, serveOutgoingCalls } from '../../../src/cli/outgoing/calls.ts'
import type { OutgoingCalls } from '../../../src/cli/outgoing/calls.ts'
import { MOST_IN_HEADER, byFront } from '../../../src/webhooks/by-front.ts'
import type { OutgoingCall } from '../../../src/webhooks/outgoing-call.ts'
import { eventually } from '../../eventually.ts'
import { outgoingBinding } from '../../outgoing-binding.ts'
import { MAX_ANSWER } from '../../../src/webhooks/outgoing-call.ts'

const subject = { commonName: 'webhooks' }
const authority = await createAuthority(subject, new Date(), 30)
const stranger = await createAuthority(subject, new Date(), 30)
const certificateFor = (...names: string[]) =>
  issue(authority, { subject: { commonName: 'hook' }, usage: 'server', names, days: 30 }, new Date())

const directory = mkdtempSync(join(tmpdir(), 'kedge-outgoing-'))
const socket = join(directory, 'outgoing.sock')
let front: OutgoingCalls
beforeAll(async () => void (front = await serveOutgoingCalls(socket)))
afterAll(() => {
  front.close()
  rmSync(directory, { recursive: true })
})

const binding = outgoingBinding(socket)

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void

async function hook(serve: Serve, names = ['127.0.0.1']): Promise<string> {
  const { key, certificate } = await certificateFor(...names)
  const server = createServer({ key, cert: certificate }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => serve(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  // the server listens on TCP
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

const post = (url: string, more: Partial<OutgoingCall> = {}) =>
  byFront(binding)(
    { url, headers: { 'X-A': 'b' }, timeoutMs: 20_000, caBundle: authority.certificate, ...more },
    'sent',
  )

const echo: Serve = ({ method, url, headers, httpVersion }, response, body) =>
  response
    .writeHead(418, { 'content-type': 'text/x' })
    .end(JSON.stringify({ method, url, httpVersion, a: headers['x-a'], body }))

const text = (body: Uint8Array) => new TextDecoder().decode(body)

test('the call is made, and answered with what came', async () => {
  const { status, contentType, body } = await post(`${await hook(echo)}?timeout=1s`)
  expect({ status, contentType }).toEqual({ status: 418, contentType: 'text/x' })
  expect(JSON.parse(text(body))).toEqual({
    method: 'POST',
    url: '/hook?timeout=1s',
    httpVersion: '1.1',
    a: 'b',
    body: 'sent',
  })
})

test.each([
  '',
  'n',
  'a.',
  'a\n',
  'a\n\n',
  '\n',
  ' a',
  'a ',
  'a\r\n',
  'a\tb',
  'a\0',
  'a\u007f',
  'grün',
  '{"apiVersion":"admission.k8s.io/v1"}\n',
  'x'.repeat(MOST_IN_HEADER),
  'x'.repeat(MOST_IN_HEADER + 1),
])('the answer %j arrives octet by octet', async (said) => {
  const url = await hook((_, response) => response.end(said))
  expect(Buffer.from((await post(url)).body).toString('latin1')).toBe(Buffer.from(said).toString('latin1'))
})

test.each(['{"kind":"AdmissionReview"}', '{"kind":"AdmissionReview"}\n'])(
  'for a short answer, %j, the engine reads no body',
  async (said) => {
    const url = await hook((_, response) => response.end(said))
    const bodies: string[] = []
    const fetch = async (at: string, init: RequestInit): Promise<Response> => {
      const answer = await binding.fetch(at, init)
      bodies.push(await answer.clone().text())
      return answer
    }
    const call = { url, headers: {}, timeoutMs: 20_000, caBundle: authority.certificate }
    expect(text((await byFront({ fetch })(call, 'sent')).body)).toBe(said)
    expect(bodies).toEqual([''])
  },
)

test.each(['text/plain; a="b\tc"', 'text/pl\u00e4in', ''])('the type %j arrives as it was said', async (said) => {
  const url = await hook((_, response) =>
    response.writeHead(503, { 'content-type': said, 'retry-after': '7' }).end('no'),
  )
  const { status, contentType, retryAfter, body } = await post(url)
  expect({ status, contentType, retryAfter, said: text(body) }).toEqual({
    status: 503,
    contentType: said,
    retryAfter: '7',
    said: 'no',
  })
})

test('each call says its own time, headers and authorities', async () => {
  const lines: string[] = []
  const fetch = async (at: string, init: RequestInit): Promise<Response> => {
    lines.push(String(init.body).split('\n')[0] ?? '')
    return binding.fetch(at, init)
  }
  const first = { url: await hook(echo), headers: {}, timeoutMs: 20_000, caBundle: authority.certificate }
  const others = [
    { ...first, timeoutMs: 19_000 },
    { ...first, headers: { a: 'b' } },
    { ...first, caBundle: undefined },
    { ...first, serverName: 'localhost' },
    { ...first, method: 'GET' as const },
    { ...first, url: `${first.url}?a` },
  ]
  const all = others.flatMap((other) => [first, other, other, first])
  for (const call of all) await byFront({ fetch })(call, 'sent').catch(() => {})
  expect(lines).toEqual(all.map((call) => JSON.stringify(call)))
})

test('calls of two servers in turn reach each its own', async () => {
  const urls = [
    await hook((_, response) => response.end('one')),
    await hook((_, response) => response.setHeader('content-type', 'text/two').end('two')),
  ]
  const said: string[] = []
  for (const url of [...urls, ...urls, urls[1]!, urls[0]!]) {
    const { contentType, body } = await post(url)
    said.push(`${contentType} ${text(body)}`)
  }
  expect(said).toEqual([' one', 'text/two two', ' one', 'text/two two', 'text/two two', ' one'])
})

test('answers of servers that are slow with the last octet have room together, and short ones always', async () => {
  const most = Math.floor(MOST_ARRIVING / MAX_ANSWER)
  const long = Buffer.alloc(MAX_ANSWER - 1, 0x20)
  const held: ServerResponse[] = []
  const slow = await hook((_, response) => {
    response.writeHead(200, { 'content-length': MAX_ANSWER }).write(long)
    held.push(response)
  })
  const short = await hook((_, response) => response.end('short'))
  const outcomes: string[] = []
  const calls = Array.from({ length: most + 10 }, () =>
    post(slow).then(
      ({ body }) => outcomes.push(`${body.length}`),
      (error: unknown) => outcomes.push(error instanceof StatusError ? `${error.code} ${error.message}` : 'failed'),
    ),
  )
  await eventually(() => expect(held).toHaveLength(most + 10))
  await eventually(() => expect(outcomes.length).toBeGreaterThanOrEqual(10))
  expect(text((await post(short)).body)).toBe('short')
  for (const response of held) response.end(' ')
  await Promise.all(calls)
  const why = '429 too many long answers of other servers, please try again later'
  expect(new Set(outcomes)).toEqual(new Set([why, `${MAX_ANSWER}`]))
  expect(outcomes.filter((one) => one === why).length).toBeLessThan(20)
})

test('a redirect is an answer', async () => {
  const url = await hook((_, response) => response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end())
  expect((await post(url)).status).toBe(307)
})

test('a connection is used again', async () => {
  const ports = new Set<number | undefined>()
  const url = await hook(({ socket: { remotePort } }, response) => {
    ports.add(remotePort)
    response.end()
  })
  for (let count = 0; count < 3; count++) await post(url)
  expect(ports.size).toBe(1)
})

test('as many are made at once as one place may have, and the others after them', async () => {
  const ports = new Set<number | undefined>()
  const url = await hook(({ socket: { remotePort } }, response, body) => {
    ports.add(remotePort)
    setImmediate(() => response.end(body))
  })
  const answers = await Promise.all(Array.from({ length: 300 }, () => post(url)))
  expect(answers.map(({ body }) => text(body)).filter((body) => body !== 'sent')).toEqual([])
  expect(ports.size).toBeLessThanOrEqual(128)
})

test('a call that waits for its turn ends in its time', async () => {
  const url = await hook(() => {})
  const answers = await Promise.allSettled(Array.from({ length: 140 }, () => post(url, { timeoutMs: 2_000 })))
  expect(new Set(answers.map((one) => one.status === 'rejected' && String(one.reason)))).toEqual(
    new Set(['CallFailed: context deadline exceeded']),
  )
})

test('a connection of which its server says that it is the last is not used again', async () => {
  const ports = new Set<number | undefined>()
  const url = await hook(({ socket: { remotePort } }, response) => {
    ports.add(remotePort)
    response.setHeader('connection', 'close').end()
  })
  for (let count = 0; count < 3; count++) await post(url)
  expect(ports.size).toBe(3)
})

test('a review of many megabytes arrives as it was sent', async () => {
  const url = await hook((_, response, body) => response.end(String(body.length)))
  const review = 'ä'.repeat(3 << 20)
  const call = { url, headers: {}, timeoutMs: 20_000, caBundle: authority.certificate }
  expect(text((await byFront(binding)(call, review)).body)).toBe(String(review.length))
})

test('an invalid CA bundle is reported, and so is a header value with a line break', async () => {
  const url = await hook(echo)
  for (let count = 0; count < 2; count++)
    await expect(post(url, { caBundle: '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----' })).rejects.toThrow()
  await expect(post(url, { headers: { 'X-A': 'b\r\nX-C: d' } })).rejects.toThrow('invalid header field value')
})

test('a connection that was closed while it waited is made anew', async () => {
  let calls = 0
  const url = await hook((request, response) => {
    calls++
    // the second call reuses the first one's connection
    if (calls === 2) request.socket.destroy()
    else response.end('good')
  })
  await post(url)
  expect(text((await post(url)).body)).toBe('good')
  expect(calls).toBe(3)
})

test('also where all that waited were closed', async () => {
  const used = new Set<Socket>()
  const held: (() => void)[] = []
  const url = await hook(({ socket }, response) => {
    if (used.has(socket)) return void socket.destroy()
    used.add(socket)
    // both calls are in flight before the server answers one
    held.push(() => void response.end('good'))
    if (held.length !== 1) for (const answer of held) answer()
  })
  await Promise.all([post(url), post(url)])
  expect(text((await post(url)).body)).toBe('good')
  expect(used.size).toBe(3)
})

test.each<[string, Partial<OutgoingCall>, string[], string]>([
  [
    'of an authority that is not in the bundle',
    { caBundle: stranger.certificate },
    ['127.0.0.1'],
    'x509: certificate signed by unknown authority',
  ],
  ['of no public authority', { caBundle: undefined }, ['127.0.0.1'], 'x509: certificate signed by unknown authority'],
  ['for another address', {}, ['10.0.0.1'], 'x509: certificate is valid for 10.0.0.1, not 127.0.0.1'],
  [
    'for another Service',
    { serverName: 'hooks.blue.svc' },
    ['hooks.red.svc'],
    'x509: certificate is valid for hooks.red.svc, not hooks.blue.svc',
  ],
])('a certificate %s is refused', async (_, more, names, why) => {
  let calls = 0
  const url = await hook((_request, response) => void (calls++, response.end()), names)
  await expect(post(url, more)).rejects.toThrow(why)
  expect(calls).toBe(0)
})

test('a Service is known by its name in the cluster', async () => {
  const url = await hook(echo, ['hooks.blue.svc'])
  expect((await post(url, { serverName: 'hooks.blue.svc' })).status).toBe(418)
})

test('an answer that does not come is given up', async () => {
  const url = await hook(() => {})
  await expect(post(url, { timeoutMs: 50 })).rejects.toThrow('context deadline exceeded')
})

test('an answer that begins and does not end is given up', async () => {
  const url = await hook((_, response) => void response.write('{'))
  await expect(post(url, { timeoutMs: 50 })).rejects.toThrow('context deadline exceeded')
})

test('an answer without end is not read to its end', async () => {
  const url = await hook((_, response) => response.end(Buffer.alloc(MAX_ANSWER + 1)))
  await expect(post(url)).rejects.toThrow(`the answer is longer than ${MAX_ANSWER} bytes`)
})

test('a call whose caller is gone is ended', async () => {
  const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const url = await hook((_, response) => {
    response.once('close', gone.resolve)
    asked.resolve()
  })
  const given = new AbortController()
  const body = `${JSON.stringify({ url, headers: {}, timeoutMs: 20_000, caBundle: authority.certificate })}\n`
  const call = binding.fetch('', { body, signal: given.signal }).catch(() => {})
  await asked.promise
  given.abort()
  await gone.promise
  await call
})

test('gzip is what was in it: never more of it than may come, and all of it', async () => {
  const packed = (bytes: Buffer, sent = bytes.length): Promise<string> =>
    hook(({ headers }, response) => {
      expect(headers['accept-encoding']).toBe('gzip')
      response.setHeader('content-encoding', 'gzip').end(bytes.subarray(0, sent))
    })
  const whole = gzipSync('{"kind":"Review"}')
  expect(text((await post(await packed(whole))).body)).toBe('{"kind":"Review"}')
  await expect(post(await packed(whole, 12))).rejects.toThrow('unexpected EOF')
  await expect(post(await packed(Buffer.from('{}')))).rejects.toThrow('incorrect header check')
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  await expect(post(await packed(bomb))).rejects.toThrow(`the answer is longer than ${MAX_ANSWER} bytes`)
})

test('an answer that breaks off is no call that did not arrive', async () => {
  const url = await hook((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('{')
    setTimeout(() => response.destroy(), 20)
  })
  await expect(post(url)).rejects.toThrow(/^unexpected EOF$/)
})

test('a server that hangs up, or does not listen, is reported', async () => {
  const url = await hook(({ socket: connection }) => void connection.destroy())
  await expect(post(url)).rejects.toThrow('EOF')
  for (const close of closing.splice(0)) close()
  await expect(post(url)).rejects.toThrow(/^dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/)
})

test('only https is called', async () => {
  await expect(post('http://127.0.0.1:1/')).rejects.toThrow('only https is called')
})

test('without TLS is called what the call says, on connections of its own', async () => {
  const server = createPlainServer((request, response) => void response.end(`${request.method} ${request.url}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => void server.close().closeAllConnections())
  // the server listens on TCP
  const { port } = server.address() as AddressInfo
  const answered = async (url: string, isPlain: boolean) => text((await post(url, { isPlain })).body)
  expect(await answered(`http://127.0.0.1:${port}/a`, true)).toBe('POST /a')
  expect(await answered(`http://127.0.0.1:${port}/b`, true)).toBe('POST /b')
  await expect(post(`https://127.0.0.1:${port}/`, { isPlain: true })).rejects.toThrow('only https is called')
  await expect(post(`https://127.0.0.1:${port}/`)).rejects.toThrow()
})

test('a client certificate identifies the caller', async () => {
  const { key, certificate } = await certificateFor('127.0.0.1')
  const callers: string[] = []
  const server = createServer(
    { key, cert: certificate, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      // the server requested the client certificate
      callers.push((request.socket as TLSSocket).getPeerCertificate().subject.CN as string)
      response.end('{}')
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const leaf = { subject: { commonName: 'api-server' }, usage: 'client', names: [], days: 30 } as const
  const own = await issue(authority, leaf, new Date())
  await post(url, { clientCertificate: { certificate: own.certificate, key: own.key } })
  expect(callers).toEqual(['api-server'])
  // another identity uses another connection: connections are never shared between identities
  await expect(post(url)).rejects.toThrow()
})

test('no more calls are under way than may be: one too many fails, and one that ends makes room', async () => {
  const path = join(directory, 'few.sock')
  const few = await serveOutgoingCalls(path, 3)
  closing.push(() => few.close())
  const held: ServerResponse[] = []
  const url = await hook((_request, response) => void held.push(response))
  const postFew = () =>
    byFront(outgoingBinding(path))({ url, headers: {}, timeoutMs: 20_000, caBundle: authority.certificate }, 'sent')
  const waiting = [postFew(), postFew(), postFew()]
  await eventually(() => expect(held).toHaveLength(3))
  // the one too many is refused with its request, whatever the failurePolicy of a webhook
  const why: unknown = expect.stringContaining('the process in front of this server did not make the call')
  await expect(postFew()).rejects.toMatchObject({ code: 429, message: why })
  for (const response of held.splice(0)) response.end('done')
  for (const { body } of await Promise.all(waiting)) expect(text(body)).toBe('done')
  const last = postFew()
  await eventually(() => expect(held).toHaveLength(1))
  held[0]!.end('done')
  expect(text((await last).body)).toBe('done')
})

test('a call whose time ends while it waits for a connection was made to nobody: its request is refused', async () => {
  const held: ServerResponse[] = []
  const url = await hook((_request, response) => void held.push(response))
  const answers = Array.from({ length: MAX_CONNECTIONS }, () => post(url))
  await eventually(() => expect(held).toHaveLength(MAX_CONNECTIONS))
  await expect(post(url, { timeoutMs: 100 })).rejects.toMatchObject({
    code: 429,
    message: 'too many requests to this host are under way, please try again later',
  })
  for (const response of held) response.end('done')
  for (const { body } of await Promise.all(answers)) expect(text(body)).toBe('done')
}, 60_000)
