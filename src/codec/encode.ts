/**
 * From an object of a type to what Go's encoder writes of it: members in the order of the struct, kind and apiVersion
 * first, empty ones left out where the type says so, structs that are no pointers always there, `null` for absent
 * lists, maps and pointers that are always written, names of maps sorted.
 */
import type { Json, JsonObject } from '../api/object.ts'
import type { Field, Structural, StructType } from '../schema/structural.ts'
import { isCustomKind } from '../schema/structural.ts'
import { emptyStruct } from './decode.ts'
import { escapeHtml, setMember, sortNames, stringifySorted } from './json.ts'

export interface EncodeOptions {
  /**
   * Empty lists and maps as they are. By default they are null where they can't be left out, for the reference stores
   * objects in protobuf, where nothing tells them from absent ones. Kinds that are never stored keep them.
   */
  readonly keepEmpty?: boolean
}

/** The object in the shape and order in which it is written, apart from names of maps that are whole numbers. */
export function canonical(type: StructType, object: JsonObject, options: EncodeOptions = {}): JsonObject {
  const keepEmpty = options.keepEmpty ?? false
  const out: JsonObject = {}
  if (type.typeMeta) {
    if (object.kind) out.kind = object.kind
    if (object.apiVersion) out.apiVersion = object.apiVersion
  }
  for (const field of type.fields) {
    const value = written(field, object[field.name], keepEmpty)
    if (value !== undefined) out[field.name] = canonicalValue(field.type, value, options)
  }
  return out
}

function canonicalValue(type: Structural, value: Json, options: EncodeOptions): Json {
  if (value === null) return null
  switch (type.shape) {
    case 'struct':
      return canonical(type, value as JsonObject, options)
    case 'list':
      return (value as Json[]).map((element) => canonicalValue(type.element, element, options))
    case 'map': {
      const out: JsonObject = {}
      const map = value as JsonObject
      for (const name of sortNames(Object.keys(map)))
        setMember(out, name, canonicalValue(type.value, map[name] ?? null, options))
      return out
    }
    case 'special':
      return canonicalSchema(type.of, value, options)
    default:
      return value
  }
}

/** A JSONSchemaProps, a list of them, or something simple. */
function canonicalSchema(of: (() => StructType) | undefined, value: Json, options: EncodeOptions): Json {
  if (of === undefined || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((element) => canonicalSchema(of, element, options))
  return canonical(of(), value, options)
}

/** Compact JSON text, without a final newline. */
export function encodeJson(type: StructType, object: JsonObject, options: EncodeOptions = {}): string {
  if (isCustomKind(type)) return stringifySorted(object)
  return escapeHtml(structText(type, object, options.keepEmpty ?? false))
}

function structText(type: StructType, object: JsonObject, keepEmpty: boolean): string {
  let out = ''
  if (type.typeMeta) {
    if (object.kind) out += `,"kind":${JSON.stringify(object.kind)}`
    if (object.apiVersion) out += `,"apiVersion":${JSON.stringify(object.apiVersion)}`
  }
  for (const field of type.fields) {
    const value = written(field, object[field.name], keepEmpty)
    if (value !== undefined) out += `,"${field.name}":${valueText(field.type, value, keepEmpty)}`
  }
  return `{${out.slice(1)}}`
}

function valueText(type: Structural, value: Json, keepEmpty: boolean): string {
  if (value === null) return 'null'
  switch (type.shape) {
    case 'struct':
      return structText(type, value as JsonObject, keepEmpty)
    case 'list': {
      let out = ''
      for (const element of value as Json[]) out += `,${valueText(type.element, element, keepEmpty)}`
      return `[${out.slice(1)}]`
    }
    case 'map': {
      const map = value as JsonObject
      let out = ''
      for (const name of sortNames(Object.keys(map)))
        out += `,${JSON.stringify(name)}:${valueText(type.value, map[name] ?? null, keepEmpty)}`
      return `{${out.slice(1)}}`
    }
    case 'special':
      return JSON.stringify(canonicalSchema(type.of, value, { keepEmpty }))
    default:
      return typeof value === 'number' ? String(value) : JSON.stringify(value)
  }
}

/** What a field is written as: undefined when it is left out. */
function written(field: Field, value: Json | undefined, keepEmpty: boolean): Json | undefined {
  if (value === undefined || value === null) return absent(field)
  if (field.pointer) return value
  const { type } = field
  switch (type.shape) {
    case 'leaf':
      return field.omit !== 'never' && (value === '' || value === 0 || value === false) ? undefined : value
    case 'list':
      if ((value as Json[]).length > 0) return value
      return field.omit !== 'never' ? undefined : keepEmpty || type.wrapper !== undefined ? value : null
    case 'map':
      if (Object.keys(value).length > 0) return value
      return field.omit !== 'never' ? undefined : keepEmpty ? value : null
    default:
      return value
  }
}

/** The zero value of a field that has none, as it is written. */
function absent({ type, omit, pointer }: Field): Json | undefined {
  if (!pointer && type.shape === 'struct') return omit === 'zero' ? undefined : emptyStruct(type)
  if (!pointer && type.shape === 'special') {
    if (omit === 'zero') return undefined
    switch (type.special) {
      case 'quantity':
        return '0'
      case 'intOrString':
        return 0
      case 'duration':
        return '0s'
      default:
        return null
    }
  }
  if (omit !== 'never') return undefined
  if (pointer || type.shape !== 'leaf') return null
  switch (type.scalar) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'bytes':
      return null
    default:
      return 0
  }
}
