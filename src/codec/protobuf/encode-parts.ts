/**
 * Encodes large objects as protocol buffers piece by piece, in a walk (base/parts.ts). protobuf/encode.ts encodes whole
 * objects and the small parts of large ones.
 */
import { joined } from '../../base/bytes.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { goesInParts, kept, mapNames, mapParts } from '../../base/parts.ts'
import { sortedKeys } from '../../base/name-order.ts'
import type { Field, MessageMember, Special, Structural, StructType } from '../../schema/structural.ts'
import { encodeAbsent, encodeMessage, encodeValue, numberOf } from './encode.ts'
import { BYTES, VARINT, WireWriter } from './wire.ts'

/** A value with at most this many parts, counted at all levels, is encoded at once. */
const SMALL = 64

/** The weight of an item (base/parts.ts), because it may have up to SMALL parts itself. */
const WEIGHT = 16

/** The message of an object, without an envelope. */
export const encodeMessageInParts = (type: StructType, object: JsonObject): Uint8Array =>
  goesInParts() ? messageOf(type, object) : encodeMessage(type, object)

const orders = new WeakMap<StructType, readonly MessageMember[]>()

function orderOf(type: StructType): readonly MessageMember[] {
  let members = orders.get(type)
  if (members === undefined) {
    if (type.message === undefined) throw new Error(`assertion failed: ${type.name} has no protobuf form`)
    orders.set(type, (members = type.message.toSorted((a, b) => numberOf(a) - numberOf(b))))
  }
  return members
}

function messageOf(type: StructType, object: JsonObject): Uint8Array {
  if (isSmall(object)) return encodeMessage(type, object)
  // a copy for each object, because the list identifies the walk over it
  const members = kept(object, () => orderOf(type).slice())
  const pieces = mapParts(members, (member) => {
    if ('inline' in member) return delimited(member.number, messageOf(member.inline, object))
    const value = object[member.field.name] // own key: a field of a built-in type
    return value === undefined || value === null ? encodeAbsent(member) : fieldOf(member.field, value)
  })
  return joined(pieces)
}

/** The bytes of a present field. */
function fieldOf({ type, number }: Field, value: Json): Uint8Array {
  if (type.shape === 'list' && type.wrapper === undefined)
    return joined(mapParts(value as Json[], (element) => valueOf(type.element, number, element), WEIGHT))
  if (type.shape !== 'map') return valueOf(type, number, value)
  const map = value as JsonObject
  const entry = (name: string): Uint8Array =>
    delimited(number, joined([keyOf(name), valueOf(type.value, 2, ownValue(map, name) ?? null)]))
  return joined(mapNames(map, sortedKeys, entry, WEIGHT))
}

function keyOf(name: string): Uint8Array {
  const writer = new WireWriter(name.length + 16)
  writer.text(name)
  writer.close(1, 0)
  return writer.finish()
}

/** One value with its tag. */
function valueOf(type: Structural, number: number, value: Json): Uint8Array {
  if (typeof value !== 'object' || value === null || isSmall(value)) return encodeValue(type, number, value)
  if (type.shape === 'struct') return delimited(number, messageOf(type, value as JsonObject))
  if (type.shape === 'list')
    return delimited(number, joined(mapParts(value as Json[], (element) => valueOf(type.element, 1, element), WEIGHT)))
  const isNames = type.shape === 'special' && type.special === 'schemaOrStringArray' && Array.isArray(value)
  if (type.shape === 'special' && type.of !== undefined && !isNames)
    return delimited(number, schemaIn(type, type.of(), value))
  return encodeValue(type, number, value)
}

/** A value that contains a schema or a list of schemas. */
function schemaIn({ special }: Special, schema: StructType, value: object): Uint8Array {
  if (Array.isArray(value)) return joined(mapParts(value as Json[], (one) => valueOf(schema, 2, one), WEIGHT))
  const alone = special === 'schemaOrBool' ? 2 : 1
  const written = delimited(alone, messageOf(schema, value as JsonObject))
  return special === 'schemaOrBool' ? joined([Uint8Array.of(8 + VARINT, 1), written]) : written
}

function isSmall(value: Json): boolean {
  let left = SMALL
  const count = (one: Json | undefined): void => {
    if (--left < 0 || typeof one !== 'object' || one === null) return
    if (Array.isArray(one)) {
      if ((left -= one.length) >= 0) one.forEach(count)
    } else for (const name in one) if (left >= 0) count(one[name]) // own key: it has no others
  }
  count(value)
  return left >= 0
}

function delimited(number: number, bytes: Uint8Array): Uint8Array {
  const writer = new WireWriter(16)
  writer.varint(bytes.length)
  writer.tag(number, BYTES)
  return joined([writer.finish(), bytes])
}
