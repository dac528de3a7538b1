import { expect, test } from 'vitest'
import { isDigit, isLetter, isPrint } from '../../src/base/unicode.ts'

test.each<[name: string, is: (character: string) => boolean, same: RegExp]>([
  ['isPrint', isPrint, /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u],
  ['isLetter', isLetter, /^\p{L}$/u],
  ['isDigit', isDigit, /^\p{Nd}$/u],
])('%s agrees with Unicode, in ASCII too', (_, is, same) => {
  const differing = Array.from({ length: 0x30000 }, (_, code) => String.fromCodePoint(code)).filter(
    (character) => is(character) !== same.test(character),
  )
  expect(differing).toEqual([])
  expect(is('')).toBe(false)
})
