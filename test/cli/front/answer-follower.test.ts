import { expect, test } from 'vitest'
import { AnswerFollower } from '../../../src/cli/front/answer-follower.ts'

const warnings = Array.from(
  { length: 60 },
  (_, n) => `Warning: 299 - "the field ${'x'.repeat(100)} ${n} is unknown"\r\n`,
)
const head = `HTTP/1.1 201 Created\r\n${warnings.join('')}Content-Length: 5\r\n\r\n`

/** Passes an answer in parts through one reused buffer, as the front reads them. */
function followed(parts: readonly string[]): string[] {
  const place = Buffer.alloc(65_536)
  const follower = new AnswerFollower(false)
  return parts.map((part) => {
    place.fill('?')
    place.write(part, 'latin1')
    return follower.follow(place.subarray(0, part.length))
  })
}

test.each([1, 20, 4_096, 4_097, head.length - 3, head.length - 1])(
  'a head that comes in two parts, the first of %d octets, is read whole though the second takes its place',
  (at) => {
    expect(followed([head.slice(0, at), `${head.slice(at)}hel`, 'lo'])).toEqual(['goes on', 'goes on', 'complete'])
  },
)

test('bytes behind an answer are noticed', () => {
  expect(followed([head.slice(0, 5_000), `${head.slice(5_000)}hello?`])).toEqual(['goes on', 'complete and more'])
})
