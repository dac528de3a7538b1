// The front and the engine must agree where requests begin and end: they read the same number of requests, with the
// same heads and bodies, from octets that a client wrote correctly, wrongly or maliciously. The test uses the real
// engine. `npm run fuzz` runs it for longer.
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import fc from '../../chance.ts'
import { LAST_CHUNK, chunkOf } from '../../../src/cli/front/chunked-body.ts'
import { engineHead, engineRequest } from '../../../src/cli/front/engine-head.ts'
import { MalformedRequest } from '../../../src/cli/front/http-framing.ts'
import type { RequestHead } from '../../../src/cli/front/http-framing.ts'
import { RequestReader } from '../../../src/cli/front/request-reader.ts'
import { startEchoEngine } from './echo-engine.ts'
import type { Echo, EchoEngine } from './echo-engine.ts'

const RUNS = Number(process.env.KEDGE_RUNS ?? 400)
const SENTINEL = 'GET /sentinel HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'

let engine: EchoEngine
beforeAll(async () => void (engine = await startEchoEngine()))
afterAll(() => engine.stop())

interface Seen {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Reading {
  readonly requests: Seen[]
  /** The octets that the front sends to the engine. */
  readonly sent: Buffer
  readonly refused?: MalformedRequest
  /** The last body is incomplete. */
  readonly isUnfinished?: boolean
}

/** Reads a client's octets as the front does, in pieces of these sizes, and collects what the front would send. */
function readAsFront(octets: Buffer, sizes: readonly number[]): Reading {
  const reader = new RequestReader()
  const requests: Seen[] = []
  const sent: Buffer[] = []
  let under: { head: RequestHead; body: Buffer[] } | undefined
  const finish = (): void => {
    const { head, body } = under!
    const { method, target } = engineRequest(head)
    requests.push({ method, target, headers: headersOf(head.lines), body: Buffer.concat(body).toString('base64') })
    under = undefined
  }
  try {
    for (let at = 0, n = 0; at < octets.length; n++) {
      const size = sizes[n % sizes.length]!
      reader.push(Buffer.from(octets.subarray(at, at + size)))
      at += size
      for (let part = reader.next(); part !== undefined; part = reader.next()) {
        if (part.kind === 'head') {
          under = { head: part.head, body: [] }
          sent.push(engineHead(part.head, part.octets, engineRequest(part.head), ''))
          if (!reader.isWithinBody) finish()
        } else if (part.kind === 'body') {
          under!.body.push(...part.data)
          sent.push(...(under!.head.body === 'chunked' ? [chunkOf(part.data)] : part.data))
        } else {
          if (under!.head.body === 'chunked') sent.push(LAST_CHUNK)
          finish()
        }
      }
    }
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error
    return { requests, sent: Buffer.concat(sent), refused: error }
  }
  return { requests, sent: Buffer.concat(sent), isUnfinished: under !== undefined }
}

/** The engine decodes header values as UTF-8 and joins values of one name. */
function headersOf(lines: string): Record<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines.split('\r\n').filter((text) => text !== '')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = Buffer.from(line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''), 'latin1').toString()
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value)
  }
  return comparable(Object.fromEntries(headers))
}

/** The engine hides these hop-by-hop headers from the Worker. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'content-length',
  'transfer-encoding',
])
/** The engine takes a header that it knows, such as Accept, for absent where its value is empty. */
const comparable = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => !HOP_BY_HOP.has(name) && value !== ''))

/** Sends the octets to the engine. @returns all that it answers */
function askEngine(octets: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(engine.address.socket)
    const answers: Buffer[] = []
    socket.on('data', (data: Buffer) => answers.push(data))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(answers).toString('latin1')))
    socket.end(octets)
  })
}

/**
 * The echo Worker answers with JSON values, each in one chunk or with a Content-Length. Other answers have a status
 * other than 200.
 */
function echoesIn(answers: string): Echo[] {
  const echoes: Echo[] = []
  for (const [, length, from] of [
    ...answers.matchAll(/HTTP\/1\.[01] 200 OK\r\n[^]*?content-length: (\d+)\r\n[^]*?\r\n\r\n/gi),
  ].map((match) => [match[0], Number(match[1]), match.index + match[0].length] as const))
    echoes.push(JSON.parse(Buffer.from(answers.slice(from, from + length), 'latin1').toString()) as Echo)
  return echoes
}

async function compare(octets: Buffer, sizes: readonly number[] = [1 << 16]): Promise<Reading> {
  const reading = readAsFront(octets, sizes)
  const isWhole = reading.refused === undefined && !reading.isUnfinished
  const answers = await askEngine(Buffer.concat([reading.sent, Buffer.from(isWhole ? SENTINEL : '')]))
  const seen = echoesIn(answers).map(({ method, target, headers, body }) => ({
    method,
    target,
    headers: comparable(headers),
    body,
  }))
  const last = seen.at(-1)
  if (last?.target === '/sentinel') seen.pop()
  expect(seen, `of ${JSON.stringify(octets.toString('latin1'))}\n${answers}`).toEqual(reading.requests)
  return reading
}

describe('octets that are meant to be understood in two ways', () => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n'
  const post = (headers: string, body: string): string => `POST /a HTTP/1.1\r\nHost: h\r\n${headers}\r\n${body}`
  const chunked = (body: string): string => post('Transfer-Encoding: chunked\r\n', body)
  test.each<[what: string, octets: string, requests: number, status?: number]>([
    ['a trailer that ends with a bare LF', chunked(`0\r\nA: b\n\r\n${smuggled}`), 0, 400],
    ['a trailer’s end with a bare LF', chunked(`0\r\nA: b\r\n\n${smuggled}`), 0, 400],
    ['a last chunk with a bare LF', chunked(`0\n\r\n${smuggled}`), 0, 400],
    ['a chunk’s size with a bare LF', chunked(`2\nhi\r\n0\r\n\r\n${smuggled}`), 0, 400],
    ['a chunk’s size with a bare CR', chunked(`2\rhi\r\n0\r\n\r\n${smuggled}`), 0, 400],
    ['an extension with a bare LF', chunked(`2;a\nhi\r\n0\r\n\r\n`), 0, 400],
    ['an extension with a bare CR', chunked(`2;a\rb\r\nhi\r\n0\r\n\r\n`), 0, 400],
    ['data longer than the chunk', chunked(`2\r\nhih\r\n0\r\n\r\n`), 0, 400],
    ['data that end with a bare LF', chunked(`2\r\nhi\n0\r\n\r\n`), 0, 400],
    ['a size with a sign', chunked(`+2\r\nhi\r\n0\r\n\r\n`), 0, 400],
    ['a size with 0x', chunked(`0x2\r\nhi\r\n0\r\n\r\n`), 0, 400],
    ['a size with a blank', chunked(`2 \r\nhi\r\n0\r\n\r\n`), 0, 400],
    ['a size beyond 32 bits', chunked(`100000002\r\nhi\r\n0\r\n\r\n`), 0, 400],
    ['a folded trailer', chunked(`0\r\n A: b\r\n\r\n`), 0, 400],
    ['a trailer, which is dropped', chunked(`2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n${smuggled}`), 2],
    ['an extension, which is dropped', chunked(`2;a="b"\r\nhi\r\n0\r\n\r\n${smuggled}`), 2],
    ['two lengths', post('Content-Length: 0\r\nContent-Length: 36\r\n', smuggled), 0, 400],
    ['the same length twice', post('Content-Length: 2\r\nContent-Length: 2\r\n', 'hi'), 0, 400],
    ['lengths with a comma', post('Content-Length: 2, 2\r\n', 'hi'), 0, 400],
    ['a length with a sign', post('Content-Length: +2\r\n', 'hi'), 0, 400],
    ['a length in hexadecimal', post('Content-Length: 0x2\r\n', 'hi'), 0, 400],
    ['a length without digits', post('Content-Length: \r\n', smuggled), 0, 400],
    ['a length with zeros before it', post('Content-Length: 0002\r\n', `hi${smuggled}`), 2],
    ['a length of a name with a blank', post('Content-Length : 36\r\n', smuggled), 0, 400],
    ['a length of a name with a tab', post('Content-Length\t: 36\r\n', smuggled), 0, 400],
    ['a length and chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 0, 400],
    ['chunks and a length', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'), 0, 400],
    ['chunks twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 0, 400],
    ['another coding', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), 0, 501],
    ['codings', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 0, 501],
    ['identity', post('Transfer-Encoding: identity\r\nContent-Length: 2\r\n', 'hi'), 0, 501],
    ['a coding with a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'), 0, 400],
    ['a coding in quotes', post('Transfer-Encoding: "chunked"\r\n', '0\r\n\r\n'), 0, 501],
    ['a folded coding', post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n'), 0, 400],
    ['chunks in HTTP/1.0', 'POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 0, 400],
    ['a bare LF after a header', `GET /a HTTP/1.1\r\nHost: h\nX: y\r\n\r\n`, 0, 400],
    ['a bare CR in a header', `GET /a HTTP/1.1\r\nHost: h\r\nX: y\rZ: a\r\n\r\n`, 0, 400],
    ['a NUL in a header', `GET /a HTTP/1.1\r\nHost: h\r\nX: y\0\r\n\r\n`, 0, 400],
    ['a header without a name', `GET /a HTTP/1.1\r\nHost: h\r\n: y\r\n\r\n`, 0, 400],
    ['a header without a colon', `GET /a HTTP/1.1\r\nHost: h\r\nX\r\n\r\n`, 0, 400],
    ['a first header that is folded', `GET /a HTTP/1.1\r\n Host: h\r\n\r\n`, 0, 400],
    [
      'an upgrade with a body',
      post('Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n', 'hi'),
      0,
      400,
    ],
    ['an upgrade with an empty body', post('Connection: upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n', ''), 1],
    ['an unknown expectation', post('Expect: 200-ok\r\nContent-Length: 2\r\n', 'hi'), 0, 417],
    ['a known one', post('Expect: 100-continue\r\nContent-Length: 2\r\n', `hi${smuggled}`), 2],
    ['a body of GET', `GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 36\r\n\r\n${smuggled.padEnd(36)}`, 1],
    ['no host', 'GET /a HTTP/1.1\r\n\r\n', 0, 400],
    ['two hosts', 'GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 0, 400],
    ['a host with a path', 'GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n', 0, 400],
    ['a host with a query', 'GET /a HTTP/1.1\r\nHost: a?b\r\n\r\n', 0, 400],
    ['a host with a fragment', 'GET /a HTTP/1.1\r\nHost: a#b\r\n\r\n', 0, 400],
    ['an empty header that the engine knows', 'GET /a HTTP/1.1\r\nHost: h\r\nAccept:\r\n\r\n', 1],
    ['an empty host', 'GET /a HTTP/1.1\r\nHost:\r\n\r\n', 1],
    ['HTTP/1.0 without a host', 'GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 1],
    ['a method that is not carried', 'CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n', 1],
    ['a statement of its own', 'GET /a HTTP/1.1\r\nHost: h\r\nkedge-FRONT-statement: {}\r\n\r\n', 0, 400],
    ['the statement’s name in a value', 'GET /a HTTP/1.1\r\nHost: h\r\nX: Kedge_Front_Statement: {}\r\n\r\n', 0, 400],
  ])('%s', async (_what, octets, requests, status) => {
    for (const sizes of [[1 << 16], [1], [7, 3]]) {
      const reading = await compare(Buffer.from(octets, 'latin1'), sizes)
      expect(reading.requests).toHaveLength(requests)
      expect(reading.refused?.status).toBe(status)
    }
  })
})

const oneOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
/** Octet sequences that HTTP parsers often disagree about. */
const awkward = oneOf(
  ...[
    '\r',
    '\n',
    '\r\n',
    '\n\r',
    '\r\n\r\n',
    '\0',
    ' ',
    '\t',
    '\x0b',
    ':',
    ';',
    ',',
    '0',
    'f',
    '-',
    '+',
    '"',
    '%',
    '#',
  ],
  ...['\x7f', '\x80', '\xff', 'chunked', 'Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ...['GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n', 'HTTP/1.0', '?', '/', '\\', '@', '[', ']'],
)
const header = fc.oneof(
  {
    weight: 3,
    arbitrary: oneOf('X-A: 1', 'x-b:2', 'Accept: */*', 'X-A: \xe9 ü', 'X_C:  padded \t', 'Connection: keep-alive'),
  },
  oneOf(
    'TE: trailers',
    'Trailer: A',
    'Connection: X-A',
    'Expect: 100-continue',
    'Content-Encoding: gzip',
    'Upgrade: h2c',
  ),
  oneOf('Content-Length: 0', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip', 'Host: b'),
)
const content = fc.array(fc.oneof(awkward, fc.string({ unit: 'binary', maxLength: 9 }).map(toLatin1)), { maxLength: 4 })
function toLatin1(text: string): string {
  return text.replace(/[^\0-\xff]/g, 'x')
}
const message = fc
  .record({
    method: oneOf('GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEADLESS', 'OPTIONS'),
    target: oneOf('/', '/a?b=c', '/a/../b//%2f%zz', '*', 'http://x/y', '/\xe9|{}', '/#a'),
    version: oneOf('1.1', '1.1', '1.1', '1.0'),
    headers: fc.array(header, { maxLength: 4 }),
    body: fc.oneof(fc.constant(undefined), content),
    isChunked: fc.boolean(),
    extension: oneOf('', ';a=b', ';'),
    trailer: oneOf('', 'A: b\r\n', 'Content-Length: 7\r\n'),
  })
  .map(({ method, target, version, headers, body, isChunked, extension, trailer }) => {
    const framed = body?.join('') ?? ''
    const pieces = (body ?? []).filter((piece) => piece !== '')
    const chunks = pieces.map((piece) => `${piece.length.toString(16)}${extension}\r\n${piece}\r\n`).join('')
    const framing =
      body === undefined ? [] : [isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${framed.length}`]
    const lines = [`${method} ${target} HTTP/${version}`, 'Host: h', ...headers, ...framing, '', '']
    return lines.join('\r\n') + (body === undefined ? '' : isChunked ? `${chunks}0\r\n${trailer}\r\n` : framed)
  })
const mutation = fc.record({ at: fc.nat(), cut: fc.nat({ max: 2 }), insert: fc.oneof(awkward, fc.constant('')) })

test('front and engine agree about random octets', { timeout: 60_000 + RUNS * 100 }, async () => {
  let [requests, refusals] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      fc.array(mutation, { maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
      async (messages, mutations, sizes) => {
        let text = messages.join('')
        for (const { at, cut, insert } of mutations) {
          const where = at % (text.length + 1)
          text = text.slice(0, where) + insert + text.slice(where + cut)
        }
        const reading = await compare(Buffer.from(text, 'latin1'), sizes)
        requests += reading.requests.length
        if (reading.refused) refusals++
      },
    ),
    { numRuns: RUNS },
  )
  // the random octets must include many well-formed and many malformed requests
  expect(requests).toBeGreaterThan(RUNS / 4)
  expect(refusals).toBeGreaterThan(RUNS / 10)
})
