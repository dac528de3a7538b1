/** Every answer of a local server says when it was made, as those of kube-apiserver and of Cloudflare do. */
import { expect, test } from 'vitest'
import { withDate } from '../../../src/cli/front/answer-date.ts'
import { AnswerFollower } from '../../../src/cli/front/answer-follower.ts'

const NOW = Date.UTC(2026, 6, 1, 12, 30, 5, 999)
const DATE = 'Date: Wed, 01 Jul 2026 12:30:05 GMT\r\n'
const BODY = 'Content-Length: 2\r\n'

/** An answer as the client gets it, when the engine sends it in these parts. */
function passed(parts: readonly string[], isHead = false, mayTunnel = false): string {
  const follower = new AnswerFollower(isHead, mayTunnel)
  return parts
    .map((part) => {
      const data = Buffer.from(part, 'latin1')
      follower.follow(data)
      return Buffer.concat(withDate(data, follower.dateAt, NOW)).toString('latin1')
    })
    .join('')
}

test.each([
  ['an object', `HTTP/1.1 200 OK\r\n${BODY}\r\n`, '{}'],
  ['an end', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', ''],
  ['a stream', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '2\r\n{}\r\n0\r\n\r\n'],
  ['no header', 'HTTP/1.1 200 OK\r\n\r\n', 'until the end\r\n\r\n'],
  ['a Date of something else', `HTTP/1.1 200 OK\r\nX-Date: 1\r\nWarning: 299 - "date: 1"\r\n${BODY}\r\n`, '{}'],
])('the answer is %s', (_, head, body) => {
  expect(passed([head + body])).toBe(`${head.slice(0, -2)}${DATE}\r\n${body}`)
})

test.each([10, 10_000])('of %d octets', (length) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n`
  const body = 'x'.repeat(length)
  expect(passed([`${head}\r\n${body}`])).toBe(`${head}${DATE}\r\n${body}`)
})

test('to HEAD', () => {
  expect(passed([`HTTP/1.1 200 OK\r\n${BODY}\r\n`], true)).toBe(`HTTP/1.1 200 OK\r\n${BODY}${DATE}\r\n`)
})

test.each(['Date', 'date', 'DATE'])("a backend's own %s stays alone", (name) => {
  const answer = `HTTP/1.1 200 OK\r\n${name} : Thu, 01 Jan 1970 00:00:00 GMT\r\n${BODY}\r\n{}`
  expect(passed([answer])).toBe(answer)
})

test('a body that looks like a head is left alone', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n'
  const body = 'HTTP/1.1 200 OK\r\n\r'
  expect(passed([`${head}\r\n`, body])).toBe(`${head}${DATE}\r\n${body}`)
})

test('an interim answer and a tunnel have none', () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n'
  const final = `HTTP/1.1 200 OK\r\n${BODY}`
  expect(passed([`${interim}${final}\r\n{}`])).toBe(`${interim}${final}${DATE}\r\n{}`)
  const tunnel = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'
  expect(passed([tunnel], false, true)).toBe(tunnel)
})

const head = `HTTP/1.1 200 OK\r\n${BODY}`

test.each(Array.from({ length: head.length + 2 }, (_, at) => at))(
  'a head may come in two parts, the first of %d',
  (at) => {
    const answer = `${head}\r\n{}`
    // between the blank line's two octets there is no room left
    const expected = at === head.length + 1 ? answer : `${head}${DATE}\r\n{}`
    expect(passed([answer.slice(0, at), answer.slice(at)])).toBe(expected)
  },
)
