import { describe, expect, test } from 'vitest'
import { namedBits, objectIdentifier, timeOf, unsignedInteger, write } from '../../src/x509/der.ts'

describe('the DER writer', () => {
  const hex = (der: Uint8Array) => Buffer.from(der).toString('hex')
  test.each([
    ['a short length', write(0x04, new Uint8Array(3)), '0403000000'],
    ['a length of two octets', write(0x04, new Uint8Array(300)).subarray(0, 4), '0482012c'],
    ['an integer without leading zeros', unsignedInteger(Buffer.from([0, 0, 5])), '020105'],
    ['an integer that would look negative', unsignedInteger(Buffer.from([0x80])), '02020080'],
    ['zero', unsignedInteger(Buffer.from([0])), '020100'],
    ['named bits', namedBits([0, 2]), '030205a0'],
    ['an object identifier', objectIdentifier('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['a time of this half of the century', timeOf(new Date('2026-11-21T12:00:00Z')), '170d3236313132313132303030305a'],
    ['a later time', timeOf(new Date('2050-01-01T00:00:00Z')), '180f32303530303130313030303030305a'],
  ])('%s', (_name, der, expected) => expect(hex(der)).toBe(expected))
})
