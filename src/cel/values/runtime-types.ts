/** The types of values at run time, and their names in messages. */
import type { Type } from '../checker/type.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from '../checker/type.ts'
import type { Value } from './value.ts'
import {
  Duration,
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from './value.ts'

const LIST = listOf(DYN)
const MAP = mapOf(DYN, DYN)
const OPTIONAL = optionalOf(DYN)
const TYPE = typeOf()

export function runtimeType(value: Value): Type {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
  }
  if (value === null) return NULL
  if (value instanceof Uint) return UINT
  if (value instanceof Uint8Array) return BYTES
  if (value instanceof ListValue) return LIST
  if (value instanceof MapValue) return MAP
  if (value instanceof Timestamp) return TIMESTAMP
  if (value instanceof Duration) return DURATION
  if (value instanceof Optional) return OPTIONAL
  if (value instanceof TypeValue) return TYPE
  if (value instanceof OpaqueValue || value instanceof ObjectValue) return value.type
  return ERROR
}

export function runtimeTypeName(type: Type): string {
  switch (type.kind) {
    case 'null':
      return 'null_type'
    case 'any':
      return 'google.protobuf.Any'
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'struct':
    case 'opaque':
    case 'parameter':
      return type.name
    case 'wrapper':
      return runtimeTypeName(type.of)
    default:
      return type.kind
  }
}

/**
 * Whether a value fits a parameter of that type. Only the first element of a list or the first entry of a map is
 * checked.
 */
export function fitsAtRuntime(type: Type, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'parameter':
      return true
    case 'list':
      return value instanceof ListValue && (value.size === 0 || fitsAtRuntime(type.element, value.at(0)))
    case 'map':
      return value instanceof MapValue && firstEntryFits(type, value)
    default:
      return runtimeTypeName(type) === runtimeTypeName(runtimeType(value))
  }
}

function firstEntryFits({ key: keyType, value: valueType }: Type & { kind: 'map' }, map: MapValue): boolean {
  for (const key of map.keys()) return fitsAtRuntime(keyType, key) && fitsAtRuntime(valueType, map.get(key)!)
  return true
}
