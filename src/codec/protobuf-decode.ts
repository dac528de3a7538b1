/** Protocol buffers as objects of the built-in types; what protobuf-encode.ts says of messages, the other way. */
import type { Json, JsonObject } from '../api/object.ts'
import { setOwn } from '../api/own.ts'
import { Quantity } from '../schema/quantity.ts'
import type { Field, Leaf, MapType, MessageMember, Special, Structural, StructType } from '../schema/structural.ts'
import { formatDuration, formatMicroTime, formatTime, isZeroTime } from '../schema/time.ts'
import { bytesToBase64 } from '../api/base64.ts'
import { fillStruct } from './decode.ts'
import { checkMembers } from '../api/json.ts'
import type { JsonTree } from '../api/json.ts'
import {
  decodeUtf8,
  JsonSyntaxError,
  MAX_DEPTH as MAX_JSON_DEPTH,
  MAX_NESTING,
  NestingError,
  parseJsonBytes,
  parseStored,
  plainJson,
} from '../api/json.ts'
import { numberOf } from './protobuf-encode.ts'
import { BYTES, FIXED64, numberOfTag, ProtobufError, VARINT, WireReader, wireOfTag } from './protobuf-wire.ts'

/** Far deeper than any schema nests; only JSONSchemaProps has no end of its own. */
const MAX_DEPTH = 500

/**
 * @returns an object in its normal form, without kind and apiVersion, which are in the envelope
 * @throws {ProtobufError}
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): JsonObject {
  return readStruct(new WireReader(bytes), type, {}, 0)
}

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
function readStruct(reader: WireReader, type: StructType, object: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth')
  const members = membersByNumber(type)
  let entries: Map<Field, number> | undefined
  while (!reader.isAtEnd) {
    const tag = reader.tag(type.name)
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    const member = members.get(number)
    if (member === undefined) reader.skip(wire)
    else if ('inline' in member) {
      expectWire(wire, BYTES, member.inline.name)
      readStruct(reader.message(), member.inline, object, depth + 1)
    } else {
      const { field } = member
      if (field.type.shape === 'map') {
        const count = ((entries ??= new Map()).get(field) ?? 0) + 1
        checkMembers(count)
        entries.set(field, count)
      }
      readField(reader, wire, field, object, depth)
    }
  }
  fillStruct(type, object)
  return object
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected)
    throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}

function readField(reader: WireReader, wire: number, field: Field, object: JsonObject, depth: number): void {
  const { name, type, pointer, omit } = field
  const before = object[name] // own key: a field of a built-in type, here and below
  if (type.shape === 'list' && type.wrapper === undefined) {
    const list = (before ?? []) as Json[] // what this function put there
    list.push(readValue(reader, wire, type.element, undefined, name, depth) ?? null)
    object[name] = list // own key: a field
  } else if (type.shape === 'map') {
    const map = (before ?? {}) as JsonObject
    expectWire(wire, BYTES, name)
    readEntry(reader.message(), type, map, name, depth)
    object[name] = map // own key: a field
  } else {
    const value = readValue(reader, wire, type, before, name, depth)
    const isZero = value === '' || value === 0 || value === false
    const isLeftOut = value === undefined || (isZero && !pointer && omit !== 'never' && type.shape === 'leaf')
    if (!isLeftOut)
      object[name] = value // own key: a field
    else if (before !== undefined) delete object[name]
  }
}

function readEntry(reader: WireReader, type: MapType, map: JsonObject, name: string, depth: number): void {
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
  setOwn(map, key, value ?? zeroOf(type.value))
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
): Json | undefined {
  if (type.shape === 'leaf') return readLeaf(reader, wire, type, name)
  expectWire(wire, BYTES, name)
  const message = reader.message()
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
  const list: Json[] = []
  eachField(message, 'items', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'items')
    list.push(reader.text())
  })
  return list
}

function eachField(
  reader: WireReader,
  name: string,
  read: (number: number, wire: number, reader: WireReader) => void,
): void {
  while (!reader.isAtEnd) {
    const tag = reader.tag(name)
    const number = numberOfTag(tag)
    const wire = wireOfTag(tag)
    read(number, wire, reader)
  }
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
  const numbers = new Map<number, number | bigint>()
  eachField(message, name, (number, wire, reader) => {
    if (wire === VARINT) numbers.set(number, reader.int64())
    else reader.skip(wire)
  })
  return numbers
}

// what Date can say, within which every year has four digits
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

/** The time that was read last: most of an object's are the same. */
let lastSeconds = NaN
let lastTime = ''

function readQuantity(message: WireReader): Json {
  let text = '0'
  eachField(message, 'Quantity', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'string')
    text = reader.text()
  })
  const quantity = Quantity.tryParse(text)
  if (quantity === undefined) throw new ProtobufError(`unable to parse quantity ${JSON.stringify(text)}`)
  return quantity.toString()
}

function readIntOrString(message: WireReader): Json {
  let isText = false
  let number = 0
  let text = ''
  eachField(message, 'IntOrString', (field, wire, reader) => {
    if (field === 1 && wire === VARINT) isText = Number(reader.int64()) === 1
    else if (field === 2 && wire === VARINT) number = reader.int32()
    else if (field === 3 && wire === BYTES) text = reader.text()
    else reader.skip(wire)
  })
  return isText ? text : number
}

function readRaw(message: WireReader): Json | undefined {
  let raw: Uint8Array | undefined
  eachField(message, 'RawExtension', (number, wire, reader) => {
    if (number !== 1) return reader.skip(wire)
    expectWire(wire, BYTES, 'raw')
    raw = reader.run()
  })
  if (raw === undefined || raw.length === 0) return undefined
  return quickJson(raw) ?? exactJson(raw)
}

/** By the engine's own parser, where nothing would tell the two apart; undefined where something might. */
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
    return plainJson(parseJsonBytes(raw), MAX_NESTING)
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof NestingError) throw new ProtobufError(error.message)
    throw error
  }
}

function readSchema(message: WireReader, type: Special, depth: number): Json {
  const alone = type.special === 'schemaOrBool' ? 2 : 1
  let schema: Json | undefined
  let list: Json[] | undefined
  let allows = false
  eachField(message, 'JSONSchemaProps', (number, wire, reader) => {
    if (wire === VARINT && number === 1) allows = Number(reader.int64()) !== 0
    else if (wire !== BYTES) reader.skip(wire)
    else if (number === alone) schema = readStruct(reader.message(), type.of!(), {}, depth + 1)
    else if (number !== 2) reader.skip(wire)
    else {
      const isSchema = type.special === 'schemaOrArray'
      list ??= []
      list.push(isSchema ? readStruct(reader.message(), type.of!(), {}, depth + 1) : reader.text())
    }
  })
  return schema ?? list ?? (type.special === 'schemaOrBool' ? allows : null)
}
