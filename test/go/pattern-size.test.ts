import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { isTooLarge } from '../../src/go/pattern-size.ts'

test.each([
  'a{1000}'.repeat(25),
  '(?:a{1,100}){1,10}x'.repeat(12),
  '([ab]{0,90}(c|d{2}){1,2}){10}'.repeat(15),
  '(((a{10}){10}){10}b){21}',
  '\\pL{1000}'.repeat(25),
  '[]a]{1000}'.repeat(25),
  '[^]\\]]{1000}'.repeat(25),
  '(a|b)c*'.repeat(5_000),
])('%s is larger than is compiled', (pattern) => expect(isTooLarge(pattern)).toBe(true))

test.each([
  '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,10}$',
  'a{1000}b{1,1000}',
  '[{]{3}\\{1000}',
  'a{,5}{{1000000000000',
  '{',
  'abcdefghij'.repeat(1_900),
  ')))){5}',
  '([a-z]{1,63}\\.){1,8}[a-z]{2,63}',
])('%s is compiled', (pattern) => expect(isTooLarge(pattern)).toBe(false))

test.each(['(a|b{5}){3}', 'x{3,}', 'x{2,7}y{0,4}', '((ab){2,3}c){4}', '(?i)[a-c]{9}', 'a{10}'.repeat(9)])(
  '%s: what is told of its size is no less than half of it',
  (pattern) => {
    const size = RE2JS.compile(`(?:${pattern}){10}`).programSize()
    // twenty thousand instructions are over the limit
    const times = Math.ceil(40_000 / size)
    expect(isTooLarge(`(?:${pattern}){10}`.repeat(times))).toBe(true)
  },
)

test.each([
  ['a', 20_001],
  ['{', 20_001],
  ['a|', 10_001],
  ['(a)', 6_667],
  ['a*', 6_667],
  [String.raw`\pL`, 1_540],
])('%s is compiled so many times but once, without a repetition: %i', (piece, times) => {
  expect(isTooLarge(piece.repeat(times))).toBe(true)
  expect(isTooLarge(piece.repeat(Math.floor(times * 0.9)))).toBe(false)
})
