/**
 * Transcodes stored objects to protocol buffers. It reads the JSON that encode.ts wrote once, from start to end, and
 * writes while it reads, without making values. It relies on the form of that JSON: compact, members in the order of
 * the type, names of maps sorted. JSON of any other form, and values of rare types, are parsed and encoded by
 * protobuf/encode.ts, which gives the same bytes.
 *
 * The length of a message comes before its content. The transcoder reserves as many bytes for it as the last such
 * length took, and moves the content where these are too many or too few.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import type { StructType } from '../../schema/structural.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { parseStored } from '../../json/parse-json.ts'
import { JsonToWire } from './json-to-wire.ts'
import { unexpected } from './wire-buffer.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LETTER_N,
  NEWLINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts'
import { encodeMessage, encodeValue } from './encode.ts'
import type { MemberPlan, StructPlan, ValuePlan } from './plan.ts'
import {
  BASE64,
  BOOL,
  INLINE,
  INT_OR_STRING,
  INTEGER,
  LEFT_OUT,
  LIST,
  MAP,
  MICRO_TIME,
  planOf,
  QUANTITY,
  RAW,
  STRUCT,
  TEXT,
  TIME,
} from './plan.ts'

const LIST_ITEMS_TAG = 0x12
/** The tag of the key in a map's entry. */
const KEY_TAG = 0x0a

const encoder = new TextEncoder()

class Transcoder extends JsonToWire {
  /** Early members of the open structs, and the positions of their values: -1 once they are written. */
  private readonly early: MemberPlan[] = []
  private readonly earlyAt: number[] = []

  message(type: StructType, json: Uint8Array): Uint8Array {
    this.start(json)
    this.object(type)
    return this.finish()
  }

  items(type: StructType, lines: Uint8Array, skipped: number): { readonly bytes: Uint8Array; readonly count: number } {
    this.start(lines)
    let count = 0
    let reserved = 2
    for (; this.at < lines.length; count++) {
      if (count < skipped) this.at = this.endOfLine(this.at)
      else {
        this.tag(LIST_ITEMS_TAG)
        const start = this.length
        this.length += reserved
        this.object(type)
        reserved = this.close(start, reserved)
      }
      this.at++
    }
    return { bytes: this.finish(), count }
  }

  private endOfLine(at: number): number {
    const end = this.bytes.indexOf(NEWLINE, at)
    return end < 0 ? this.bytes.length : end
  }

  /** The message of an object, whose JSON ends with its line. */
  private object(type: StructType): void {
    const { at, length } = this
    this.early.length = this.earlyAt.length = 0
    try {
      this.expect(OPEN_BRACE)
      this.members(planOf(type), false)
      this.expect(CLOSE_BRACE)
      if (this.at !== this.bytes.length && this.bytes[this.at] !== NEWLINE) throw unexpected
    } catch (error) {
      if (error !== unexpected) throw error
      this.at = this.endOfLine(at)
      this.length = length
      // storage has objects only
      const object = parseStored(decodeUtf8(this.bytes.subarray(at, this.at))) as JsonObject
      this.put(encodeMessage(type, object))
    }
  }

  /**
   * Members up to the end of the object.
   * @param isInline up to the first one that is not of this struct, but of the one around it
   */
  private members(plan: StructPlan, isInline: boolean): void {
    const base = this.early.length
    /** The rank of the first field that is not written yet. */
    let rank = 0
    let previous: MemberPlan | undefined
    for (;;) {
      const { bytes, view } = this
      if (bytes[this.at] === COMMA) this.at++
      if (bytes[this.at] !== QUOTE) break
      const at = this.at + 1
      let member = previous === undefined ? plan.first : previous.next
      if (member === undefined || !member.isAt(bytes, view, at)) {
        member = plan.find(bytes, view, at)
        if (member === undefined) {
          if (isInline) break
          this.skip()
          this.expect(COLON)
          this.skip()
          continue
        }
        if (previous === undefined) plan.first = member
        else previous.next = member
      }
      previous = member
      const valueAt = at + member.name.length
      const { value } = member
      this.at = valueAt
      if (value.how === LEFT_OUT) this.skip()
      else if (bytes[valueAt] === LETTER_N) this.at = valueAt + 4
      else if (member.isEarly) {
        this.early.push(member)
        this.earlyAt.push(valueAt)
        this.skip()
      } else {
        if (this.early.length > base) rank = this.earlier(plan, base, rank, member.rank)
        if (member.rank !== rank) this.absent(plan, rank, member.rank)
        rank = member.rank + 1
        if (value.how === INLINE) {
          this.at = at - 1
          this.inline(value)
        } else this.value(value)
      }
    }
    const ranks = plan.absentAt.length - 1
    if (this.early.length > base) {
      rank = this.earlier(plan, base, rank, ranks)
      this.early.length = this.earlyAt.length = base
    }
    if (rank !== ranks) this.absent(plan, rank, ranks)
  }

  /** Writes the bytes of absent fields. */
  private absent(plan: StructPlan, from: number, to: number): void {
    if (from > to) throw unexpected
    const { absent } = plan
    const end = plan.absentAt[to]!
    const start = plan.absentAt[from]!
    if (start === end) return
    this.reserve(end - start)
    const { out } = this
    for (let i = start; i < end; i++) out[this.length++] = absent[i]!
  }

  /** Writes early members that come before the field of a rank. @returns the rank of the first field not yet written */
  private earlier(plan: StructPlan, base: number, from: number, to: number): number {
    const { at } = this
    let rank = from
    for (;;) {
      let next = -1
      for (let i = base; i < this.early.length; i++) {
        const isNext = this.earlyAt[i]! >= 0 && this.early[i]!.rank < to
        if (isNext && (next < 0 || this.early[i]!.rank < this.early[next]!.rank)) next = i
      }
      if (next < 0) break
      const member = this.early[next]!
      this.absent(plan, rank, member.rank)
      this.moveTo(this.earlyAt[next]!)
      this.earlyAt[next] = -1
      this.value(member.value)
      rank = member.rank + 1
    }
    this.at = at
    return rank
  }

  private inline(plan: ValuePlan): void {
    this.tag(plan.tag)
    const start = this.length
    const reserved = plan.lengthSize
    this.length += reserved
    this.members(plan.struct, true)
    plan.lengthSize = this.close(start, reserved)
  }

  /** Writes a field with its tag. The cursor is at the value. */
  private value(plan: ValuePlan): void {
    switch (plan.how) {
      case TEXT:
        if (this.bytes[this.at] !== QUOTE) throw unexpected
        this.tag(plan.tag)
        return this.text()
      case STRUCT: {
        this.expect(OPEN_BRACE)
        this.tag(plan.tag)
        const start = this.length
        const reserved = plan.lengthSize
        this.length += reserved
        this.members(plan.struct, false)
        plan.lengthSize = this.close(start, reserved)
        return this.expect(CLOSE_BRACE)
      }
      case LIST:
        return this.list(plan.element)
      case MAP:
        return this.map(plan)
      case BOOL:
        this.tag(plan.tag)
        return this.bool()
      case INTEGER: {
        const value = this.digits()
        if (value === undefined) return this.other(plan)
        this.tag(plan.tag)
        return this.varint(value)
      }
      case TIME:
      case MICRO_TIME: {
        const { length } = this
        this.tag(plan.tag)
        if (this.timestamp(plan.how === MICRO_TIME)) return
        this.length = length
        return this.other(plan)
      }
      case QUANTITY:
        if (this.bytes[this.at] !== QUOTE) return this.other(plan)
        this.tag(plan.tag)
        plan.lengthSize = this.wrappedText(plan.lengthSize)
        return
      case INT_OR_STRING: {
        const { length } = this
        this.tag(plan.tag)
        if (this.intOrString()) return
        this.length = length
        return this.other(plan)
      }
      case RAW:
        this.tag(plan.tag)
        return this.raw()
      case BASE64:
        this.tag(plan.tag)
        plan.lengthSize = this.base64(plan.lengthSize)
        return
      default:
        return this.other(plan)
    }
  }

  private list(element: ValuePlan): void {
    this.expect(OPEN_BRACKET)
    while (this.bytes[this.at] !== CLOSE_BRACKET) {
      this.element(element)
      if (this.bytes[this.at] === COMMA) this.at++
    }
    this.at++
  }

  /** Null in a list or a map is the zero value. */
  private element(plan: ValuePlan): void {
    if (this.bytes[this.at] === LETTER_N) this.other(plan)
    else this.value(plan)
  }

  private map(plan: ValuePlan): void {
    const { element } = plan
    this.expect(OPEN_BRACE)
    let before = -1
    while (this.bytes[this.at] === QUOTE) {
      if (before >= 0 && !this.isOrdered(before, this.at)) throw unexpected
      before = this.at
      this.tag(plan.tag)
      const start = this.length
      const reserved = plan.lengthSize
      this.length += reserved
      this.tag(KEY_TAG)
      this.text()
      this.expect(COLON)
      this.element(element)
      plan.lengthSize = this.close(start, reserved)
      if (this.bytes[this.at] === COMMA) this.at++
    }
    this.expect(CLOSE_BRACE)
  }

  /** Whether a name sorts before another. Quotes end them. Names with escapes are not compared. */
  private isOrdered(first: number, second: number): boolean {
    const { bytes } = this
    for (let i = 1; ; i++) {
      const a = bytes[first + i]!
      const b = bytes[second + i]!
      if (a === BACKSLASH || b === BACKSLASH) return false
      if (a === QUOTE || b === QUOTE) return a === QUOTE && b !== QUOTE
      if (a !== b) return a < b
    }
  }

  private other(plan: ValuePlan): void {
    const start = this.at
    this.skip()
    // in brackets, because parseStored recognizes integers by the byte before them
    const [value] = parseStored(`[${decodeUtf8(this.bytes.subarray(start, this.at))}]`) as [Json]
    this.put(encodeValue(plan.type, plan.number, value))
  }
}

/** All calls share it; no state outlives a call. */
const transcoder = new Transcoder()

/** The message of a stored object, without an envelope. */
export const transcodeMessage = (type: StructType, text: string): Uint8Array =>
  transcoder.message(type, encoder.encode(text))

/**
 * Items of a list of messages (LIST_ITEMS in protobuf/envelope.ts), one behind the other.
 * @param lines stored objects, each with a newline behind it
 * @param skipped how many of them are passed over
 * @returns count of all lines, those that were passed over among them
 */
export const transcodeItems = (
  type: StructType,
  lines: Uint8Array,
  skipped = 0,
): { readonly bytes: Uint8Array; readonly count: number } => transcoder.items(type, lines, skipped)
