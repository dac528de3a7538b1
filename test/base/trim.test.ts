import { expect, test } from 'vitest'
import { trimmedOf, withoutTrailing } from '../../src/base/trim.ts'

test.each([
  ['', ''],
  ['a', 'a'],
  ['a**', 'a'],
  ['*a*', '*a'],
  ['***', ''],
])('the run at the end of %j goes', (text, rest) => expect(withoutTrailing(text, '*')).toBe(rest))

test.each([
  ['', ''],
  ['  a b ', 'a b'],
  ['   ', ''],
  ['\ta ', '\ta'],
])('the runs around %j go', (text, rest) => expect(trimmedOf(text, ' ')).toBe(rest))
