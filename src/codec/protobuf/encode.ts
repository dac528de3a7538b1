/**
 * Encodes objects of the built-in types as protocol buffers, by their schema. Fields are in ascending order of their
 * numbers; a field that is no pointer and no list is written even when it is zero; maps are in the order of their keys;
 * members that are inline in JSON are messages of their own. Objects are in the normal form of decode-typed.ts. Stored
 * text is transcoded without an object: protobuf/transcoder.ts.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import type {
  Field,
  Leaf,
  ListType,
  MapType,
  MessageMember,
  Special,
  Structural,
  StructType,
} from '../../schema/structural.ts'
import { parseDuration, parseMicroTime, parseTime } from '../../schema/time.ts'
import { base64ToBytes } from '../../base/base64.ts'
import { sortNames } from '../../base/name-order.ts'
import { stringify, stringifySorted } from '../../json/write-json.ts'
import { FIXED64, VARINT, WireWriter } from './wire.ts'

/** Whether there is a protobuf form at all: Table and version.Info are JSON only. */
export const hasProtobuf = (type: StructType): boolean => type.message !== undefined

/** The message of an object, without an envelope. */
export function encodeMessage(type: StructType, object: JsonObject): Uint8Array {
  const writer = new WireWriter()
  writeStruct(writer, type, object)
  return writer.finish()
}

/** One field, or one element of it, with its tag. @param value null stands for the zero value */
export function encodeValue(type: Structural, number: number, value: Json): Uint8Array {
  const writer = new WireWriter(256)
  writeValue(writer, type, number, value)
  return writer.finish()
}

/** The bytes for an absent member. */
export function encodeAbsent(member: MessageMember): Uint8Array {
  const writer = new WireWriter(64)
  if ('inline' in member) writeValue(writer, member.inline, member.number, null)
  else writeField(writer, member.field, undefined)
  return writer.finish()
}

const writeOrders = new WeakMap<StructType, readonly MessageMember[]>()

/** The writer works backwards, so the highest number comes first. */
function writeOrder(type: StructType): readonly MessageMember[] {
  let members = writeOrders.get(type)
  if (members === undefined) {
    if (type.message === undefined) throw new Error(`assertion failed: ${type.name} has no protobuf form`)
    members = [...type.message].sort((a, b) => numberOf(b) - numberOf(a))
    writeOrders.set(type, members)
  }
  return members
}

/** The field number of a member. */
export const numberOf = (member: MessageMember): number => ('inline' in member ? member.number : member.field.number)

/** One step of writing a struct, in reverse order: constant bytes, a field with a value, or an inline message. */
type Step = Uint8Array | Field | { readonly inline: readonly Step[]; readonly number: number }

/** A tree of member names. The names of an object's members, in its order, lead to its steps. */
interface Plan {
  readonly names: readonly string[]
  readonly next: Map<string, Plan>
  steps: readonly Step[] | undefined
}

/**
 * Objects have few of the many members of their type, and most objects of a kind have the same ones. A plan has the
 * bytes of absent members for one set of members. The number of plans has a bound, because clients choose the set.
 */
const plans = new WeakMap<StructType, Plan>()
const MAX_PLANS = 20_000
let planCount = 0

function writeStruct(writer: WireWriter, type: StructType, object: JsonObject): void {
  let plan = firstPlan(type)
  for (const name in object) {
    const next = plan.next.get(name) ?? grow(plan, name)
    if (next === undefined) return writeSteps(writer, stepsOf(type, new Set(Object.keys(object))), object)
    plan = next
  }
  writeSteps(writer, (plan.steps ??= stepsOf(type, new Set(plan.names))), object)
}

function firstPlan(type: StructType): Plan {
  let plan = plans.get(type)
  if (plan === undefined) plans.set(type, (plan = { names: [], next: new Map(), steps: undefined }))
  return plan
}

function grow({ names, next }: Plan, name: string): Plan | undefined {
  if (planCount >= MAX_PLANS) return undefined
  planCount++
  const grown: Plan = { names: [...names, name], next: new Map(), steps: undefined }
  next.set(name, grown)
  return grown
}

function stepsOf(type: StructType, present: ReadonlySet<string>): Step[] {
  const steps: Step[] = []
  let same = new WireWriter(64)
  const close = (): void => {
    if (same.length > 0) steps.push(same.finish())
    same = new WireWriter(64)
  }
  for (const member of writeOrder(type)) {
    if ('inline' in member) {
      close()
      steps.push({ inline: stepsOf(member.inline, present), number: member.number })
    } else if (present.has(member.field.name)) {
      close()
      steps.push(member.field)
    } else writeField(same, member.field, undefined)
  }
  close()
  return steps
}

function writeSteps(writer: WireWriter, steps: readonly Step[], object: JsonObject): void {
  for (const step of steps) {
    if (step instanceof Uint8Array) writer.bytes(step)
    else if ('inline' in step) {
      const before = writer.length
      writeSteps(writer, step.inline, object)
      writer.close(step.number, before)
    } else writeField(writer, step, object[step.name]) // own key: a field of a built-in type
  }
}

function writeField(writer: WireWriter, { type, number, pointer }: Field, value: Json | undefined): void {
  const isAbsent = value === undefined || value === null
  if (type.shape === 'list' && type.wrapper === undefined) {
    if (!isAbsent) writeList(writer, type, number, value as Json[])
  } else if (type.shape === 'map') {
    if (!isAbsent) writeMap(writer, type, number, value as JsonObject)
  } else if (!isAbsent) writeValue(writer, type, number, value)
  else if (!pointer && !(type.shape === 'list' || (type.shape === 'leaf' && type.scalar === 'bytes')))
    writeValue(writer, type, number, null)
}

function writeList(writer: WireWriter, { element }: ListType, number: number, list: Json[]): void {
  for (let i = list.length - 1; i >= 0; i--) writeValue(writer, element, number, list[i]!)
}

function writeMap(writer: WireWriter, type: MapType, number: number, map: JsonObject): void {
  const names = sortNames(Object.keys(map))
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i]!
    const before = writer.length
    writeValue(writer, type.value, 2, ownValue(map, name) ?? null)
    writeText(writer, 1, name)
    writer.close(number, before)
  }
}

/** One value with its tag; null stands for the zero value. */
function writeValue(writer: WireWriter, type: Structural, number: number, value: Json): void {
  switch (type.shape) {
    case 'leaf':
      return writeLeaf(writer, type, number, value)
    case 'struct': {
      const before = writer.length
      writeStruct(writer, type, (value ?? {}) as JsonObject)
      return writer.close(number, before)
    }
    case 'list': {
      const before = writer.length
      writeList(writer, type, 1, (value ?? []) as Json[])
      return writer.close(number, before)
    }
    case 'special': {
      const before = writer.length
      writeSpecial(writer, type, value)
      return writer.close(number, before)
    }
    default:
      throw new Error(`assertion failed: a ${type.shape} has no protobuf form`)
  }
}

function writeLeaf(writer: WireWriter, { scalar }: Leaf, number: number, value: Json): void {
  switch (scalar) {
    case 'string':
      return writeText(writer, number, (value ?? '') as string)
    case 'bytes':
      return writeBytes(writer, number, base64ToBytes((value ?? '') as string))
    case 'bool':
      writer.varint(value === true ? 1 : 0)
      return writer.tag(number, VARINT)
    case 'double':
      writer.double(Number(value ?? 0))
      return writer.tag(number, FIXED64)
    default:
      return writeInteger(writer, number, (value ?? 0) as number | bigint)
  }
}

function writeInteger(writer: WireWriter, number: number, value: number | bigint): void {
  writer.varint(value)
  writer.tag(number, VARINT)
}

function writeText(writer: WireWriter, number: number, text: string): void {
  const before = writer.length
  writer.text(text)
  writer.close(number, before)
}

function writeBytes(writer: WireWriter, number: number, bytes: Uint8Array): void {
  const before = writer.length
  writer.bytes(bytes)
  writer.close(number, before)
}

const NORMAL_TIME = '2006-01-02T15:04:05Z'.length

/** Date.parse reads times in their normal form, of which a Pod has a dozen. */
function secondsOf(text: string): { readonly seconds: number; readonly nanos: number } {
  const milliseconds = text.length === NORMAL_TIME ? Date.parse(text) : NaN
  return Number.isNaN(milliseconds) ? parseTime(text) : { seconds: milliseconds / 1000, nanos: 0 }
}

/** The message of a special type. */
function writeSpecial(writer: WireWriter, type: Special, value: Json): void {
  switch (type.special) {
    case 'time':
    case 'microTime': {
      if (value === null) return
      const { seconds, nanos } = type.special === 'time' ? secondsOf(value as string) : parseMicroTime(value as string)
      writeInteger(writer, 2, type.special === 'time' ? 0 : nanos)
      return writeInteger(writer, 1, seconds)
    }
    case 'duration':
      return writeInteger(writer, 1, value === null ? 0 : parseDuration(value as string))
    case 'quantity':
      return writeText(writer, 1, value === null ? '0' : String(value))
    case 'intOrString': {
      const isText = typeof value === 'string'
      writeText(writer, 3, isText ? value : '')
      writeInteger(writer, 2, isText ? 0 : ((value ?? 0) as number))
      return writeInteger(writer, 1, isText ? 1 : 0)
    }
    case 'rawExtension':
    case 'fieldsV1':
      return value === null ? undefined : writeText(writer, 1, stringify(value))
    case 'json':
      return value === null ? undefined : writeText(writer, 1, stringifySorted(value))
    case 'schemaOrArray':
      if (Array.isArray(value)) for (const schema of value.toReversed()) writeSchema(writer, type, 2, schema)
      else if (value !== null) writeSchema(writer, type, 1, value)
      return
    case 'schemaOrBool':
      if (typeof value === 'object' && value !== null) writeSchema(writer, type, 2, value)
      return writeInteger(writer, 1, value === false || value === null ? 0 : 1)
    case 'schemaOrStringArray':
      if (Array.isArray(value)) for (const name of value.toReversed()) writeText(writer, 2, name as string)
      else if (value !== null) writeSchema(writer, type, 1, value)
      return
    case 'unknown':
      throw new Error('assertion failed: an unknown object is only ever an envelope')
  }
}

const writeSchema = (writer: WireWriter, type: Special, number: number, schema: Json) =>
  writeValue(writer, type.of!(), number, schema)
