/**
 * Kubernetes' CBOR (RFC 8949, deterministic): text and names are byte strings, members stand in the order of their
 * encoded names, bytes carry tag 22 ("base64, if you must write this as text"), and a whole object begins with the
 * self-describing tag. What is read is what a JSON body would have said.
 */
import { withoutTrailing } from '../api/trim.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../api/own.ts'
import type { Structural, StructType } from '../schema/structural.ts'
import { base64ToBytes, bytesToBase64 } from '../api/base64.ts'
import { DecodeError } from './decode.ts'
import type { EncodeOptions } from './encode.ts'
import { canonical } from './encode.ts'
import { goQuote } from '../go/quote.ts'
import type { JsonTree } from '../api/json.ts'
import { checkMembers, decodeUtf8, MAX_NESTING, NumberLiteral } from '../api/json.ts'
import { formatTime } from '../schema/time.ts'

/** Bytes that are no CBOR, or CBOR that is no JSON. */
export class CborError extends DecodeError {
  override readonly name = 'CborError'
}

const SELF_DESCRIBED = Uint8Array.of(0xd9, 0xd9, 0xf7)

const UNSIGNED = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const ARRAY = 4
const MAP = 5
const TAG = 6
const SIMPLE = 7

const FALSE = 0xf4
const TRUE = 0xf5
const NULL = 0xf6
const UNDEFINED = 0xf7
const FLOAT16 = 0xf9
const FLOAT32 = 0xfa
const FLOAT64 = 0xfb
const BREAK = 0xff

const TIME_TEXT = 0n
const EPOCH_TIME = 1n
const BIGNUMS = [2n, 3n]
const AS_BASE64URL = 21n
const AS_BASE64 = 22n
const AS_BASE16 = 23n

/** An object of a built-in type, with the self-describing tag in front. */
export function encodeCbor(type: StructType, object: JsonObject, options: EncodeOptions = {}): Uint8Array {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  writer.typed(type, canonical(type, object, options))
  return writer.finish()
}

/** A value that no type describes (custom resources), with the self-describing tag in front. */
export function encodeCborValue(value: Json): Uint8Array {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  writer.value(value)
  return writer.finish()
}

/**
 * A list whose items are written apart (encodeCborItems) and stand between its head and its tail.
 * @param list with an empty list of items
 */
export function encodeCborList(
  type: StructType | undefined,
  list: JsonObject,
  count: number,
): { readonly head: Uint8Array; readonly tail: Uint8Array } {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  const end = writer.around(type, type === undefined ? list : canonical(type, list, { keepEmpty: true }), count)
  const bytes = writer.finish()
  return { head: bytes.subarray(0, end), tail: bytes.subarray(end) }
}

/** @param type undefined: of custom resources */
export function encodeCborItems(type: StructType | undefined, items: readonly JsonObject[]): Uint8Array {
  const writer = new CborWriter()
  for (const item of items)
    if (type === undefined) writer.value(item)
    else writer.typed(type, canonical(type, item, { keepEmpty: true }))
  return writer.finish()
}

/** One event of a watch: an item of a CBOR sequence. @param object encoded with its tag */
export function cborWatchEvent(type: string, object: Uint8Array): Uint8Array {
  const writer = new CborWriter()
  writer.bytes(SELF_DESCRIBED)
  writer.head(MAP, 2)
  writer.value('type')
  writer.value(type)
  writer.value('object')
  writer.bytes(object)
  return writer.finish()
}

const utf8 = new TextEncoder()

class CborWriter {
  private buffer = new Uint8Array(1024)
  private length = 0

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  bytes(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.buffer.length) {
      const bigger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + bytes.length))
      bigger.set(this.finish())
      this.buffer = bigger
    }
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  head(major: number, argument: number | bigint): void {
    const first = major << 5
    if (argument < 24) this.bytes(Uint8Array.of(first | Number(argument)))
    else if (argument < 0x100) this.bytes(Uint8Array.of(first | 24, Number(argument)))
    else if (argument < 0x10000) this.sized(first | 25, 2, (view) => view.setUint16(1, Number(argument)))
    else if (argument < 0x1_0000_0000) this.sized(first | 26, 4, (view) => view.setUint32(1, Number(argument)))
    else this.sized(first | 27, 8, (view) => view.setBigUint64(1, BigInt(argument)))
  }

  private sized(first: number, size: number, set: (view: DataView) => void): void {
    const bytes = new Uint8Array(1 + size)
    bytes[0] = first
    set(new DataView(bytes.buffer))
    this.bytes(bytes)
  }

  /** A value in the form that encode.ts gives it. */
  typed(type: Structural, value: Json): void {
    if (value === null) return this.value(null)
    switch (type.shape) {
      case 'leaf':
        if (type.scalar === 'bytes') {
          this.head(TAG, AS_BASE64)
          return this.byteString(base64ToBytes(value as string))
        }
        return type.scalar === 'double' ? this.float(Number(value)) : this.value(value)
      case 'list': {
        const list = value as Json[]
        this.head(ARRAY, list.length)
        for (const element of list) this.typed(type.element, element)
        return
      }
      case 'map':
        return this.members(value as JsonObject, (_, member) => this.typed(type.value, member))
      case 'struct':
        return this.members(value as JsonObject, (name, member) => {
          const field = type.field(name)
          return field === undefined ? this.value(member) : this.typed(field.type, member)
        })
      default:
        return this.value(value)
    }
  }

  /** A list without its items. @returns where they are to stand */
  around(type: StructType | undefined, list: JsonObject, count: number): number {
    let end = 0
    this.members(list, (name, member) => {
      if (name === 'items') {
        this.head(ARRAY, count)
        end = this.length
      } else {
        const field = type?.field(name)
        if (field === undefined) this.value(member)
        else this.typed(field.type, member)
      }
    })
    return end
  }

  value(value: Json): void {
    switch (typeof value) {
      case 'string':
        return this.byteString(utf8.encode(value))
      case 'boolean':
        return this.bytes(Uint8Array.of(value ? TRUE : FALSE))
      case 'bigint':
        return value < 0n ? this.head(NEGATIVE, -1n - value) : this.head(UNSIGNED, value)
      case 'number':
        if (!Number.isSafeInteger(value) || Object.is(value, -0)) return this.float(value)
        return value < 0 ? this.head(NEGATIVE, -1 - value) : this.head(UNSIGNED, value)
    }
    if (value === null) this.bytes(Uint8Array.of(NULL))
    else if (Array.isArray(value)) {
      this.head(ARRAY, value.length)
      for (const element of value) this.value(element)
    } else this.members(value, (_, member) => this.value(member))
  }

  private byteString(bytes: Uint8Array): void {
    this.head(BYTES, bytes.length)
    this.bytes(bytes)
  }

  private members(object: JsonObject, write: (name: string, value: Json) => void): void {
    const present = Object.entries(object).filter(([, value]) => value !== undefined)
    const encoded = present
      .map(([name, value]) => [utf8.encode(name), name, value] as const)
      .sort(([a], [b]) => compareKeys(a, b))
    this.head(MAP, encoded.length)
    for (const [bytes, name, value] of encoded) {
      this.byteString(bytes)
      write(name, value!)
    }
  }

  /** The shortest form that says the same. */
  private float(value: number): void {
    const half = float16Of(value)
    if (half !== undefined) this.sized(FLOAT16, 2, (view) => view.setUint16(1, half))
    else if (Math.fround(value) === value) this.sized(FLOAT32, 4, (view) => view.setFloat32(1, value))
    else this.sized(FLOAT64, 8, (view) => view.setFloat64(1, value))
  }
}

/** Encoded names begin with their length, so that shorter ones come first. */
function compareKeys(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return 0
}

/** The bits of a half precision float; undefined when it would not be exact. */
function float16Of(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const magnitude = Math.abs(value)
  if (magnitude === 0) return sign
  if (magnitude < 2 ** -14) {
    const fraction = magnitude * 2 ** 24
    return Number.isInteger(fraction) ? sign | fraction : undefined
  }
  const exponent = Math.floor(Math.log2(magnitude))
  if (exponent > 15) return undefined
  const fraction = (magnitude / 2 ** exponent - 1) * 1024
  return Number.isInteger(fraction) && fraction >= 0 && fraction < 1024
    ? sign | ((exponent + 15) << 10) | fraction
    : undefined
}

function float16Value(bits: number): number {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const sign = bits & 0x8000 ? -1 : 1
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** One whole item. @throws {CborError} */
export function parseCbor(bytes: Uint8Array): JsonTree {
  const reader = new CborReader(bytes)
  const tree = reader.item(0)
  reader.expectEnd()
  return tree
}

const EOF = 'unexpected EOF'

class CborReader {
  private at = 0
  private readonly view: DataView

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  expectEnd(): void {
    const rest = this.bytes.length - this.at
    if (rest > 0) throw new CborError(`cbor: ${rest} bytes of extraneous data starting at index ${this.at}`)
  }

  item(depth: number): JsonTree {
    if (depth > MAX_NESTING) throw new CborError('cbor: exceeded max nested level 10000')
    const first = this.byte()
    const major = first >> 5
    if (major === SIMPLE) return this.simple(first)
    const argument = this.argument(first, major)
    switch (major) {
      case UNSIGNED:
        return this.integer(argument!)
      case NEGATIVE:
        return this.integer(-1n - argument!)
      case BYTES:
        return decodeUtf8(this.run(BYTES, argument))
      case TEXT:
        return this.text(this.run(TEXT, argument))
      case ARRAY:
        return this.array(argument, depth)
      case MAP:
        return this.map(argument, depth)
      default:
        return this.tagged(argument!, depth)
    }
  }

  private byte(): number {
    if (this.at >= this.bytes.length) throw new CborError(EOF)
    return this.bytes[this.at++]!
  }

  /** undefined: the item has no length and ends with a break. */
  private argument(first: number, major: number): bigint | undefined {
    const short = first & 31
    if (short < 24) return BigInt(short)
    if (short === 31) {
      if (major === UNSIGNED || major === NEGATIVE || major === TAG)
        throw new CborError(`cbor: invalid additional information 31 for type ${typeNames[major]}`)
      return undefined
    }
    if (short > 27) throw new CborError(`cbor: invalid additional information ${short} for type ${typeNames[major]}`)
    const size = 1 << (short - 24)
    if (this.at + size > this.bytes.length) throw new CborError(EOF)
    let value = 0n
    for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(this.bytes[this.at++]!)
    return value
  }

  private integer(value: bigint): JsonTree {
    if (value >= 2n ** 63n || value < -(2n ** 63n))
      throw new CborError(
        `cbor: cannot unmarshal ${value < 0n ? 'negative' : 'positive'} integer into Go value of type int64 (${value} overflows Go's int64)`,
      )
    const small = Number(value)
    return Number.isSafeInteger(small) ? small : value
  }

  /** A string of either kind, in one piece or in chunks. */
  private run(major: number, length: bigint | undefined): Uint8Array {
    if (length !== undefined) return this.slice(length)
    const chunks: Uint8Array[] = []
    for (let first = this.byte(); first !== BREAK; first = this.byte()) {
      if (first >> 5 !== major || (first & 31) === 31)
        throw new CborError(
          `cbor: wrong element type ${typeNames[first >> 5]} for indefinite-length ${typeNames[major]}`,
        )
      chunks.push(this.slice(this.argument(first, major)!))
    }
    const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
    let at = 0
    for (const chunk of chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  }

  private slice(length: bigint): Uint8Array {
    if (length > this.bytes.length - this.at) throw new CborError(EOF)
    const start = this.at
    this.at += Number(length)
    return this.bytes.subarray(start, this.at)
  }

  private text(bytes: Uint8Array): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      throw new CborError('cbor: invalid UTF-8 string')
    }
  }

  /** Whether another element follows. */
  private hasNext(length: bigint | undefined, read: number): boolean {
    if (length !== undefined) return read < length
    if (this.bytes[this.at] !== BREAK) return true
    this.at++
    return false
  }

  private array(length: bigint | undefined, depth: number): JsonTree {
    // every element takes a byte at least, so that lengths beyond the end need not be believed
    if (length !== undefined && length > this.bytes.length - this.at) throw new CborError(EOF)
    const list: JsonTree[] = []
    while (this.hasNext(length, list.length)) list.push(this.item(depth + 1))
    return list
  }

  private map(length: bigint | undefined, depth: number): JsonTree {
    if (length !== undefined && length * 2n > this.bytes.length - this.at) throw new CborError(EOF)
    const object: { [name: string]: JsonTree } = {}
    for (let i = 0; this.hasNext(length, i); i++) {
      checkMembers(i + 1)
      const name = this.item(depth + 1)
      if (typeof name !== 'string') throw new CborError('cbor: cannot unmarshal map key into Go value of type string')
      if (Object.hasOwn(object, name))
        throw new CborError(`cbor: found duplicate map key ${goQuote(name)} at map element index ${i}`)
      setOwn(object, name, this.item(depth + 1))
    }
    return object
  }

  private tagged(tag: bigint, depth: number): JsonTree {
    if (BIGNUMS.includes(tag)) throw new CborError('cbor: bignum')
    if (tag === AS_BASE64 || tag === AS_BASE64URL || tag === AS_BASE16) return this.laterText(tag, depth)
    const content = this.item(depth + 1)
    if (tag === TIME_TEXT && typeof content !== 'string')
      throw new CborError('cbor: tag number 0 must be followed by text string')
    if (tag !== EPOCH_TIME) return content
    const seconds = content instanceof NumberLiteral ? Number(content.text) : Number(content)
    if (typeof content === 'string' || !(Math.abs(seconds) < 1e11))
      throw new CborError('cbor: tag number 1 must be followed by integer or floating-point number')
    return formatTime({ seconds: Math.floor(seconds), nanos: 0 })
  }

  /** Bytes that say how they want to be written as text. */
  private laterText(tag: bigint, depth: number): JsonTree {
    if (this.bytes[this.at]! >> 5 !== BYTES) return this.item(depth + 1)
    const first = this.byte()
    const bytes = this.run(BYTES, this.argument(first, BYTES))
    if (tag === AS_BASE16) return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const text = bytesToBase64(bytes)
    return tag === AS_BASE64 ? text : withoutTrailing(text.replaceAll('+', '-').replaceAll('/', '_'), '=')
  }

  private simple(first: number): JsonTree {
    switch (first) {
      case FALSE:
        return false
      case TRUE:
        return true
      case NULL:
        return null
      case FLOAT16:
        return this.float(2, () => float16Value(this.view.getUint16(this.at)))
      case FLOAT32:
        return this.float(4, () => this.view.getFloat32(this.at))
      case FLOAT64:
        return this.float(8, () => this.view.getFloat64(this.at))
      case BREAK:
        throw new CborError('cbor: unexpected "break" code')
      default:
        throw new CborError(`cbor: simple value ${first === UNDEFINED ? 23 : first & 31} is not recognized`)
    }
  }

  private float(size: number, read: () => number): JsonTree {
    if (this.at + size > this.bytes.length) throw new CborError(EOF)
    const value = read()
    this.at += size
    if (!Number.isFinite(value)) throw new CborError(`cbor: ${Number.isNaN(value) ? 'NaN' : 'infinity'}`)
    // a float stays one, so that it is not taken for a whole number
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? new NumberLiteral(`${value}.0`) : value
  }
}

const typeNames = [
  'positive integer',
  'negative integer',
  'byte string',
  'UTF-8 text string',
  'array',
  'map',
  'tag',
  'primitives',
]
