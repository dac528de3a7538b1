import { expect, test } from 'vitest'
import { warningHeaders } from '../../../src/codec/negotiation/warnings.ts'

test('quoted, each once, in order', () => {
  expect(warningHeaders(['b', 'say "a\\b"', 'b', ''])).toEqual(['299 - "b"', '299 - "say \\"a\\\\b\\""'])
})

test('control characters can not be sent', () => expect(warningHeaders(['a\nb', 'c'])).toEqual(['299 - "c"']))

test('other than ASCII stays: the engine writes UTF-8', () => expect(warningHeaders(['é'])).toEqual(['299 - "é"']))

test('beyond 4096 characters texts are cut to 256', () => {
  const texts = ['a', 'b'].map((letter) => letter.repeat(3000))
  expect(warningHeaders(texts)).toEqual(['a', 'b'].map((letter) => `299 - "${letter.repeat(256)}"`))
})

test('warnings beyond 4096 characters in all are dropped', () => {
  const texts = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(300)}`)
  expect(warningHeaders(texts)).toHaveLength(16)
})
