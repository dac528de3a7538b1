/**
 * What protobuf-transcoder.ts must know of a type: for each member of its JSON how the value is to be written, and the
 * bytes that stand for fields that are absent. Made of a type, and of each of its members, when it is first met.
 */
import type { Field, MessageMember, Special, Structural, StructType } from '../schema/structural.ts'
import { encodeAbsent, numberOf } from './protobuf-encode.ts'
import { BYTES, VARINT } from './protobuf-wire.ts'

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
/** What is parsed and left to protobuf-encode.ts. */
export const OTHER = 13
/** kind and apiVersion, which stand in the envelope. */
export const LEFT_OUT = 14

/** One value with its tag. */
export class ValuePlan {
  /** Bytes that the length of such a value took last time: most often it will be the same. */
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

  /** Only of what is a struct. */
  get struct(): StructPlan {
    return (this.#struct ??= planOf(this.type as StructType))
  }

  /** Only of lists, whose elements are written like fields, and of maps, whose entries are messages. */
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
  /** The member that followed this one last time. */
  next: MemberPlan | undefined = undefined
  /** The name, four bytes at a time as far as that goes. */
  private readonly fours: Int32Array
  #value: ValuePlan | undefined = undefined

  constructor(
    /** Name, quote and colon. */
    readonly name: Uint8Array,
    /** Place among the fields of the message. */
    readonly rank: number,
    /** Fields that stand before it in the message may stand behind it in JSON. */
    readonly isEarly: boolean,
    private readonly makeValue: () => ValuePlan,
  ) {
    const view = new DataView(name.buffer)
    this.fours = Int32Array.from({ length: name.length >> 2 }, (_, i) => view.getInt32(i * 4))
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
    return (this.#value ??= this.makeValue())
  }
}

const QUOTE = 0x22

export class StructPlan {
  /** The member that came first last time. */
  first: MemberPlan | undefined = undefined
  private readonly buckets: (MemberPlan[] | undefined)[]

  constructor(
    members: readonly MemberPlan[],
    /** What is written of absent fields, all of them one after the other. */
    readonly absent: Uint8Array,
    /** Where each begins in it, by rank, and the end. */
    readonly absentAt: Int32Array,
  ) {
    let size = 8
    while (size < members.length * 2) size *= 2
    this.buckets = Array.from({ length: size })
    for (const member of members) (this.buckets[hashAt(member.name, 0) & (size - 1)] ??= []).push(member)
  }

  /** @param at where a name begins, behind its quote */
  find(bytes: Uint8Array, view: DataView, at: number): MemberPlan | undefined {
    const bucket = this.buckets[hashAt(bytes, at) & (this.buckets.length - 1)]
    if (bucket !== undefined) for (const member of bucket) if (member.isAt(bytes, view, at)) return member
    return undefined
  }
}

function hashAt(bytes: Uint8Array, start: number): number {
  let hash = 0
  for (let at = start; at < bytes.length && bytes[at] !== QUOTE; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0
  return hash ^ (hash >>> 15)
}

const plans = new WeakMap<StructType, StructPlan>()

/** @throws when the type has no protobuf form */
export function planOf(type: StructType): StructPlan {
  let plan = plans.get(type)
  if (plan === undefined) plans.set(type, (plan = structPlan(type)))
  return plan
}

function structPlan(type: StructType): StructPlan {
  if (type.message === undefined) throw new Error(`assertion failed: ${type.name} has no protobuf form`)
  const message = type.message.toSorted((a, b) => numberOf(a) - numberOf(b))
  const ranks = new Map(message.map((member, rank) => [numberOf(member), rank]))
  const members: MemberPlan[] = []
  let lowest = Infinity
  // from the last to the first, so that it is known what comes later
  for (const field of type.fields.toReversed()) {
    const rank = ranks.get(field.within[0] ?? field.number)!
    members.push(new MemberPlan(nameBytes(field.name), rank, lowest < rank, () => memberValue(message[rank]!)))
    lowest = Math.min(lowest, rank)
  }
  if (type.typeMeta)
    for (const name of ['kind', 'apiVersion'])
      members.push(new MemberPlan(nameBytes(name), -1, false, () => new ValuePlan(LEFT_OUT, 0, type)))
  return new StructPlan(members, ...absentOf(message))
}

const memberValue = (member: MessageMember): ValuePlan =>
  'inline' in member ? new ValuePlan(INLINE, member.number, member.inline) : fieldPlan(member.field)

/** Names of fields are ASCII and need no escapes. */
function nameBytes(name: string): Uint8Array {
  const bytes = new Uint8Array(name.length + 2)
  for (let i = 0; i < name.length; i++) bytes[i] = name.charCodeAt(i)
  bytes[name.length] = QUOTE
  bytes[name.length + 1] = 0x3a
  return bytes
}

function absentOf(message: readonly MessageMember[]): [absent: Uint8Array, absentAt: Int32Array] {
  const parts = message.map(encodeAbsent)
  const ends = new Int32Array(parts.length + 1)
  parts.forEach((part, rank) => (ends[rank + 1] = ends[rank]! + part.length))
  const absent = new Uint8Array(ends[parts.length]!)
  parts.forEach((part, rank) => absent.set(part, ends[rank]))
  return [absent, ends]
}
