import { describe, expect, test } from 'vitest'
import fc from '../../chance.ts'
import { ChunkedBody, chunkOf } from '../../../src/cli/front/chunked-body.ts'
import {
  KnownLines,
  MalformedRequest,
  parseRequestHead,
  parseResponseHead,
} from '../../../src/cli/front/http-framing.ts'

const head = (...lines: string[]): string => lines.map((line) => line + '\r\n').join('')

describe('request heads', () => {
  test('the target stays as it was sent', () => {
    const { method, target, version } = parseRequestHead(head('GET /a/../b//%2f%zz?x=|{} HTTP/1.1', 'Host: h'))
    expect([method, target, version]).toEqual(['GET', '/a/../b//%2f%zz?x=|{}', '1.1'])
  })

  test.each([
    ['no body', [], 'none'],
    ['a length', ['content-LENGTH:  12 '], 12],
    ['chunks', ['Transfer-Encoding: Chunked'], 'chunked'],
    ['a name that only ends so', ['X-Content-Length: 12'], 'none'],
  ])('body: %s', (_name, lines, body) => {
    expect(parseRequestHead(head('POST / HTTP/1.1', 'Host: h', ...lines)).body).toEqual(body)
  })

  test.each([
    ['two lengths', head('POST / HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'), 400],
    ['a length that is none', head('POST / HTTP/1.1', 'Content-Length: +1'), 400],
    ['length and chunks', head('POST / HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
    ['another coding', head('POST / HTTP/1.1', 'Host: h', 'Transfer-Encoding: gzip, chunked'), 501],
    ['two codings', head('POST / HTTP/1.1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'), 400],
    ['a folded line', head('GET / HTTP/1.1', 'Host: h', 'A: b', ' c'), 400],
    ['a bare line feed', 'GET / HTTP/1.1\nA: b\r\n', 400],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nA: b\rc\r\n', 400],
    ['a space in the target', head('GET /a b HTTP/1.1'), 400],
    ['no target', head('GET HTTP/1.1'), 400],
    ['another protocol', head('GET / HTTP/2.0'), 505],
    // the engine could not distinguish this value from two groups
    ['two groups in one', head('GET / HTTP/1.1', 'Host: h', 'X-Remote-Group: a, system:masters'), 400],
    ['two groups to be in one', head('GET / HTTP/1.1', 'Host: h', 'impersonate-group: a,b, c'), 400],
    ['two values of one', head('GET / HTTP/1.1', 'Host: h', 'X-Remote-Extra-Scopes: a, b'), 400],
  ])('refuses %s', (_name, text, status) => {
    expect(() => parseRequestHead(text)).toThrow(expect.objectContaining({ status }))
    expect(() => parseRequestHead(text)).toThrow(MalformedRequest)
  })
})

test('a name, and a group with a comma, are passed on', () => {
  const lines = ['Host: h', 'X-Remote-User: Doe, Jane', 'X-Remote-Group: a,b', 'X-Remote-Group: c', 'Accept: a, b']
  expect(parseRequestHead(head('GET / HTTP/1.1', ...lines)).lines).toBe(head(...lines))
})

test("headers of Cloudflare's edge are nobody's here", () => {
  const edge = ['CF-Connecting-IP: 192.0.2.1', 'cf_connecting_ip: 192.0.2.1', 'Cf-Ray: 1']
  const { lines, isUntouched } = parseRequestHead(head('GET / HTTP/1.1', ...edge, 'Host: h', ...edge, 'Cfg: a'))
  expect(lines).toBe(head('Host: h', 'Cfg: a'))
  expect(isUntouched).toBe(false)
})

test('of repeated credentials and names of users the first counts', () => {
  const names = ['Authorization', 'X-Remote-User', 'X-Remote-Uid', 'Impersonate-User', 'Impersonate-Uid']
  for (const name of names) {
    const { lines, isUntouched } = parseRequestHead(
      head('GET / HTTP/1.1', 'Host: h', `${name}: a`, 'Accept: x', `${name.toUpperCase()}: b`, 'Accept: y', `${name}:`),
    )
    expect(lines).toBe(head('Host: h', `${name}: a`, 'Accept: x', 'Accept: y'))
    expect(isUntouched).toBe(false)
  }
  const { lines } = parseRequestHead(head('GET / HTTP/1.1', 'Host: h', 'Authorization:', 'Authorization: Bearer x'))
  expect(lines).toBe(head('Host: h', 'Authorization:'))
})

describe('lines that the connection has sent before', () => {
  const LINES = head('Host: h', 'Accept: a', 'Connection: keep-alive')
  const requestLine = fc.constantFrom(
    'GET / HTTP/1.1',
    'PUT /a?b HTTP/1.1',
    'GET / HTTP/1.0',
    'GET / HTTP/2.0',
    'GET /HTTP/1.0',
    'GET /a b HTTP/1.1',
    'GET /\nx HTTP/1.1',
    'GET /kedge-front-statement: HTTP/1.1',
  )
  const line = fc.constantFrom(
    'Host: h',
    'host:',
    'Accept: a',
    'Content-Length: 2',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'Connection: close',
    'Upgrade: SPDY/3.1',
    'X-Remote-Group: a, b',
    'Kedge-Front-Statement: {}',
    ' folded',
  )
  const outcome = (text: string, known?: KnownLines): unknown => {
    try {
      return parseRequestHead(text, known)
    } catch (error) {
      return error instanceof MalformedRequest ? [error.status, error.message] : error
    }
  }

  test('mean what they mean alone', () => {
    const heads = fc.array(fc.tuple(requestLine, fc.array(line, { maxLength: 3 })), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(heads, (sent) => {
        const known = new KnownLines()
        for (const [first, lines] of sent) {
          // the reader caches good lines, so the second time takes another path
          for (const text of [head(first, ...lines), head(first, 'Host: h', ...lines), head(first) + LINES])
            expect([outcome(text, known), outcome(text, known)]).toEqual([outcome(text), outcome(text)])
        }
      }),
    )
  })

  test('are read once', () => {
    const known = new KnownLines()
    const [first, second] = ['GET /a HTTP/1.1', 'PUT /b HTTP/1.1'].map((one) =>
      parseRequestHead(head(one) + LINES, known),
    )
    expect(second).toMatchObject({ method: 'PUT', target: '/b' })
    expect(second!.lines).toBe(first!.lines)
    expect(known.find(`\r\n${LINES}`, '1.1')).toBeDefined()
    expect(known.find(`\r\n${LINES}`, '1.0')).toBeUndefined()
  })

  test('are not kept where they are long', () => {
    const known = new KnownLines()
    const lines = head('Host: h', `A: ${'a'.repeat(5_000)}`)
    parseRequestHead(head('GET / HTTP/1.1') + lines, known)
    expect(known.find(`\r\n${lines}`, '1.1')).toBeUndefined()
  })
})

// Linear parsing takes milliseconds here and quadratic parsing hours, so the test needs no clock.
describe('a megabyte of head is read in one go', () => {
  const MANY = 250_000
  test.each([
    ['many lines', 'a:\r\n'.repeat(MANY)],
    ['blanks before the end of a value', `Content-Length: 1${' \t'.repeat(2 * MANY)}x\r\n`],
    ['blanks after a value', `Content-Length: 1${' '.repeat(4 * MANY)}\r\n`],
    ['blanks before a value', `Expect:${' '.repeat(4 * MANY)}100-continue\r\n`],
    ['a name without an end', `${'a'.repeat(4 * MANY)}\r\n`],
    ['what is almost two groups', `x-remote-group: ${','.repeat(4 * MANY)}\r\n`],
    ['many groups', 'x-remote-extra-a:,\r\n'.repeat(MANY / 5)],
    ['many names of one', 'Connection: clos\r\n'.repeat(MANY / 5)],
    ['what is almost a word', `Connection: ${'clos '.repeat(MANY)}\r\n`],
    ['what is almost the statement’s name', `A: ${'kedge-front-'.repeat(MANY / 3)}\r\n`],
  ])('%s', (_what, lines) => {
    try {
      expect(parseRequestHead(`${head('GET / HTTP/1.1', 'Host: h')}${lines}`).method).toBe('GET')
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedRequest)
    }
  })
})

describe('response heads', () => {
  test.each([
    ['a length', head('HTTP/1.1 200 OK', 'Content-Length: 5'), false, { status: 200, body: 5, last: false }],
    ['neither', head('HTTP/1.1 200 OK', 'Connection: close'), false, { status: 200, body: 'until-close', last: true }],
    [
      'chunks',
      head('HTTP/1.1 200 OK', 'transfer-encoding: chunked'),
      false,
      { status: 200, body: 'chunked', last: false },
    ],
    [
      'a length of zero, and no more answers',
      head('HTTP/1.1 200 OK', 'connection: Close', 'content-length: 0'),
      false,
      { status: 200, body: 'none', last: true },
    ],
    ['to HEAD', head('HTTP/1.1 200 OK', 'Content-Length: 5'), true, { status: 200, body: 'none', last: false }],
    [
      'not modified',
      head('HTTP/1.1 304 Not Modified', 'Content-Length: 5'),
      false,
      { status: 304, body: 'none', last: false },
    ],
    ['interim', head('HTTP/1.1 100 Continue'), false, { status: 100, body: 'none', last: false }],
  ])('%s', (_name, text, bodiless, expected) => expect(parseResponseHead(text, bodiless)).toEqual(expected))
})

describe('chunked bodies', () => {
  const chunked = (chunks: readonly string[], trailer = ''): Buffer =>
    Buffer.from(
      chunks
        .filter((chunk) => chunk !== '')
        .map((chunk) => `${Buffer.byteLength(chunk).toString(16)};x="y"\r\n${chunk}\r\n`)
        .join('') + `0\r\n${trailer}\r\n`,
    )

  test('the end is found wherever the octets are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('0', '\r', '\n', 'a', 'ü') })),
        fc.boolean(),
        fc.nat(20),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (chunks, trailer, behind, steps) => {
          const message = chunked(chunks, trailer ? 'A: b\r\n' : '')
          const all = Buffer.concat([message, Buffer.alloc(behind, 'G')])
          const body = new ChunkedBody()
          const read: Buffer[] = []
          let [at, end] = [0, -1]
          for (let i = 0; end < 0; i++) {
            const part = all.subarray(at, at + steps[i % steps.length]!)
            const found = body.read(part, 0, (data) => read.push(data))
            if (found >= 0) end = at + found
            at += part.length
          }
          expect(Buffer.concat(read).toString()).toBe(chunks.join(''))
          expect(end).toBe(message.length)
        },
      ),
    )
  })

  test.each(['\r\n', 'x\r\n', ' 1\r\n', '1 \r\n', '1\n', '1\r1', '111111111\r\n', '1;a\n', '1\r\nab', '1\r\na\n'])(
    'refuses %j',
    (text) => expect(() => new ChunkedBody().read(Buffer.from(text), 0, () => {})).toThrow(MalformedRequest),
  )

  test.each([
    ['extensions', (n: number) => `1;${'a'.repeat(n)}\r\na\r\n`],
    ['extensions of many chunks', (n: number) => '1;aaaa\r\na\r\n'.repeat(n / 4)],
    ['trailers', (n: number) => `0\r\nA: ${'a'.repeat(n)}`],
  ])('%s have a bound', (_what, text) => {
    const read = (n: number) => new ChunkedBody().read(Buffer.from(text(n)), 0, () => {})
    expect(read(1_000)).toBe(-1)
    expect(() => read(20_000)).toThrow('too much around the chunks')
  })

  test('a body is written as one chunk', () => {
    expect(chunkOf([Buffer.from('0123456789'), Buffer.from('abcdef')]).toString()).toBe('10\r\n0123456789abcdef\r\n')
  })
})
