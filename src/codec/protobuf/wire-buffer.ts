/**
 * A cursor in JSON, and a buffer in which a message of protocol buffers grows. json-to-wire.ts reads at the one and
 * writes at the other.
 */
import { QUOTE, COMMA, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, viewOf } from './json-bytes.ts'

/** Thrown for JSON that is not as this server writes it. The caller catches it and parses the object instead. */
export const unexpected = new Error('unexpected JSON')

/** The most bytes that one byte of JSON becomes, absent fields aside. */
const MOST = 5
/** Further room, for bytes that are reserved for a length and turn out not to be needed. */
const SPARE = 1024
const BUFFER = 64 * 1024
/** A larger buffer is not kept for the next message. */
const MAX_KEPT = 4 * 1024 * 1024

/** Bytes that a length takes. */
export const lengthSize = (length: number): number =>
  length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : length < 0x1000_0000 ? 4 : 5

export class WireBuffer {
  protected bytes: Uint8Array = new Uint8Array()
  /** A view of `bytes`, for reading four at a time. */
  protected view = viewOf(this.bytes)
  protected at = 0
  protected out: Uint8Array = new Uint8Array(BUFFER)
  protected outView = viewOf(this.out)
  protected length = 0
  /** The first quote behind the cursor, if a search found it. A long text of many lines has only one. */
  protected nextQuote = -1

  protected start(bytes: Uint8Array): void {
    this.bytes = bytes
    this.view = viewOf(bytes)
    this.at = 0
    this.length = 0
    this.nextQuote = -1
    this.reserve(0)
  }

  protected moveTo(at: number): void {
    if (at < this.at) this.nextQuote = -1
    this.at = at
  }

  /** A copy of what was written. */
  protected finish(): Uint8Array {
    const written = this.out.slice(0, this.length)
    if (this.out.length > MAX_KEPT) this.use(new Uint8Array(BUFFER))
    return written
  }

  private use(out: Uint8Array): void {
    this.out = out
    this.outView = viewOf(out)
  }

  /** Makes room for `size` bytes, and for all bytes that the rest of the JSON may become. */
  protected reserve(size: number): void {
    const needed = this.length + size + (this.bytes.length - this.at) * MOST + SPARE
    if (needed <= this.out.length) return
    if (this.length > this.out.length) throw new Error('assertion failed: a message is larger than its buffer')
    const bigger = new Uint8Array(Math.max(needed, this.out.length * 2))
    bigger.set(this.out.subarray(0, this.length))
    this.use(bigger)
  }

  protected put(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.out.set(bytes, this.length)
    this.length += bytes.length
  }

  protected expect(byte: number): void {
    if (this.bytes[this.at] !== byte) throw unexpected
    this.at++
  }

  /** Writes a tag. All field numbers are below 2048. */
  protected tag(tag: number): void {
    if (tag < 0x80) this.out[this.length++] = tag
    else {
      this.out[this.length++] = (tag & 0x7f) | 0x80
      this.out[this.length++] = tag >> 7
    }
  }

  /** @param value whole, not negative */
  protected varint(value: number): void {
    const { out } = this
    let rest = value
    for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 0x80)) out[this.length++] = (rest % 0x80) | 0x80
    for (; rest >= 0x80; rest >>= 7) out[this.length++] = (rest & 0x7f) | 0x80
    out[this.length++] = rest
  }

  /**
   * Puts the length before all that was written since `start`, where `reserved` bytes were kept for it.
   * @returns the bytes that it took
   */
  protected close(start: number, reserved: number): number {
    const size = this.length - start - reserved
    if (size < 0x80 && reserved === 1) {
      this.out[start] = size
      return 1
    }
    const needed = lengthSize(size)
    if (needed !== reserved) this.out.copyWithin(start + needed, start + reserved, this.length)
    this.length = start
    this.varint(size)
    this.length = start + needed + size
    return needed
  }

  /** Moves behind a value. */
  protected skip(): void {
    const { bytes } = this
    let depth = 0
    let at = this.at
    for (;;) {
      const byte = bytes[at]
      if (byte === undefined) throw unexpected
      if (byte === QUOTE) at = this.endOfString(at)
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        depth++
        at++
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        // this bracket closes the container whose last value is the number or word
        if (depth === 0) break
        depth--
        at++
      } else if (byte === COMMA && depth === 0) break
      else {
        at++
        continue
      }
      if (depth === 0) break
    }
    this.at = at
  }

  /** The position behind the string that opens at a position. */
  private endOfString(open: number): number {
    const { bytes } = this
    for (let at = open + 1; ; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) at++
      else if (byte === undefined) throw unexpected
    }
  }
}
