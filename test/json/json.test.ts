import { describe, expect, it, test } from 'vitest'
import fc from '../chance.ts'
import type { Json } from '../../src/api/object.ts'
import { plainJson, RepeatedMembers } from '../../src/json/json.ts'
import { sortNames } from '../../src/base/name-order.ts'
import { stringify, stringifySorted } from '../../src/json/write-json.ts'
import { decodeUtf8 } from '../../src/base/utf8.ts'
import { parseJson, parseJsonBytes, parseStored } from '../../src/json/parse-json.ts'
import { JsonSyntaxError } from '../../src/json/scanner.ts'
import { NumberLiteral } from '../../src/json/numbers.ts'

const syntaxErrors: [string, string][] = [
  ['', 'unexpected end of JSON input'],
  ['   ', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['[1,', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['"abc\\n', 'unexpected end of JSON input'],
  ['[1', 'unexpected end of JSON input'],
  // Go reads a blank after the end
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['[n', "invalid character ' ' in literal null (expecting 'u')"],
  ['-', "invalid character ' ' in numeric literal"],
  ['{"a":1.', "invalid character ' ' after decimal point in numeric literal"],
  ['1e', "invalid character ' ' in exponent of numeric literal"],
  ['1e+', "invalid character ' ' in exponent of numeric literal"],
  ['"\\', "invalid character ' ' in string escape code"],
  ['"\\u1', "invalid character ' ' in \\u hexadecimal character escape"],
  ['xyz', "invalid character 'x' looking for beginning of value"],
  ['+3', "invalid character '+' looking for beginning of value"],
  ['{"a":+3}', "invalid character '+' looking for beginning of value"],
  ['{"a":03}', "invalid character '3' after object key:value pair"],
  ['{"a":1 x}', "invalid character 'x' after object key:value pair"],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ["{'a':1}", `invalid character '\\'' looking for beginning of object key string`],
  ['{1:2}', "invalid character '1' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{} // x', "invalid character '/' after top-level value"],
  ['{}{', "invalid character '{' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\u0000"', "invalid character '\\x00' in string literal"],
  ['"\\x41"', "invalid character 'x' in string escape code"],
  ['"\\u12"', `invalid character '"' in \\u hexadecimal character escape`],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['1e+x', "invalid character 'x' in exponent of numeric literal"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
  ['<html>', "invalid character '<' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
]

test.each(syntaxErrors)('%j is refused', (text, message) => {
  expect(() => parseJson(text)).toThrow(expect.objectContaining({ message, name: 'JsonSyntaxError' }))
  expect(() => parseJsonBytes(new TextEncoder().encode(text))).toThrow(message)
})

test('nesting ends at 10,000', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(() => parseJson(nested(10_001))).toThrow("invalid character '[' exceeded max depth")
  const deep = plainJson(parseJson(nested(10_000)))
  expect(deep).toHaveLength(1)
  expect(stringifySorted(plainJson(parseJson(nested(1000))))).toBe(nested(1000))
})

describe('numbers', () => {
  test.each<[string, number | bigint]>([
    ['0', 0],
    ['-0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['1.5', 1.5],
  ])('%s', (text, value) => {
    expect(parseJson(text)).toBe(value)
    expect(plainJson(parseJson(text))).toBe(value)
    if (text !== '-0') expect(parseStored(`{"a":${text}}`)).toEqual({ a: value })
  })

  test.each(['3.0', '1e2', '1E2', '9223372036854775808', '1.10'])('%s keeps its text', (text) => {
    expect(parseJson(text)).toEqual(new NumberLiteral(text))
    expect(plainJson(parseJson(text))).toBe(Number(text))
  })

  it('writes whole numbers exactly', () => {
    expect(stringify({ a: 9007199254740993n, b: [1n] })).toBe('{"a":9007199254740993,"b":[1]}')
  })
})

describe('repeated members', () => {
  it('keeps them in order', () => {
    expect(parseJson('{"a":1,"b":2,"a":3}')).toEqual(
      new RepeatedMembers([
        ['a', 1],
        ['b', 2],
        ['a', 3],
      ]),
    )
  })

  it('takes the last where no schema merges them', () => {
    expect(plainJson(parseJson('[{"a":{"x":1},"a":{"y":1}}]'))).toEqual([{ a: { y: 1 } }])
  })

  it('has no trouble with names of Object.prototype', () => {
    const tree = parseJson('{"toString":1,"__proto__":2,"constructor":3}')
    expect(Object.entries(tree as object)).toEqual([
      ['toString', 1],
      ['__proto__', 2],
      ['constructor', 3],
    ])
    expect(parseJson('{"__proto__":1,"__proto__":2}')).toBeInstanceOf(RepeatedMembers)
  })
})

test('lone surrogates and bytes that are no UTF-8 become U+FFFD', () => {
  expect(parseJson('"\\ud800"')).toBe('\ufffd')
  expect(parseJson('"\\ud83d\\ude00"')).toBe('😀')
  expect(decodeUtf8(new Uint8Array([0xe2, 0x82, 0x41, 0xc0, 0xaf, 0xff]))).toBe('\ufffd\ufffdA\ufffd\ufffd\ufffd')
  expect(() => parseJsonBytes(new Uint8Array([0xff, 0xfe, 0x7b]))).toThrow(
    "invalid character 'ÿ' looking for beginning of value",
  )
})

test('characters that HTML could misread are escaped', () => {
  expect(stringify({ 'a<': '&>\u2028\u2029' })).toBe('{"a\\u003c":"\\u0026\\u003e\\u2028\\u2029"}')
})

test('names sort by their UTF-8 bytes', () => {
  expect(sortNames(['\uff61', '😀', 'b', 'a', 'aa'])).toEqual(['a', 'aa', 'b', '\uff61', '😀'])
  expect(stringifySorted({ b: 1, a: { d: [], c: undefined }, 10: 1, 9: 2 })).toBe('{"10":1,"9":2,"a":{"d":[]},"b":1}')
})

/** Makes values comparable: JSON.parse rounds integers beyond 2^53. A replacer gets what `toJSON` made of a bigint. */
const comparable = (value: Json) =>
  JSON.stringify(value, function (this: Record<string, unknown>, name, part: unknown) {
    const held = this[name]
    return typeof held === 'bigint' ? Number(held) : part
  }).replaceAll('-0', '0')

test('reads what JSON.parse reads, and nothing else', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(comparable(plainJson(parseJson(text)))).toEqual(comparable(JSON.parse(text)))
    }),
  )
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (text, at, insert) => {
      const place = at % (text.length + 1)
      const broken = text.slice(0, place) + insert + text.slice(place + 1)
      let expected: Json
      try {
        expected = JSON.parse(broken)
      } catch {
        expect(() => parseJson(broken)).toThrow(JsonSyntaxError)
        return
      }
      expect(comparable(plainJson(parseJson(broken)))).toEqual(comparable(expected))
    }),
    { examples: [['[10575079218.878593]', 12, '']] },
  )
})
