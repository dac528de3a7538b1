import { describe, expect, it } from 'vitest'
import { goQuote, goQuoteByte } from '../../src/go/quote.ts'

/** What go1.26 prints for `strconv.Quote(text)`. */
describe('text in quotes', () => {
  it.each([
    ['plain text!', '"plain text!"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ['\u0000\u0007\b\f\n\r\t\v\u001f\u007f', String.raw`"\x00\a\b\f\n\r\t\v\x1f\x7f"`],
    ['\u0080é\u00a0\u00ad\u2028', String.raw`"\u0080é\u00a0\u00ad\u2028"`],
    ['😀\u{e0001}', String.raw`"😀\U000e0001"`],
  ])('%j', (text, quoted) => expect(goQuote(text)).toBe(quoted))
})

describe('a byte in quotes', () => {
  it.each([
    [0x27, String.raw`'\''`],
    [0x22, `'"'`],
    [0x00, String.raw`'\x00'`],
    [0xef, `'ï'`],
  ])('%d', (byte, quoted) => expect(goQuoteByte(byte)).toBe(quoted))
})
