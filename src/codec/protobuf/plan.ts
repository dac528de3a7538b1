/**
 * A type's plan for protobuf/transcoder.ts: how to write the value of each member, and the bytes for absent fields.
 * First use makes the plans of a type and of each of its members.
 */
import { append } from '../../base/append.ts'
import type { Field, MessageMember, Special, Structural, StructType } from '../../schema/structural.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { encodeAbsent, numberOf } from './encode.ts'
import { BYTES, VARINT } from './wire.ts'

/** How a value is written. */
export const TEXT = 0
export const INTEGER = 1
export const BOOL = 2
export const BASE64 = 3
export const STRUCT = 4
export const TIME = 5
export const MICRO_TIME = 6
export const QUANTITY = 7
export const INT_OR_STRING = 8
/** JSON as it is. */
export const RAW = 9
export const LIST = 10
export const MAP = 11
/** All members of a struct that is inline in JSON and a message of its own, one after the other. */
export const INLINE = 12
/** Values that are parsed and encoded by protobuf/encode.ts. */
export const OTHER = 13
/** kind and apiVersion, which stand in the envelope. */
export const LEFT_OUT = 14

/** One value with its tag. */
export class ValuePlan {
  /** The bytes of the length of the last such value. The next one mostly needs as many. */
  lengthSize = 1
  readonly tag: number
  #struct: StructPlan | undefined = undefined
  #element: ValuePlan | undefined = undefined

  constructor(
    readonly how: number,
    readonly number: number,
    readonly type: Structural,
  ) {
    this.tag = number * 8 + (how === INTEGER || how === BOOL ? VARINT : BYTES)
  }

  /** The plan of the struct; structs only. */
  get struct(): StructPlan {
    return (this.#struct ??= planOf(this.type as StructType))
  }

  /**
   * The plan of an element; lists and maps only. Elements of lists are written like fields, entries of maps are
   * messages.
   */
  get element(): ValuePlan {
    return (this.#element ??= elementPlan(this.type, this.number))
  }
}

function elementPlan(type: Structural, number: number): ValuePlan {
  if (type.shape === 'list') return valuePlan(type.element, number)
  if (type.shape === 'map') return valuePlan(type.value, 2)
  throw new Error(`assertion failed: a ${type.shape} has no elements`)
}

function valuePlan(type: Structural, number: number): ValuePlan {
  return new ValuePlan(howOf(type), number, type)
}

function howOf(type: Structural): number {
  switch (type.shape) {
    case 'struct':
      return STRUCT
    case 'special':
      return specials[type.special] ?? OTHER
    case 'leaf':
      return scalars[type.scalar] ?? OTHER
    default:
      return OTHER
  }
}

/** A field may also be a list or a map, as long as its elements are neither. */
function fieldPlan({ type, number }: Field): ValuePlan {
  if (type.shape === 'list' && type.wrapper === undefined) return new ValuePlan(LIST, number, type)
  if (type.shape === 'map') return new ValuePlan(MAP, number, type)
  return valuePlan(type, number)
}

const scalars: Readonly<Record<string, number>> = {
  string: TEXT,
  bytes: BASE64,
  bool: BOOL,
  int32: INTEGER,
  int64: INTEGER,
}

const specials: Partial<Record<Special['special'], number>> = {
  time: TIME,
  microTime: MICRO_TIME,
  quantity: QUANTITY,
  intOrString: INT_OR_STRING,
  rawExtension: RAW,
  fieldsV1: RAW,
  json: RAW,
}

export class MemberPlan {
  /** The member that followed this one in the last object. */
  next: MemberPlan | undefined = undefined
  /** Another member whose name has the same hash. */
  twin: MemberPlan | undefined = undefined
  /** The name, its quote and its colon, and the same four bytes at a time as far as that goes. */
  readonly name: Uint8Array
  private readonly fours: Int32Array
  #value: ValuePlan | undefined = undefined

  constructor(
    name: string,
    /** The index among the fields of the message. */
    readonly rank: number,
    /** Fields that come before it in the message and may come behind it in JSON. */
    readonly isEarly: boolean,
    /** undefined: kind or apiVersion */
    private readonly member: MessageMember | undefined,
  ) {
    this.name = encoder.encode(`${name}":`)
    const view = new DataView(this.name.buffer, this.name.byteOffset)
    this.fours = new Int32Array(this.name.length >> 2)
    for (let i = 0; i < this.fours.length; i++) this.fours[i] = view.getInt32(i * 4)
  }

  /** Whether the name stands at a position. @param view of the bytes */
  isAt(bytes: Uint8Array, view: DataView, at: number): boolean {
    const { name, fours } = this
    if (at + name.length > bytes.length) return false
    let place = at
    for (let i = 0; i < fours.length; i++, place += 4) if (view.getInt32(place) !== fours[i]) return false
    for (let i = fours.length * 4; i < name.length; i++, place++) if (bytes[place] !== name[i]) return false
    return true
  }

  get value(): ValuePlan {
    return (this.#value ??= memberValue(this.member))
  }
}

function memberValue(member: MessageMember | undefined): ValuePlan {
  if (member === undefined) return leftOut
  return 'inline' in member ? new ValuePlan(INLINE, member.number, member.inline) : fieldPlan(member.field)
}

const leftOut = new ValuePlan(LEFT_OUT, 0, { shape: 'untyped' })

const QUOTE = 0x22

const encoder = new TextEncoder()

export class StructPlan {
  /** The member that came first in the last object. */
  first: MemberPlan | undefined = undefined
  /** The bytes of all absent fields, one after the other. */
  readonly absent: Uint8Array
  /** The start of each field's bytes by rank, and the end. */
  readonly absentAt: Int32Array
  private readonly message: readonly MessageMember[]
  /** Members that have occurred, by the hash of their name. */
  private readonly members = new Map<number, MemberPlan>()

  constructor(private readonly type: StructType) {
    if (type.message === undefined) throw new Error(`assertion failed: ${type.name} has no protobuf form`)
    this.message = type.message.toSorted((a, b) => numberOf(a) - numberOf(b))
    ;[this.absent, this.absentAt] = absentOf(this.message)
  }

  /** @param at where a name begins, behind its quote */
  find(bytes: Uint8Array, view: DataView, at: number): MemberPlan | undefined {
    let hash = 0
    let end = at
    for (; end < bytes.length && bytes[end] !== QUOTE; end++) hash = (Math.imul(hash, 31) + bytes[end]!) | 0
    let member = this.members.get(hash)
    while (member !== undefined && !member.isAt(bytes, view, at)) member = member.twin
    if (member !== undefined) return member
    member = this.made(decodeUtf8(bytes.subarray(at, end)))
    if (member !== undefined) {
      member.twin = this.members.get(hash)
      this.members.set(hash, member)
    }
    return member
  }

  private made(name: string): MemberPlan | undefined {
    const { type } = this
    if (type.typeMeta && (name === 'kind' || name === 'apiVersion')) return new MemberPlan(name, -1, false, undefined)
    const field = type.field(name)
    if (field === undefined) return undefined
    const number = outerNumber(field)
    const { fields } = type
    let isEarly = false
    for (let i = fields.length - 1; i >= 0 && fields[i]!.name !== name && !isEarly; i--)
      isEarly = outerNumber(fields[i]!) < number
    const rank = this.message.findIndex((member) => numberOf(member) === number)
    return new MemberPlan(name, rank, isEarly, this.message[rank])
  }
}

/** The number of the message's field that is the member, or contains it. */
const outerNumber = ({ within, number }: Field): number => within[0] ?? number

const plans = new WeakMap<StructType, StructPlan>()

/** @throws when the type has no protobuf form */
export function planOf(type: StructType): StructPlan {
  let plan = plans.get(type)
  if (plan === undefined) plans.set(type, (plan = new StructPlan(type)))
  return plan
}

function absentOf(message: readonly MessageMember[]): [absent: Uint8Array, absentAt: Int32Array] {
  const bytes: number[] = []
  const starts = new Int32Array(message.length + 1)
  for (let rank = 0; rank < message.length; rank++) {
    addAbsent(bytes, message[rank]!)
    starts[rank + 1] = bytes.length
  }
  return [Uint8Array.from(bytes), starts]
}

/** Adds the bytes of encodeAbsent. It needs no encoder for most types, because every expanded type comes here. */
function addAbsent(bytes: number[], member: MessageMember): void {
  const { type, number } = 'inline' in member ? { type: member.inline, number: member.number } : member.field
  if ('field' in member && member.field.pointer) return
  const isShort = number < 16
  if (type.shape === 'list' || type.shape === 'map') return
  if (isShort && type.shape === 'leaf' && type.scalar === 'string') bytes.push(number * 8 + BYTES, 0)
  else if (isShort && type.shape === 'struct' && planOf(type).absent.length < 0x80) {
    const { absent } = planOf(type)
    append(bytes, [number * 8 + BYTES, absent.length, ...absent])
  } else for (const byte of encodeAbsent(member)) bytes.push(byte)
}
