import { joined } from '../base/bytes.ts'
import { mostOf } from '../base/extremes.ts'
/** DER (X.690), as much as certificates and their requests need: a reader and a writer. */

export interface Element {
  readonly tag: number
  /** The whole element with tag and length. */
  readonly whole: Uint8Array
  readonly content: Uint8Array
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The tag of [number] EXPLICIT, or of a constructed type. */
export const contextTag = (number: number): number => 0xa0 | number
/** The tag of [number] IMPLICIT of a primitive type. */
export const primitiveContextTag = (number: number): number => 0x80 | number

/** @throws RangeError where the input ends too early */
export function readElement(der: Uint8Array, at = 0): Element {
  let position = at + 2
  let length = der[at + 1] ?? 0
  if (length >= 0x80) {
    const digits = length & 0x7f
    length = 0
    for (let i = 0; i < digits; i++) length = length * 256 + (der[position++] ?? 0)
  }
  if (position + length > der.length) throw new RangeError('DER element beyond the end')
  return {
    tag: der[at]!,
    whole: der.subarray(at, position + length),
    content: der.subarray(position, position + length),
  }
}

/** The elements of a constructed element. */
export function elements(content: Uint8Array): Element[] {
  const found: Element[] = []
  for (let at = 0; at < content.length;) {
    const element = readElement(content, at)
    found.push(element)
    at += element.whole.length
  }
  return found
}

/** `1.2.840.…` from the content of an OBJECT IDENTIFIER. */
export function readObjectIdentifier(content: Uint8Array): string {
  const numbers: number[] = []
  let number = 0
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f)
    if (byte >= 0x80) continue
    numbers.push(number)
    number = 0
  }
  const [first = 0, ...rest] = numbers
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - root * 40, ...rest].join('.')
}

/** Milliseconds since 1970. */
export function readTime({ tag, content }: Element): number {
  const text = new TextDecoder().decode(content)
  const digits = tag === TAG.generalizedTime ? text : (Number(text.slice(0, 2)) < 50 ? '20' : '19') + text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
  if (parts === null) throw new RangeError(`time ${text} in DER`)
  const [, year, month, day, hour, minute, second] = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** A value with its tag and length. */
export function write(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const length = contents.reduce((sum, part) => sum + part.length, 0)
  return joined([Uint8Array.of(tag, ...lengthBytes(length)), ...contents])
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 | bytes.length, ...bytes]
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => write(TAG.sequence, ...parts)

/**
 * An INTEGER of a number that is not negative.
 * @param bytes the most significant first
 */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  const magnitude = start < 0 ? new Uint8Array(1) : bytes.subarray(start)
  return magnitude[0]! < 0x80 ? write(TAG.integer, magnitude) : write(TAG.integer, new Uint8Array(1), magnitude)
}

/** @param unused bits at the end of the last byte that do not count */
export const bitString = (bytes: Uint8Array, unused = 0): Uint8Array =>
  write(TAG.bitString, Uint8Array.of(unused), bytes)

/** A bit string with these bits set, without trailing zeros. */
export function namedBits(bits: readonly number[]): Uint8Array {
  if (bits.length === 0) return bitString(new Uint8Array(0))
  const last = mostOf(bits)
  const bytes = new Uint8Array(Math.floor(last / 8) + 1)
  for (const bit of bits) bytes[bit >> 3]! |= 0x80 >> (bit & 7)
  return bitString(bytes, 7 - (last & 7))
}

export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return write(TAG.objectIdentifier, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)))
}

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128))
  return bytes
}

/** UTCTime up to 2049 and GeneralizedTime after it (RFC 5280 §4.1.2.5); whole seconds. */
export function timeOf(date: Date): Uint8Array {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')
  const text = (value: string): Uint8Array => new TextEncoder().encode(value)
  return date.getUTCFullYear() < 2050
    ? write(TAG.utcTime, text(digits.slice(2)))
    : write(TAG.generalizedTime, text(digits))
}

/** A string as Go writes it in names: PrintableString where the characters allow it. */
export const printable = (text: string): Uint8Array =>
  write(
    /^[A-Za-z0-9 '()+,\-./:=?*&]*$/.test(text) ? TAG.printableString : TAG.utf8String,
    new TextEncoder().encode(text),
  )
