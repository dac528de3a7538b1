/** Decodes CBOR (RFC 8949) to JSON like kube-apiserver. */
import { withoutTrailing } from '../../base/trim.ts'
import { setOwn } from '../../base/own.ts'
import { PART } from '../../base/parts.ts'
import type { Steps } from '../../base/slices.ts'
import { atOnce } from '../../base/slices.ts'
import { bytesToBase16 } from '../../base/base16.ts'
import { bytesToBase64 } from '../../base/base64.ts'
import { DecodeError } from '../decode/decode-problems.ts'
import { goQuote } from '../../go/quote.ts'
import type { JsonTree } from '../../json/json.ts'
import { checkMembers, MAX_NESTING } from '../../json/json.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { NumberLiteral } from '../../json/numbers.ts'
import { formatTime } from '../../schema/time.ts'
import {
  ARRAY,
  AS_BASE16,
  AS_BASE64,
  AS_BASE64URL,
  BIGNUMS,
  EPOCH_TIME,
  TIME_TEXT,
  BREAK,
  BYTES,
  FALSE,
  FLOAT16,
  FLOAT32,
  FLOAT64,
  MAP,
  NEGATIVE,
  NULL,
  SIMPLE,
  TAG,
  TEXT,
  TRUE,
  UNDEFINED,
  UNSIGNED,
  float16Value,
} from './cbor.ts'

/** The bytes are no CBOR, or the CBOR is no JSON. */
export class CborError extends DecodeError {
  override readonly name = 'CborError'
}

/** One whole item. @throws {CborError} */
export const parseCbor = (bytes: Uint8Array): JsonTree => atOnce(parsingCbor(bytes))

/** Like parseCbor, in steps. */
export function* parsingCbor(bytes: Uint8Array): Steps<JsonTree> {
  const reader = new CborReader(bytes)
  let tree = reader.within(ITEMS)
  while (tree === undefined) {
    yield
    tree = reader.within(ITEMS)
  }
  reader.expectEnd()
  return tree
}

/** Items that one step reads. */
const ITEMS = 4 * PART

const EOF = 'unexpected EOF'
const INVALID_UTF8 = 'cbor: invalid UTF-8 string'

/** A byte of UTF-8 that does not begin a character. */
const isInside = (byte: number): boolean => byte >> 6 === 0b10

/** A list, a map or a tagged item whose end is not read yet. */
interface Begun {
  readonly list?: JsonTree[]
  readonly map?: { [name: string]: JsonTree }
  readonly tag?: bigint
  /** undefined where a break ends it. */
  readonly length: bigint | undefined
  /** Elements or members that have been read. */
  read: number
  /** The name of the member whose value comes next. */
  name: string | undefined
}

class CborReader {
  private at = 0
  private readonly view: DataView
  private readonly begun: Begun[] = []

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  expectEnd(): void {
    const rest = this.bytes.length - this.at
    if (rest > 0) throw new CborError(`cbor: ${rest} bytes of extraneous data starting at index ${this.at}`)
  }

  /** @returns undefined where the item has more parts than `items`; the next call continues */
  within(items: number): JsonTree | undefined {
    for (let left = items; left > 0; left--) {
      let value = this.item()
      while (value !== undefined) {
        const inside = this.begun.at(-1)
        if (inside === undefined) return value
        value = this.add(inside, value)
      }
      // a list or map that has just begun may be empty
      for (let last = this.begun.at(-1); last !== undefined && this.isOver(last); last = this.begun.at(-1)) {
        this.begun.pop()
        let whole: JsonTree | undefined = last.list ?? last.map ?? null
        for (let inside = this.begun.at(-1); whole !== undefined; inside = this.begun.at(-1)) {
          if (inside === undefined) return whole
          whole = this.add(inside, whole)
        }
      }
    }
    return undefined
  }

  /**
   * Ends a tagged item.
   * @returns the value that the tag makes of its content
   */
  private add(inside: Begun, value: JsonTree): JsonTree | undefined {
    const { list, map, tag } = inside
    if (tag !== undefined) {
      this.begun.pop()
      return tagged(tag, value)
    }
    if (list !== undefined) {
      list.push(value)
      inside.read++
    } else if (inside.name === undefined) {
      if (typeof value !== 'string') throw new CborError('cbor: cannot unmarshal map key into Go value of type string')
      if (Object.hasOwn(map!, value))
        throw new CborError(`cbor: found duplicate map key ${goQuote(value)} at map element index ${inside.read}`)
      inside.name = value
    } else {
      setOwn(map!, inside.name, value)
      inside.name = undefined
      inside.read++
    }
    return undefined
  }

  /** Whether no other element follows. */
  private isOver(inside: Begun): boolean {
    if (inside.tag !== undefined || inside.name !== undefined) return false
    const { length, read } = inside
    const isOver = length === undefined ? this.bytes[this.at] === BREAK : read >= length
    if (isOver && length === undefined) this.at++
    else if (!isOver && inside.map !== undefined) checkMembers(read + 1)
    return isOver
  }

  private begin(what: Pick<Begun, 'list' | 'map' | 'tag'>, length?: bigint): undefined {
    this.begun.push({ ...what, length, read: 0, name: undefined })
  }

  /** undefined: a list, a map or a tag has begun. */
  private item(): JsonTree | undefined {
    if (this.begun.length > MAX_NESTING) throw new CborError('cbor: exceeded max nested level 10000')
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
        // every element takes at least a byte, so a length beyond the end of the body is wrong
        if (argument !== undefined && argument > this.bytes.length - this.at) throw new CborError(EOF)
        return this.begin({ list: [] }, argument)
      case MAP:
        if (argument !== undefined && argument * 2n > this.bytes.length - this.at) throw new CborError(EOF)
        return this.begin({ map: {} }, argument)
      default:
        return this.tag(argument!)
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

  /** Reads a byte string or a text string, in one piece or in chunks. */
  private run(major: number, length: bigint | undefined): Uint8Array {
    if (length !== undefined) return this.slice(length)
    // this measures the chunks first, because a list of a million empty chunks takes a hundred times the memory of the
    // body
    const start = this.at
    const whole = new Uint8Array(this.chunks(major, () => {}))
    this.at = start
    let at = 0
    this.chunks(major, (chunk) => {
      whole.set(chunk, at)
      at += chunk.length
    })
    return whole
  }

  /** @returns the bytes of all chunks together */
  private chunks(major: number, take: (chunk: Uint8Array) => void): number {
    let length = 0
    for (let first = this.byte(); first !== BREAK; first = this.byte()) {
      if (first >> 5 !== major || (first & 31) === 31)
        throw new CborError(
          `cbor: wrong element type ${typeNames[first >> 5]} for indefinite-length ${typeNames[major]}`,
        )
      const chunk = this.slice(this.argument(first, major)!)
      // decoding checks the whole text later; this refuses only a character that spans two chunks
      if (major === TEXT && chunk.length > 0 && isInside(chunk[0]!)) throw new CborError(INVALID_UTF8)
      length += chunk.length
      take(chunk)
    }
    return length
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
      throw new CborError(INVALID_UTF8)
    }
  }

  private tag(tag: bigint): JsonTree | undefined {
    if (BIGNUMS.includes(tag)) throw new CborError('cbor: bignum')
    const isLaterText = tag === AS_BASE64 || tag === AS_BASE64URL || tag === AS_BASE16
    return isLaterText && this.bytes[this.at]! >> 5 === BYTES ? this.laterText(tag) : this.begin({ tag })
  }

  /** Bytes with a tag that says how they become text. */
  private laterText(tag: bigint): JsonTree {
    const first = this.byte()
    const bytes = this.run(BYTES, this.argument(first, BYTES))
    if (tag === AS_BASE16) return bytesToBase16(bytes)
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
    // a float keeps its point, so that no reader takes it for a whole number
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? new NumberLiteral(`${value}.0`) : value
  }
}

/** Undefined where it is no number. */
function numberOf(value: JsonTree): number | undefined {
  if (value instanceof NumberLiteral) return Number(value.text)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

/** @throws {CborError} */
function tagged(tag: bigint, content: JsonTree): JsonTree {
  if (tag === TIME_TEXT && typeof content !== 'string')
    throw new CborError('cbor: tag number 0 must be followed by text string')
  if (tag !== EPOCH_TIME) return content
  const seconds = numberOf(content)
  if (seconds === undefined || Math.abs(seconds) >= 1e11)
    throw new CborError('cbor: tag number 1 must be followed by integer or floating-point number')
  return formatTime({ seconds: Math.floor(seconds), nanos: 0 })
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
