import { expect, test } from 'vitest'
import { objectIdentifier, sequence, write } from '../../src/x509/der.ts'
import { COMMON_NAME, nameAttributes } from '../../src/x509/name.ts'

const [UTF8, NUMERIC, PRINTABLE, TELETEX, IA5, UNIVERSAL, BMP] = [0x0c, 0x12, 0x13, 0x14, 0x16, 0x1c, 0x1e]
const ascii = (text: string) => [...text].map((character) => character.charCodeAt(0))
const read = (tag: number, octets: number[]) =>
  nameAttributes(write(0x31, sequence(objectIdentifier(COMMON_NAME), write(tag, Uint8Array.from(octets)))))

test.each([
  ['UTF8String', UTF8, [0xc3, 0xbc], 'ü'],
  ['NumericString', NUMERIC, ascii('12 3'), '12 3'],
  ['PrintableString', PRINTABLE, ascii("a-Z (0)'+,./:=?"), "a-Z (0)'+,./:=?"],
  ['PrintableString with widespread errors', PRINTABLE, ascii('*.a&b'), '*.a&b'],
  ['TeletexString, which is Latin-1', TELETEX, [0xc3, 0xbc], 'Ã¼'],
  ['IA5String', IA5, ascii('a@b'), 'a@b'],
  ['BMPString', BMP, [0, 0x41, 0x26, 0x03], 'A☃'],
  ['BMPString with a terminator', BMP, [0, 0x41, 0, 0], 'A'],
])('%s', (_, tag, octets, text) => {
  expect(read(tag, octets)).toEqual([[COMMON_NAME, text]])
})

test.each([
  ['octets that are no UTF-8', UTF8, [0xff]],
  ['a letter in a NumericString', NUMERIC, ascii('1a')],
  ['an @ in a PrintableString', PRINTABLE, ascii('a@b')],
  ['UTF-8 in a PrintableString', PRINTABLE, [0xc3, 0xbc]],
  ['UTF-8 in an IA5String', IA5, [0xc3, 0xbc]],
  ['a UniversalString', UNIVERSAL, [0, 0, 0, 0x41]],
  ['half a character', BMP, [0, 0x41, 0]],
  ['half a pair of surrogates', BMP, [0xd8, 0x3d]],
  ['a pair of surrogates', BMP, [0xd8, 0x3d, 0xde, 0x00]],
  ['no character', BMP, [0xff, 0xff]],
  ['a number', 0x02, [1]],
])('%s is refused', (_, tag, octets) => {
  expect(() => read(tag, octets)).toThrow()
})
