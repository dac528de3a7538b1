/** Decodes protocol buffers into objects of the built-in types. protobuf/encode.ts describes the messages. */
import type { Json, JsonObject } from '../../api/object.ts'
import { setOwn } from '../../base/own.ts'
import { eachPart, goesInParts, kept, undivided } from '../../base/parts.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { Field, Leaf, MapType, MessageMember, Special, Structural, StructType } from '../../schema/structural.ts'
import { formatDuration, formatMicroTime, formatTime, isZeroTime } from '../../schema/time.ts'
import { bytesToBase64 } from '../../base/base64.ts'
import { fillStruct } from '../../schema/zero-values.ts'
import { checkMembers } from '../../json/json.ts'
import type { JsonTree } from '../../json/json.ts'
import { MAX_DEPTH as MAX_JSON_DEPTH, MAX_NESTING, NestingError, plainJson } from '../../json/json.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { parseJsonInParts, parseStored } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import { numberOf } from './encode.ts'
import { BYTES, FIXED64, numberOfTag, ProtobufError, VARINT, WireReader, wireOfTag } from './wire.ts'

/** Only JSONSchemaProps nests deeper, because it may contain itself. */
const MAX_DEPTH = 500

/**
 * @returns an object in its normal form, without kind and apiVersion, which are in the envelope
 * @throws {ProtobufError}
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): JsonObject {
  return readStruct(
    kept(bytes, () => new WireReader(bytes)),
    type,
    {},
    0,
  )
}

/** Fields of messages with more bytes are read in parts. */
const LARGE = 1024

/** A field that is being read. When a walk is stopped and runs again, it finds the same value here. */
interface Current {
  readonly number: number
  readonly wire: number
}

function eachField(
  reader: WireReader,
  name: string,
  read: (number: number, wire: number, reader: WireReader, current?: Current) => void,
): void {
  if (!goesInParts() || reader.size < LARGE) {
    while (!reader.isAtEnd) {
      const tag = reader.tag(name)
      read(numberOfTag(tag), wireOfTag(tag), reader)
    }
    return
  }
  const fields = kept(reader, (): Current[] => [])
  const next = (): void => {
    if (reader.isAtEnd) return
    const tag = reader.tag(name)
    fields.push({ number: numberOfTag(tag), wire: wireOfTag(tag) })
  }
  if (fields.length === 0) next()
  eachPart(fields, (field) => {
    read(field.number, field.wire, reader, field)
    next() // the loop goes on to what this adds
  })
}

const messageIn = (reader: WireReader, current: Current | undefined): WireReader =>
  kept(current, () => reader.message())

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

/** Continues with `before`, because a message may come in several parts. */
function readStruct(reader: WireReader, type: StructType, before: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth')
  const members = membersByNumber(type)
  const { object, entries } = kept(reader, () => ({ object: before, entries: new Map<Field, number>() }))
  eachField(reader, type.name, (number, wire, _, current) => {
    const member = members.get(number)
    if (member === undefined) reader.skip(wire)
    else if ('inline' in member) {
      expectWire(wire, BYTES, member.inline.name)
      readStruct(messageIn(reader, current), member.inline, object, depth + 1)
    } else {
      const { field } = member
      if (field.type.shape === 'map') kept(current, () => countEntry(entries, field))
      readField(reader, wire, field, object, depth, current)
    }
  })
  fillStruct(type, object)
  return object
}

/** @throws StatusError 413 */
function countEntry(entries: Map<Field, number>, field: Field): number {
  const count = (entries.get(field) ?? 0) + 1
  checkMembers(count)
  entries.set(field, count)
  return count
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected)
    throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}

function readField(
  reader: WireReader,
  wire: number,
  field: Field,
  object: JsonObject,
  depth: number,
  current: Current | undefined,
): void {
  const { name, type, pointer, omit } = field
  const before = object[name] // own key: a field of a built-in type, here and below
  if (type.shape === 'list' && type.wrapper === undefined) {
    const list = (before ?? []) as Json[] // what this function put there
    list.push(readValue(reader, wire, type.element, undefined, name, depth, current) ?? null)
    object[name] = list // own key: a field
  } else if (type.shape === 'map') {
    const map = (before ?? {}) as JsonObject
    expectWire(wire, BYTES, name)
    readEntry(messageIn(reader, current), type, map, name, depth)
    object[name] = map // own key: a field
  } else {
    const value = readValue(reader, wire, type, before, name, depth, current)
    const isZero = value === '' || value === 0 || value === false
    const isLeftOut = value === undefined || (isZero && !pointer && omit !== 'never' && type.shape === 'leaf')
    if (!isLeftOut)
      object[name] = value // own key: a field
    else if (before !== undefined) delete object[name]
  }
}

function readEntry(reader: WireReader, type: MapType, map: JsonObject, name: string, depth: number): void {
  const entry = kept(reader, () => ({ key: '', value: undefined as Json | undefined }))
  eachField(reader, name, (number, wire, _, current) => {
    if (number === 1) entry.key = reader.text()
    else if (number === 2) entry.value = readValue(reader, wire, type.value, undefined, name, depth, current)
    else reader.skip(wire)
  })
  setOwn(map, entry.key, entry.value ?? zeroOf(type.value))
}

function zeroOf(type: Structural): Json {
  if (type.shape === 'struct') return readStruct(new WireReader(new Uint8Array()), type, {}, 0)
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
  current: Current | undefined,
): Json | undefined {
  if (type.shape === 'leaf') return readLeaf(reader, wire, type, name)
  expectWire(wire, BYTES, name)
  const message = messageIn(reader, current)
  switch (type.shape) {
    case 'struct':
      return readStruct(message, type, (before ?? {}) as JsonObject, depth + 1)
    case 'list':
      return readWrapper(message)
    case 'special':
      return readSpecial(message, type, depth)
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

function readWrapper(message: WireReader): Json {
  const list = kept(message, (): Json[] => [])
  eachField(message, 'items', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'items')
    list.push(reader.text())
  })
  return list
}

function readSpecial(message: WireReader, type: Special, depth: number): Json | undefined {
  switch (type.special) {
    case 'time':
    case 'microTime':
      return readTime(message, type.special)
    case 'duration':
      return formatDuration(BigInt(readNumbers(message, 'Duration').get(1) ?? 0))
    case 'quantity':
      return readQuantity(message)
    case 'intOrString':
      return readIntOrString(message)
    case 'rawExtension':
    case 'fieldsV1':
    case 'json':
      return readRaw(message)
    case 'schemaOrArray':
    case 'schemaOrBool':
    case 'schemaOrStringArray':
      return readSchema(message, type, depth)
    case 'unknown':
      throw new Error('assertion failed: an unknown object is only ever an envelope')
  }
}

/** A message of whole numbers. */
function readNumbers(message: WireReader, name: string): Map<number, number | bigint> {
  const numbers = kept(message, () => new Map<number, number | bigint>())
  eachField(message, name, (number, wire, reader) => {
    if (wire === VARINT) numbers.set(number, reader.int64())
    else reader.skip(wire)
  })
  return numbers
}

// the range of Date in which years have four digits
const MIN_SECONDS = -62167219200
const MAX_SECONDS = 253402300799

function readTime(message: WireReader, special: 'time' | 'microTime'): Json | undefined {
  if (message.isAtEnd) return undefined
  const numbers = readNumbers(message, 'Timestamp')
  const seconds = Number(numbers.get(1) ?? 0)
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) throw new ProtobufError('year outside of range [0,9999]')
  const nanos = special === 'time' ? 0 : Math.min(Math.max(Number(numbers.get(2) ?? 0), 0), 999_999_999)
  const instant = { seconds, nanos }
  if (isZeroTime(instant)) return undefined
  if (special === 'microTime') return formatMicroTime(instant)
  if (seconds !== lastSeconds) {
    lastTime = formatTime(instant)
    lastSeconds = seconds
  }
  return lastTime
}

/** The time that was read last: most times of an object are equal. */
let lastSeconds = NaN
let lastTime = ''

function readQuantity(message: WireReader): Json {
  const found = kept(message, () => ({ text: '0' }))
  eachField(message, 'Quantity', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'string')
    found.text = reader.text()
  })
  const quantity = Quantity.tryParse(found.text)
  if (quantity === undefined) throw new ProtobufError(`unable to parse quantity ${JSON.stringify(found.text)}`)
  return quantity.toString()
}

function readIntOrString(message: WireReader): Json {
  const found = kept(message, () => ({ isText: false, number: 0, text: '' }))
  eachField(message, 'IntOrString', (field, wire, reader) => {
    if (field === 1 && wire === VARINT) found.isText = Number(reader.int64()) === 1
    else if (field === 2 && wire === VARINT) found.number = reader.int32()
    else if (field === 3 && wire === BYTES) found.text = reader.text()
    else reader.skip(wire)
  })
  return found.isText ? found.text : found.number
}

function readRaw(message: WireReader): Json | undefined {
  const found = kept(message, () => ({ raw: undefined as Uint8Array | undefined }))
  eachField(message, 'RawExtension', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'raw')
    found.raw = reader.run()
  })
  const { raw } = found
  if (raw === undefined || raw.length === 0) return undefined
  // short, and parsed at once, because each run would parse it again
  return kept(raw, () => undivided(() => quickJson(raw))) ?? exactJson(raw)
}

/** Parses JSON with JSON.parse where that gives the same tree as parseJson does; undefined where it might not. */
function quickJson(raw: Uint8Array): Json | undefined {
  // shorter ones can't be refused for their depth by the syntax, and only escapes say halves of characters
  if (raw.length > MAX_JSON_DEPTH) return undefined
  const text = decodeUtf8(raw)
  if (text.includes('\\u')) return undefined
  try {
    return plainJson(parseStored(text) as JsonTree, MAX_NESTING)
  } catch {
    return undefined
  }
}

function exactJson(raw: Uint8Array): Json {
  try {
    return plainJson(parseJsonInParts(raw, raw), MAX_NESTING)
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof NestingError) throw new ProtobufError(error.message)
    throw error
  }
}

function readSchema(message: WireReader, type: Special, depth: number): Json {
  const alone = type.special === 'schemaOrBool' ? 2 : 1
  const found = kept(message, () => ({
    schema: undefined as Json | undefined,
    list: undefined as Json[] | undefined,
    allows: false,
  }))
  const schemaIn = (reader: WireReader, current?: Current): Json =>
    readStruct(messageIn(reader, current), type.of!(), {}, depth + 1)
  eachField(message, 'JSONSchemaProps', (number, wire, reader, current) => {
    if (wire === VARINT && number === 1) found.allows = Number(reader.int64()) !== 0
    else if (wire !== BYTES) reader.skip(wire)
    else if (number === alone) found.schema = schemaIn(reader, current)
    else if (number !== 2) reader.skip(wire)
    else {
      const list = (found.list ??= [])
      list.push(type.special === 'schemaOrArray' ? schemaIn(reader, current) : reader.text())
    }
  })
  return found.schema ?? found.list ?? (type.special === 'schemaOrBool' ? found.allows : null)
}
