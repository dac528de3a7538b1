/**
 * An object as Go would write it: what a JSON client gets, as values in memory. Field ownership is about this form:
 * a struct that is no pointer is there even when nothing was said of it, and a list without `omitempty` is null.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import type { Field, Structural, StructType } from './structural.ts'

/** Custom objects are as they are. The result shares what needs no change with the value. */
export function canonical(type: StructType, value: Json): Json {
  return type.goType === undefined ? value : canonicalStruct(type, isJsonObject(value) ? value : {})
}

function canonicalStruct(type: StructType, value: JsonObject): JsonObject {
  const result: JsonObject = {}
  if (type.typeMeta) {
    if (value['kind']) result['kind'] = value['kind']
    if (value['apiVersion']) result['apiVersion'] = value['apiVersion']
  }
  for (const field of type.fields) {
    const item = canonicalField(field, value[field.name])
    if (item !== undefined) result[field.name] = item
  }
  return result
}

/** Undefined where the field is left out. */
function canonicalField({ type, omit, pointer }: Field, value: Json | undefined): Json | undefined {
  if (pointer && (value === undefined || value === null)) return omit === 'never' ? null : undefined
  const item = value === undefined || value === null ? zeroOf(type) : canonicalValue(type, value)
  if (pointer || omit === 'never') return item
  if (type.shape === 'struct') return omit === 'zero' && isZero(item) ? undefined : item
  return isEmpty(type, item) ? undefined : item
}

function canonicalValue(type: Structural, value: Json): Json {
  switch (type.shape) {
    case 'struct':
      return isJsonObject(value) ? canonicalStruct(type, value) : value
    case 'list':
      return Array.isArray(value) && !isPlain(type.element)
        ? value.map((item) => (item === null ? zeroOf(type.element) : canonicalValue(type.element, item)))
        : value
    case 'map':
      return isJsonObject(value) && !isPlain(type.value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, item]) => [
              name,
              item === null || item === undefined ? zeroOf(type.value) : canonicalValue(type.value, item),
            ]),
          )
        : value
    default:
      return value
  }
}

/** Values of the type are always in their canonical form. */
const isPlain = (type: Structural) => type.shape === 'special' || type.shape === 'untyped'

/** What Go has where nothing was said. */
function zeroOf(type: Structural): Json {
  switch (type.shape) {
    case 'leaf':
      return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : type.scalar === 'bytes' ? null : 0
    case 'special':
      return type.special === 'quantity'
        ? '0'
        : type.special === 'intOrString'
          ? 0
          : type.special === 'duration'
            ? '0s'
            : null
    case 'struct':
      return canonicalStruct(type, {})
    default:
      return null
  }
}

/** Go's omitempty, for what is neither a pointer nor a struct. */
function isEmpty(type: Structural, value: Json): boolean {
  if (type.shape === 'special') return value === null
  if (value === null || value === '' || value === 0 || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}

function isZero(value: Json): boolean {
  if (isJsonObject(value)) return Object.values(value).every((item) => item === undefined || isZero(item))
  return value === null || value === '' || value === 0 || value === false
}
