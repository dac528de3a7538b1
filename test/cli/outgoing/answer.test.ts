/** Parses answers of other servers octet by octet, and refuses those that are malformed. */
import { describe, expect, test } from 'vitest'
import fc from '../../chance.ts'
import { OutgoingAnswer } from '../../../src/cli/outgoing/answer.ts'

const MOST = 100

/** Parses the text in pieces that end at these positions. @returns undefined while the answer is incomplete */
function readIn(text: string, cuts: readonly number[], ends: boolean) {
  const answer = new OutgoingAnswer(MOST)
  const octets = Buffer.from(text, 'latin1')
  const places = [0, ...cuts.filter((cut) => cut < octets.length).toSorted((a, b) => a - b), octets.length]
  for (const [index, from] of places.slice(0, -1).entries()) {
    const whole = answer.read(octets.subarray(from, places[index + 1]))
    if (whole !== undefined) return told(whole)
  }
  return ends ? told(answer.end()) : undefined
}

const told = ({ body, ...head }: NonNullable<ReturnType<OutgoingAnswer['read']>>) => ({
  ...head,
  body: body.toString('latin1'),
})

const OK = 'HTTP/1.1 200 OK\r\n'
const plain = { status: 200, contentType: '', retryAfter: '', isGzip: false, keptMs: undefined as number | undefined }

const wholes: [string, string, object][] = [
  ['a body of so many octets', `${OK}Content-Length: 2\r\n\r\n{}`, { ...plain, body: '{}' }],
  ['none', `${OK}content-length:0\r\n\r\n`, { ...plain, body: '' }],
  ['in chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n`, { ...plain, body: '{}' }],
  ['none by its status', 'HTTP/1.1 204 No Content\r\n\r\n', { ...plain, status: 204, body: '' }],
  [
    'what is said of it',
    'HTTP/1.1 503 \r\nContent-Type: text/plain\r\nRetry-After:  3 \r\nContent-Encoding: GZIP\r\nContent-Length: 1\r\n\r\nx',
    { ...plain, status: 503, contentType: 'text/plain', retryAfter: '3', isGzip: true, body: 'x' },
  ],
  [
    'behind interim answers',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`,
    { ...plain, body: 'x' },
  ],
  ['the last', `${OK}Connection: close\r\nContent-Length: 1\r\n\r\nx`, { ...plain, keptMs: 0, body: 'x' }],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx', { ...plain, keptMs: 0, body: 'x' }],
  [
    'for so long',
    `${OK}Keep-Alive: timeout=5, max=9\r\nContent-Length: 1\r\n\r\nx`,
    { ...plain, keptMs: 4000, body: 'x' },
  ],
  ['without a reason', 'HTTP/1.1 600\r\nContent-Length: 1\r\n\r\nx', { ...plain, status: 600, body: 'x' }],
]

describe('an answer is read in whatever pieces it comes:', () => {
  test.each(wholes)('%s', (_, text, expected) => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 5 }), (cuts) => {
        expect(readIn(text, cuts, false)).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test('up to the end of the connection', () => {
    expect(readIn(`${OK}\r\n{}`, [3], true)).toEqual({ ...plain, keptMs: 0, body: '{}' })
    expect(readIn(`${OK}\r\n{}`, [3], false)).toBeUndefined()
  })

  test('a connection with bytes behind an answer is not used again', () => {
    const answer = new OutgoingAnswer(MOST)
    expect(answer.read(Buffer.from(`${OK}Content-Length: 1\r\n\r\nxy`))).toMatchObject({ keptMs: 0 })
  })
})

const MALFORMED = 'malformed HTTP response'
describe('refused:', () => {
  test.each([
    ['no status line', 'SSH-2.0-x\r\n\r\n', MALFORMED],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n', MALFORMED],
    ['lines that end otherwise', 'HTTP/1.1 200 OK\nA: b\r\n\r\n', MALFORMED],
    ['a line that is folded', `${OK}A: b\r\n c\r\nContent-Length: 0\r\n\r\n`, MALFORMED],
    ['a blank before the colon', `${OK}Content-Length : 0\r\n\r\n`, MALFORMED],
    ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, MALFORMED],
    ['no length', `${OK}Content-Length: +1\r\n\r\nx`, MALFORMED],
    ['length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, MALFORMED],
    ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, MALFORMED],
    ['a chunk that is none', `${OK}Transfer-Encoding: chunked\r\n\r\nx\r\n`, MALFORMED],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', MALFORMED],
    ['interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(6), MALFORMED],
    ['a head without end', `${OK}A: ${'b'.repeat(20_000)}`, MALFORMED],
    ['more than may come', `${OK}Content-Length: 101\r\n\r\n`, 'the answer is longer than 100 bytes'],
    ['more in chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n65\r\n${'x'.repeat(101)}`, 'longer than 100 bytes'],
    ['more up to the end', `${OK}\r\n${'x'.repeat(101)}`, 'longer than 100 bytes'],
    ['nothing', '', 'socket hang up'],
    ['half a head', 'HTTP/1.1 200', 'unexpected EOF'],
    ['half a body', `${OK}Content-Length: 2\r\n\r\n{`, 'unexpected EOF'],
    ['half the chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, 'unexpected EOF'],
  ])('%s', (_, text, why) => {
    expect(() => readIn(text, [], true)).toThrow(why)
  })
})

// The other server decides how its answer is split; pieces of one octet are the worst case.
test('many small pieces are gathered in few buffers', () => {
  const answer = new OutgoingAnswer(1 << 20)
  answer.read(Buffer.from(`${OK}Transfer-Encoding: chunked\r\n\r\n`))
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(1 << 10))
  const before = process.memoryUsage()
  for (let count = 0; count < 1 << 10; count++) answer.read(chunks)
  const after = process.memoryUsage()
  // a Buffer for each piece would take more than a hundred megabytes
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
  expect(grown).toBeLessThan(64 << 20)
  expect(answer.read(Buffer.from('0\r\n\r\n'))?.body.length).toBe(1 << 20)
})
