/**
 * The part of the wire format of protocol buffers that Kubernetes' messages use. It is written by hand so that numbers
 * of 64 bits are exact and any input is bounded.
 */
import { byteLength, decodeUtf8 } from '../../base/utf8.ts'
import { DecodeError } from '../decode/decode-problems.ts'

/** Bytes that are no message of their type; the texts are those of kube-apiserver's generated code. */
export class ProtobufError extends DecodeError {
  override readonly name = 'ProtobufError'
}

const UNEXPECTED_EOF = 'unexpected EOF'
const OVERFLOW = 'proto: integer overflow'
const NEGATIVE_LENGTH = 'proto: negative length found during unmarshaling'
const END_OF_GROUP = 'proto: unexpected end of group'

/** Number and wire type of a tag. */
export const numberOfTag = (tag: number) => Math.floor(tag / 8)
export const wireOfTag = (tag: number) => tag % 8

export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
const START_GROUP = 3
export const END_GROUP = 4
const FIXED32 = 5

const TWO_32 = 2 ** 32
/** Up to this length, a loop is faster than a TextDecoder. */
const SHORT = 40
const TWO_21 = 2 ** 21

/** Reads one run of bytes from its start to its end. */
export class WireReader {
  /** Bytes from its start to its end. */
  readonly size: number

  constructor(
    private readonly bytes: Uint8Array,
    private at = 0,
    private readonly end = bytes.length,
  ) {
    this.size = end - at
  }

  get isAtEnd(): boolean {
    return this.at >= this.end
  }

  /** A 64-bit integer: a bigint where a number would not be exact. */
  int64(): number | bigint {
    if (this.at < this.end && this.bytes[this.at]! < 0x80) return this.bytes[this.at++]!
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (shift >= 64) throw new ProtobufError(OVERFLOW)
      if (this.at >= this.end) throw new ProtobufError(UNEXPECTED_EOF)
      const byte = this.bytes[this.at++]!
      const bits = byte & 0x7f
      if (shift <= 28) low |= bits << shift
      if (shift === 28) high |= bits >> 4
      if (shift > 28) high |= bits << (shift - 32)
      if (byte < 0x80) break
    }
    if (high < TWO_21 && high >= -TWO_21) {
      const value = high * TWO_32 + (low >>> 0)
      if (Number.isSafeInteger(value)) return value
    }
    return (BigInt(high) << 32n) | BigInt(low >>> 0)
  }

  int32(): number {
    const value = this.int64()
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value))
  }

  double(): number {
    if (this.at + 8 > this.end) throw new ProtobufError(UNEXPECTED_EOF)
    const value = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8).getFloat64(0, true)
    this.at += 8
    return value
  }

  /** A value with a length: bytes, a string or a message. */
  run(): Uint8Array {
    const start = this.pass()
    return this.bytes.subarray(start, this.at)
  }

  /** A reader for a value with a length. */
  message(): WireReader {
    const start = this.pass()
    return new WireReader(this.bytes, start, this.at)
  }

  /** Moves behind a value with a length. @returns where the value begins */
  private pass(): number {
    const length = this.int64()
    if (length < 0) throw new ProtobufError(NEGATIVE_LENGTH)
    if (length > this.end - this.at) throw new ProtobufError(UNEXPECTED_EOF)
    const start = this.at
    this.at += Number(length)
    return start
  }

  /** A string. Invalid UTF-8 in it is replaced. */
  text(): string {
    const { bytes } = this
    const start = this.pass()
    const end = this.at
    if (end - start > SHORT) return decodeUtf8(bytes.subarray(start, end))
    let text = ''
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      if (byte >= 0x80) return decodeUtf8(bytes.subarray(start, end))
      text += String.fromCharCode(byte)
    }
    return text
  }

  /**
   * The next field's tag: its number times eight, and its wire type.
   * @param name the name of the message; the error contains its last part
   */
  tag(name: string): number {
    if (this.at < this.end) {
      // a field number below 16 with a known wire type
      const tag = this.bytes[this.at]!
      if (tag > 7 && tag < 0x80 && (tag & 7) !== END_GROUP) {
        this.at++
        return tag
      }
    }
    const tag = this.int64()
    const number = typeof tag === 'bigint' ? Number(BigInt.asIntN(32, tag >> 3n)) : Math.floor(tag / 8) | 0
    const wire = typeof tag === 'bigint' ? Number(BigInt.asUintN(3, tag)) : ((tag % 8) + 8) % 8
    const message = name.slice(name.lastIndexOf('.') + 1)
    if (wire === END_GROUP) throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`)
    if (number <= 0) throw new ProtobufError(`proto: ${message}: illegal tag ${number} (wire type ${tag})`)
    return number * 8 + wire
  }

  /** Skips an unknown field. */
  skip(wire: number): void {
    let depth = 0
    for (let next = wire; ; next = Number(this.int64()) & 7) {
      if (next === START_GROUP) depth++
      else if (next === END_GROUP) {
        if (depth === 0) throw new ProtobufError(END_OF_GROUP)
        depth--
      } else this.skipValue(next)
      if (depth === 0) return
    }
  }

  private skipValue(wire: number): void {
    switch (wire) {
      case VARINT:
        this.int64()
        return
      case FIXED64:
        this.at += 8
        break
      case BYTES:
        this.run()
        return
      case FIXED32:
        this.at += 4
        break
      default:
        throw new ProtobufError(`proto: illegal wireType ${wire}`)
    }
    if (this.at > this.end) throw new ProtobufError(UNEXPECTED_EOF)
  }
}

const utf8 = new TextEncoder()

/**
 * Writes from the end to the start, so that the length of a message is known once it is written. Its caller writes
 * the last field first, and of a field the value, then its length, then its tag.
 */
export class WireWriter {
  private buffer: Uint8Array
  private at: number

  constructor(capacity = 1024) {
    this.buffer = new Uint8Array(capacity)
    this.at = capacity
  }

  /** Bytes written so far. */
  get length(): number {
    return this.buffer.length - this.at
  }

  finish(): Uint8Array {
    return this.buffer.subarray(this.at)
  }

  tag(number: number, wire: number): void {
    this.varint(number * 8 + wire)
  }

  /** Closes a message: writes its length (all bytes since `before`) and its tag. */
  close(number: number, before: number): void {
    this.varint(this.length - before)
    this.tag(number, BYTES)
  }

  /** A whole number; negative ones take ten bytes. */
  varint(value: number | bigint): void {
    if (typeof value === 'bigint') this.bigVarint(BigInt.asUintN(64, value))
    else if (value < 0) this.bigVarint(BigInt.asUintN(64, BigInt(value)))
    else if (value < 0x80) {
      this.reserve(1)
      this.buffer[this.at] = value
    } else {
      let size = 1
      for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
      this.reserve(size)
      let place = this.at
      let rest = value
      for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.buffer[place++] = (rest % 0x80) | 0x80
      this.buffer[place] = rest
    }
  }

  private bigVarint(value: bigint): void {
    const bytes: number[] = []
    for (; value >= 0x80n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80)
    bytes.push(Number(value))
    this.bytes(Uint8Array.from(bytes))
  }

  double(value: number): void {
    this.reserve(8)
    new DataView(this.buffer.buffer, this.buffer.byteOffset + this.at, 8).setFloat64(0, value, true)
  }

  bytes(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.at)
  }

  text(text: string): void {
    const length = byteLength(text)
    this.reserve(length)
    if (length === text.length && length < 64)
      for (let i = 0; i < length; i++) this.buffer[this.at + i] = text.charCodeAt(i)
    else utf8.encodeInto(text, this.buffer.subarray(this.at, this.at + length))
  }

  private reserve(size: number): void {
    if (this.at < size) {
      const capacity = Math.max(this.buffer.length * 2, this.length + size)
      const bigger = new Uint8Array(capacity)
      bigger.set(this.finish(), capacity - this.length)
      this.at = capacity - this.length
      this.buffer = bigger
    }
    this.at -= size
  }
}
