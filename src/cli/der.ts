// Writes DER (X.690), as much as a certificate needs.

export type Der = Uint8Array

/** A value with its tag and length. */
export function tagged(tag: number, ...contents: Der[]): Der {
  const length = contents.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(length)]), ...contents])
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) octets.unshift(rest & 0xff)
  return [0x80 | octets.length, ...octets]
}

export const sequence = (...parts: Der[]): Der => tagged(0x30, ...parts)
export const setOf = (...parts: Der[]): Der => tagged(0x31, ...parts)
export const octetString = (contents: Der): Der => tagged(0x04, contents)
export const utf8String = (text: string): Der => tagged(0x0c, Buffer.from(text, 'utf8'))
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]))
/** [number] EXPLICIT. */
export const explicit = (number: number, contents: Der): Der => tagged(0xa0 | number, contents)
/** [number] IMPLICIT of a primitive type. */
export const implicit = (number: number, contents: Der): Der => tagged(0x80 | number, contents)

/** Of the octets of a number, the most significant first; never negative. */
export function unsignedInteger(octets: Uint8Array): Der {
  const start = octets.findIndex((octet) => octet !== 0)
  const magnitude = start < 0 ? Buffer.from([0]) : Buffer.from(octets.subarray(start))
  return tagged(0x02, (magnitude[0] ?? 0) < 0x80 ? magnitude : Buffer.concat([Buffer.from([0]), magnitude]))
}

/** `unused` bits at the end of the last octet do not count. */
export const bitString = (octets: Uint8Array, unused = 0): Der => tagged(0x03, Buffer.from([unused]), octets)

/** Bits by number, as KeyUsage counts them; without trailing zeros, as DER wants. */
export function namedBits(...bits: number[]): Der {
  const octets = new Uint8Array(Math.floor(Math.max(...bits) / 8) + 1)
  for (const bit of bits) octets[bit >> 3]! |= 0x80 >> (bit & 7)
  return bitString(octets, 7 - (Math.max(...bits) & 7))
}

export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const octets = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) octets.unshift(0x80 | (rest & 0x7f))
  return octets
}

/** UTCTime up to 2049 and GeneralizedTime after it, as RFC 5280 §4.1.2.5 asks; whole seconds. */
export function time(date: Date): Der {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : tagged(0x18, Buffer.from(digits, 'ascii'))
}
