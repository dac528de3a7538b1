/**
 * Objects of the built-in types as protocol buffers, driven by the schema: fields in ascending number; what is no
 * pointer and no list is always written, even when zero; maps in the order of their keys; members that are inline in
 * JSON are messages of their own. Objects are in the normal form of decode.ts.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { Quantity } from '../schema/quantity.ts'
import type {
  Field,
  Leaf,
  ListType,
  MapType,
  MessageMember,
  Special,
  Structural,
  StructType,
} from '../schema/structural.ts'
import {
  formatDuration,
  formatMicroTime,
  formatTime,
  isZeroTime,
  parseDuration,
  parseMicroTime,
  parseTime,
} from '../schema/time.ts'
import { base64ToBytes, bytesToBase64 } from './base64.ts'
import { fillStruct } from './decode.ts'
import { decodeUtf8, JsonSyntaxError, parseJsonBytes, plainJson, setMember, sortNames, stringify } from './json.ts'
import {
  BYTES,
  FIXED64,
  numberOfTag,
  ProtobufError,
  VARINT,
  WireReader,
  wireOfTag,
  WireWriter,
} from './protobuf-wire.ts'

/** Far deeper than any schema nests; only JSONSchemaProps has no end of its own. */
const MAX_DEPTH = 500

/** Whether there is a protobuf form at all: Table and version.Info are JSON only. */
export const hasProtobuf = (type: StructType): boolean => type.message !== undefined

/** The message of an object, without an envelope. */
export function encodeMessage(type: StructType, object: JsonObject): Uint8Array {
  const writer = new WireWriter()
  writeStruct(writer, type, object)
  return writer.finish()
}

/**
 * @returns an object in its normal form, without kind and apiVersion, which are in the envelope
 * @throws {ProtobufError}
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): JsonObject {
  return readStruct(bytes, type, {}, 0)
}

const writeOrders = new WeakMap<StructType, readonly MessageMember[]>()

/** The writer works backwards: the highest number first. */
function writeOrder(type: StructType): readonly MessageMember[] {
  let members = writeOrders.get(type)
  if (members === undefined) {
    if (type.message === undefined) throw new Error(`assertion failed: ${type.name} has no protobuf form`)
    members = [...type.message].sort((a, b) => numberOf(b) - numberOf(a))
    writeOrders.set(type, members)
  }
  return members
}

const numberOf = (member: MessageMember) => ('inline' in member ? member.number : member.field.number)

/** What is to be written of a struct, last first: bytes that are always the same, fields with values, inline messages. */
type Step = Uint8Array | Field | { readonly inline: readonly Step[]; readonly number: number }

/** The members of an object, in its order, are the path to what is to be written of it. */
interface Plan {
  readonly names: readonly string[]
  readonly next: Map<string, Plan>
  steps: readonly Step[] | undefined
}

/**
 * Few of the many members of a type are there, and most objects have the same ones; absent ones are looked up once for
 * all of them. Bounded, since clients choose.
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
    } else writeField(writer, step, object[step.name])
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
    writeValue(writer, type.value, 2, map[name] ?? null)
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

/** Times in their normal form, of which a Pod has a dozen, are the engine's to parse. */
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
    case 'json':
      return value === null ? undefined : writeText(writer, 1, stringify(value))
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

const readTables = new WeakMap<StructType, ReadonlyMap<number, MessageMember>>()

function membersByNumber(type: StructType): ReadonlyMap<number, MessageMember> {
  let members = readTables.get(type)
  if (members === undefined) {
    if (type.message === undefined) throw new ProtobufError(`${type.goType ?? type.name} has no protobuf form`)
    members = new Map(type.message.map((member) => [numberOf(member), member]))
    readTables.set(type, members)
  }
  return members
}

/** Goes on with `object`, for a message may come in several parts. */
function readStruct(bytes: Uint8Array, type: StructType, object: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth')
  const reader = new WireReader(bytes)
  const members = membersByNumber(type)
  while (!reader.isAtEnd) {
    const tag = reader.tag(messageName(type))
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    const member = members.get(number)
    if (member === undefined) reader.skip(wire)
    else if ('inline' in member) {
      expectWire(wire, BYTES, member.inline.name)
      readStruct(reader.run(), member.inline, object, depth + 1)
    } else readField(reader, wire, member.field, object, depth)
  }
  fillStruct(type, object)
  return object
}

const messageName = ({ name }: StructType) => name.slice(name.lastIndexOf('.') + 1)

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected)
    throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}

function readField(reader: WireReader, wire: number, field: Field, object: JsonObject, depth: number): void {
  const { name, type, pointer, omit } = field
  const before = object[name]
  if (type.shape === 'list' && type.wrapper === undefined) {
    const list = (before ?? []) as Json[] // what this function put there
    list.push(readValue(reader, wire, type.element, undefined, name, depth) ?? null)
    object[name] = list
  } else if (type.shape === 'map') {
    const map = (before ?? {}) as JsonObject
    expectWire(wire, BYTES, name)
    readEntry(reader.run(), type, map, name, depth)
    object[name] = map
  } else {
    const value = readValue(reader, wire, type, before, name, depth)
    const isZero = value === '' || value === 0 || value === false
    if (value === undefined || (isZero && !pointer && omit !== 'never' && type.shape === 'leaf')) delete object[name]
    else object[name] = value
  }
}

function readEntry(bytes: Uint8Array, type: MapType, map: JsonObject, name: string, depth: number): void {
  const reader = new WireReader(bytes)
  let key = ''
  let value: Json | undefined
  while (!reader.isAtEnd) {
    const tag = reader.tag(name)
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    if (number === 1) key = reader.text()
    else if (number === 2) value = readValue(reader, wire, type.value, undefined, name, depth)
    else reader.skip(wire)
  }
  setMember(map, key, value ?? zeroOf(type.value))
}

function zeroOf(type: Structural): Json {
  if (type.shape === 'struct') return readStruct(new Uint8Array(), type, {}, 0)
  if (type.shape === 'list') return []
  if (type.shape === 'special') return type.special === 'quantity' ? '0' : null
  return type.shape === 'leaf' && (type.scalar === 'string' || type.scalar === 'bytes') ? '' : 0
}

/** undefined: the value is absence in JSON (a zero time). */
function readValue(
  reader: WireReader,
  wire: number,
  type: Structural,
  before: Json | undefined,
  name: string,
  depth: number,
): Json | undefined {
  if (type.shape === 'leaf') return readLeaf(reader, wire, type, name)
  expectWire(wire, BYTES, name)
  const bytes = reader.run()
  switch (type.shape) {
    case 'struct':
      return readStruct(bytes, type, (before ?? {}) as JsonObject, depth + 1)
    case 'list':
      return readWrapper(bytes)
    case 'special':
      return readSpecial(bytes, type, depth)
    default:
      throw new Error(`assertion failed: a ${type.shape} has no protobuf form`)
  }
}

function readLeaf(reader: WireReader, wire: number, { scalar }: Leaf, name: string): Json {
  switch (scalar) {
    case 'string':
      expectWire(wire, BYTES, name)
      return reader.text()
    case 'bytes':
      expectWire(wire, BYTES, name)
      return bytesToBase64(reader.run())
    case 'double':
      expectWire(wire, FIXED64, name)
      return reader.double()
    case 'bool':
      expectWire(wire, VARINT, name)
      return Number(reader.int64()) !== 0
    case 'int32':
      expectWire(wire, VARINT, name)
      return reader.int32()
    default:
      expectWire(wire, VARINT, name)
      return reader.int64()
  }
}

function readWrapper(bytes: Uint8Array): Json {
  const list: Json[] = []
  eachField(bytes, 'items', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'items')
    list.push(reader.text())
  })
  return list
}

function eachField(
  bytes: Uint8Array,
  message: string,
  read: (number: number, wire: number, reader: WireReader) => void,
): void {
  const reader = new WireReader(bytes)
  while (!reader.isAtEnd) {
    const tag = reader.tag(message)
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    read(number, wire, reader)
  }
}

function readSpecial(bytes: Uint8Array, type: Special, depth: number): Json | undefined {
  switch (type.special) {
    case 'time':
    case 'microTime':
      return readTime(bytes, type.special)
    case 'duration':
      return formatDuration(BigInt(readNumbers(bytes, 'Duration').get(1) ?? 0))
    case 'quantity':
      return readQuantity(bytes)
    case 'intOrString':
      return readIntOrString(bytes)
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      return readRaw(bytes)
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return readSchema(bytes, type, depth)
    case 'unknown':
      throw new Error('assertion failed: an unknown object is only ever an envelope')
  }
}

/** A message of whole numbers. */
function readNumbers(bytes: Uint8Array, message: string): Map<number, number | bigint> {
  const numbers = new Map<number, number | bigint>()
  eachField(bytes, message, (number, wire, reader) => {
    if (wire === VARINT) numbers.set(number, reader.int64())
    else reader.skip(wire)
  })
  return numbers
}

// what Date can say, within which every year has four digits
const MIN_SECONDS = -62167219200
const MAX_SECONDS = 253402300799

function readTime(bytes: Uint8Array, special: 'time' | 'microTime'): Json | undefined {
  if (bytes.length === 0) return undefined
  const numbers = readNumbers(bytes, 'Timestamp')
  const seconds = Number(numbers.get(1) ?? 0)
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw new ProtobufError('year outside of range [0,9999]')
  const nanos = special === 'time' ? 0 : Math.min(Math.max(Number(numbers.get(2) ?? 0), 0), 999_999_999)
  const instant = { seconds, nanos }
  if (isZeroTime(instant)) return undefined
  return special === 'time' ? formatTime(instant) : formatMicroTime(instant)
}

function readQuantity(bytes: Uint8Array): Json {
  let text = '0'
  eachField(bytes, 'Quantity', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'string')
    text = reader.text()
  })
  const quantity = Quantity.tryParse(text)
  if (quantity === undefined) throw new ProtobufError(`unable to parse quantity ${JSON.stringify(text)}`)
  return quantity.toString()
}

function readIntOrString(bytes: Uint8Array): Json {
  let isText = false
  let number = 0
  let text = ''
  eachField(bytes, 'IntOrString', (field, wire, reader) => {
    if (field === 1 && wire === VARINT) isText = Number(reader.int64()) === 1
    else if (field === 2 && wire === VARINT) number = reader.int32()
    else if (field === 3 && wire === BYTES) text = reader.text()
    else reader.skip(wire)
  })
  return isText ? text : number
}

function readRaw(bytes: Uint8Array): Json | undefined {
  let raw: Uint8Array | undefined
  eachField(bytes, 'RawExtension', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'raw')
    raw = reader.run()
  })
  if (raw === undefined || raw.length === 0) return undefined
  try {
    return plainJson(parseJsonBytes(raw))
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ProtobufError(error.message)
    throw error
  }
}

function readSchema(bytes: Uint8Array, type: Special, depth: number): Json {
  const alone = type.special === 'schemaOrBool' ? 2 : 1
  let schema: Json | undefined
  let list: Json[] | undefined
  let allows = false
  eachField(bytes, 'JSONSchemaProps', (number, wire, reader) => {
    if (wire === VARINT && number === 1) allows = Number(reader.int64()) !== 0
    else if (wire !== BYTES) reader.skip(wire)
    else if (number === alone) schema = readStruct(reader.run(), type.of!(), {}, depth + 1)
    else if (number !== 2) reader.skip(wire)
    else {
      const bytes = reader.run()
      const isSchema = type.special === 'schemaOrArray'
      list = [...(list ?? []), isSchema ? readStruct(bytes, type.of!(), {}, depth + 1) : decodeUtf8(bytes)]
    }
  })
  return schema ?? list ?? (type.special === 'schemaOrBool' ? allows : null)
}
