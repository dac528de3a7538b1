import { decode, encode } from 'cborg'
import { describe, expect, it, test } from 'vitest'
import type { Json } from '../../../src/api/object.ts'
import { parseCbor } from '../../../src/codec/cbor/decode.ts'
import { cborWatchEvent, encodeCbor, encodeCborValue } from '../../../src/codec/cbor/encode.ts'
import { NumberLiteral } from '../../../src/json/numbers.ts'
import { builtInType } from '../../../src/schema/built-in.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('values', () => {
  test.each<[Json, string]>([
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [256, '190100'],
    [65536, '1a00010000'],
    [2 ** 32, '1b0000000100000000'],
    [9223372036854775807n, '1b7fffffffffffffff'],
    [-1, '20'],
    [-9223372036854775808n, '3b7fffffffffffffff'],
    [1.5, 'f93e00'],
    [5.960464477539063e-8, 'f90001'],
    [100000.5, 'fa47c35040'],
    [1.1, 'fb3ff199999999999a'],
    [true, 'f5'],
    [null, 'f6'],
    ['a', '4161'],
    ['é', '42c3a9'],
    [[1, []], '820180'],
    [{ b: 1, a: 2, aa: 3 }, 'a3 4161 02 4162 01 426161 03'],
  ])('%j', (value, expected) => {
    expect(hex(encodeCborValue(value))).toBe(`d9d9f7${expected.replaceAll(' ', '')}`)
    expect(parseCbor(bytes(`d9d9f7${expected}`))).toEqual(value)
    // we encode numbers, lists and constants exactly as the other encoder does
    if (typeof value !== 'object' && typeof value !== 'string') expect(hex(encode(value))).toBe(expected)
  })

  it('gives bytes the tag of base64', () => {
    const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'aGVsbG8=' } }
    const encoded = encodeCbor(builtInType('io.k8s.api.core.v1.Secret'), secret)
    expect(hex(encoded)).toContain('d64568656c6c6f')
    expect(parseCbor(encoded)).toEqual(secret)
  })

  it('makes events that other decoders read', () => {
    const event = cborWatchEvent('ADDED', encodeCborValue({ a: 1 }))
    const read = decode(event, { useMaps: true, tags: { 55799: (inner: () => unknown) => inner() } as never }) as Map<
      Uint8Array,
      unknown
    >
    expect([...read.keys()].map((key) => Buffer.from(key).toString())).toEqual(['type', 'object'])
    expect(parseCbor(event)).toEqual({ type: 'ADDED', object: { a: 1 } })
  })
})

describe('reading', () => {
  test.each<[string, string, unknown]>([
    ['text strings', '6161', 'a'],
    ['strings in chunks', '5f 4161 4162 ff', 'ab'],
    ['text in chunks', '7f 6161 60 62c3a9 ff', 'aé'],
    ['bytes in chunks, of no UTF-8 each', '5f 41c3 41a9 ff', 'é'],
    ['lists without a length', '9f 01 02 ff', [1, 2]],
    ['maps without a length', 'bf 4161 01 ff', { a: 1 }],
    ['bytes for base64url', 'd5 42 fbff', '-_8'],
    ['bytes for base16', 'd7 42 fbff', 'fbff'],
    ['time as text', 'c0 54 323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
    ['time as a number', 'c1 1a514b67b0', '2013-03-21T20:04:00Z'],
    ['tags of others', 'd82a 01', 1],
    ['floats as floats', 'f94200', new NumberLiteral('3.0')],
  ])('%s', (_, encoded, value) => {
    expect(parseCbor(bytes(encoded))).toEqual(value)
  })

  test.each([
    ['', 'unexpected EOF'],
    ['19', 'unexpected EOF'],
    ['5affffffff', 'unexpected EOF'],
    ['9bffffffffffffffff', 'unexpected EOF'],
    ['bbffffffffffffffff', 'unexpected EOF'],
    ['0000', 'cbor: 1 bytes of extraneous data starting at index 1'],
    ['a2 4161 01 4161 02', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a1 01 01', 'cbor: cannot unmarshal map key'],
    ['1bffffffffffffffff', 'cbor: cannot unmarshal positive integer'],
    ['3bffffffffffffffff', 'cbor: cannot unmarshal negative integer'],
    ['c2 41 01', 'cbor: bignum'],
    ['f7', 'cbor: simple value 23 is not recognized'],
    ['f97e00', 'cbor: NaN'],
    ['f97c00', 'cbor: infinity'],
    ['61ff', 'cbor: invalid UTF-8 string'],
    // each chunk of an indefinite-length string must be valid UTF-8 by itself
    ['7f 61c3 61a9 ff', 'cbor: invalid UTF-8 string'],
    ['7f 62c3a9 61a9 ff', 'cbor: invalid UTF-8 string'],
    ['ff', 'cbor: unexpected "break" code'],
    ['1c', 'cbor: invalid additional information 28'],
    ['81'.repeat(2000) + '01', 'cbor: exceeded max nested level'],
  ])('%s is refused', (encoded, message) => {
    expect(() => parseCbor(bytes(encoded))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), name: 'CborError' }),
    )
  })
})
