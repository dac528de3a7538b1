/**
 * Reads JSON values at one cursor and writes them as protocol buffers at another: the steps of protobuf/transcoder.ts.
 * The JSON is this server's own: compact, without repeated members. It is not checked for anything else, but no bytes,
 * whatever they are, make this code write outside of the buffer.
 */
import {
  QUOTE,
  COMMA,
  ZERO,
  BACKSLASH,
  CLOSE_BRACKET,
  LETTER_F,
  LETTER_T,
  LETTER_U,
  LETTER_Z,
  CLOSE_BRACE,
  hasEnd,
  NORMAL_TIME,
  NORMAL_MICRO_TIME,
  escapes,
  PADDING,
  sextets,
} from './json-bytes.ts'
import { WireBuffer, lengthSize, unexpected } from './wire-buffer.ts'

/** Tags of the first fields of a message. */
const FIRST_VARINT = 0x08
const SECOND_VARINT = 0x10
const FIRST_BYTES = 0x0a
const THIRD_BYTES = 0x1a

/** From this length on the engine's search and copy are faster than a loop. */
const LONG = 48
/** A number with this many digits is exact. */
const MAX_DIGITS = 15

export class JsonToWire extends WireBuffer {
  /** A string, with its length. */
  protected text(): void {
    const { bytes, view, out, outView } = this
    const start = this.length
    let at = this.at + 1
    let to = start + 1
    for (;;) {
      const stop = at + LONG
      for (const last = Math.min(stop, bytes.length) - 4; at <= last; at += 4, to += 4) {
        const four = view.getInt32(at)
        if (hasEnd(four)) break
        outView.setInt32(to, four)
      }
      let byte = bytes[at]
      while (byte !== QUOTE && byte !== BACKSLASH && at < stop) {
        out[to++] = byte!
        byte = bytes[++at]
      }
      if (byte === QUOTE) break
      if (byte === BACKSLASH) {
        this.at = at
        to = this.escape(to)
        at = this.at
      } else {
        const run = this.run(at)
        out.set(run, to)
        to += run.length
        at += run.length
      }
    }
    this.at = at + 1
    this.length = to
    if (to - start <= 0x80) out[start] = to - start - 1
    else this.close(start, 1)
  }

  /** The bytes up to the next quote or backslash. */
  private run(at: number): Uint8Array {
    const { bytes } = this
    if (this.nextQuote < at) {
      this.nextQuote = bytes.indexOf(QUOTE, at)
      if (this.nextQuote < 0) throw unexpected
    }
    const run = bytes.subarray(at, this.nextQuote)
    const end = run.indexOf(BACKSLASH)
    return end < 0 ? run : run.subarray(0, end)
  }

  /** Writes the character of an escape. @returns the position behind it in the output */
  private escape(to: number): number {
    const { out } = this
    const letter = this.bytes[this.at + 1]
    if (letter !== LETTER_U) {
      const byte = letter === undefined ? undefined : escapes[letter]
      if (byte === undefined) throw unexpected
      out[to] = byte
      this.at += 2
      return to + 1
    }
    let code = this.hexadecimal(this.at + 2)
    this.at += 6
    if (code >= 0xd800 && code < 0xe000) {
      const isPair = code < 0xdc00 && this.bytes[this.at] === BACKSLASH && this.bytes[this.at + 1] === LETTER_U
      const low = isPair ? this.hexadecimal(this.at + 2) : 0
      if (low >= 0xdc00 && low < 0xe000) {
        this.at += 6
        code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00)
      } else code = 0xfffd
    }
    if (code < 0x80) out[to++] = code
    else {
      if (code < 0x800) out[to++] = 0xc0 | (code >> 6)
      else {
        if (code < 0x1_0000) out[to++] = 0xe0 | (code >> 12)
        else {
          out[to++] = 0xf0 | (code >> 18)
          out[to++] = 0x80 | ((code >> 12) & 0x3f)
        }
        out[to++] = 0x80 | ((code >> 6) & 0x3f)
      }
      out[to++] = 0x80 | (code & 0x3f)
    }
    return to
  }

  private hexadecimal(at: number): number {
    let value = 0
    for (let i = at; i < at + 4; i++) {
      const digit = parseInt(String.fromCharCode(this.bytes[i] ?? 0), 16)
      if (Number.isNaN(digit)) throw unexpected
      value = value * 16 + digit
    }
    return value
  }

  /** Whole numbers that are not negative. @returns undefined for others, at which the cursor stays */
  protected digits(): number | undefined {
    const { bytes } = this
    let at = this.at
    let value = 0
    let digit = bytes[at]! - ZERO
    for (; digit >= 0 && digit <= 9; digit = bytes[at]! - ZERO) {
      value = value * 10 + digit
      at++
    }
    const next = bytes[at]
    const isWhole = next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET
    if (!isWhole || at === this.at || at - this.at > MAX_DIGITS) return undefined
    this.at = at
    return value
  }

  /** Seconds of `"2006-01-02T15:04:05Z"`, or of the same with microseconds. @returns undefined for other forms */
  protected seconds(length: number): number | undefined {
    const { bytes, at } = this
    const isForm =
      bytes[at] === QUOTE &&
      bytes[at + length - 1] === LETTER_Z &&
      bytes[at + length] === QUOTE &&
      bytes[at + 5] === 0x2d
    if (!isForm) return undefined
    const year = this.two(at + 1) * 100 + this.two(at + 3)
    const month = this.two(at + 6)
    const day = this.two(at + 9)
    const time = this.two(at + 12) * 3600 + this.two(at + 15) * 60 + this.two(at + 18)
    // days since 1970, in years that begin in March, so that a leap day is the last
    const shifted = month > 2 ? year : year - 1
    const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
    const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
    const seconds = (shifted * 365 + leapDays + dayOfYear - 719468) * 86400 + time
    return seconds >= 0 ? seconds : undefined
  }

  private two(at: number): number {
    const tens = this.bytes[at]! - ZERO
    const ones = this.bytes[at + 1]! - ZERO
    if (!(tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9)) throw unexpected
    return tens * 10 + ones
  }

  /** The content of a Timestamp, with its length. @returns false, and nothing done, for a time in another form */
  protected timestamp(isMicro: boolean): boolean {
    const length = isMicro ? NORMAL_MICRO_TIME : NORMAL_TIME
    const seconds = this.seconds(length)
    if (seconds === undefined) return false
    const at = this.at + 21
    const nanos = isMicro ? (this.two(at) * 10_000 + this.two(at + 2) * 100 + this.two(at + 4)) * 1000 : 0
    this.at += length + 1
    const start = this.length++
    this.out[this.length++] = FIRST_VARINT
    this.varint(seconds)
    this.out[this.length++] = SECOND_VARINT
    this.varint(nanos)
    this.close(start, 1)
    return true
  }

  /** true or false */
  protected bool(): void {
    const isTrue = this.bytes[this.at] === LETTER_T
    if (!isTrue && this.bytes[this.at] !== LETTER_F) throw unexpected
    this.at += isTrue ? 4 : 5
    this.out[this.length++] = isTrue ? 1 : 0
  }

  /** A message of one string. @param reserved see close */
  protected wrappedText(reserved: number): number {
    const start = this.length
    this.length += reserved
    this.out[this.length++] = FIRST_BYTES
    this.text()
    return this.close(start, reserved)
  }

  /** @returns false, and nothing done, where it is neither a string nor a number that is not negative */
  protected intOrString(): boolean {
    const start = this.length
    if (this.bytes[this.at] === QUOTE) {
      this.length++
      this.out[this.length++] = FIRST_VARINT
      this.out[this.length++] = 1
      this.out[this.length++] = SECOND_VARINT
      this.out[this.length++] = 0
      this.out[this.length++] = THIRD_BYTES
      this.text()
    } else {
      const value = this.digits()
      if (value === undefined) return false
      this.length++
      this.out[this.length++] = FIRST_VARINT
      this.out[this.length++] = 0
      this.out[this.length++] = SECOND_VARINT
      this.varint(value)
      this.out[this.length++] = THIRD_BYTES
      this.out[this.length++] = 0
    }
    this.close(start, 1)
    return true
  }

  /** JSON of any kind, as the only field of a message. */
  protected raw(): void {
    const start = this.at
    this.skip()
    const size = this.at - start
    this.varint(1 + lengthSize(size) + size)
    this.out[this.length++] = FIRST_BYTES
    this.varint(size)
    this.out.set(this.bytes.subarray(start, this.at), this.length)
    this.length += size
  }

  /** Bytes, of a string of base64, with their length. */
  protected base64(reserved: number): number {
    const { bytes, out } = this
    const start = this.length
    let to = start + reserved
    this.expect(QUOTE)
    let at = this.at
    for (; bytes[at] !== QUOTE; at += 4) {
      const a = sextets[bytes[at]!]
      const b = sextets[bytes[at + 1]!]
      const c = sextets[bytes[at + 2]!]
      const d = sextets[bytes[at + 3]!]
      const isLast = bytes[at + 4] === QUOTE
      if (a === undefined || b === undefined || c === undefined || d === undefined) throw unexpected
      const bits = (a << 18) | (b << 12) | (c << 6) | d
      // padding adds no bits
      if ((a | b | c | d) >= PADDING && !(isLast && d === PADDING && (a | b) < PADDING)) throw unexpected
      out[to++] = bits >> 16
      if (c < PADDING) out[to++] = bits >> 8
      if (d < PADDING) out[to++] = bits
    }
    this.at = at + 1
    this.length = to
    return this.close(start, reserved)
  }
}
