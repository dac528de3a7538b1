/** The types of JSON values, and the types that a schema allows. */
import type { Json, JsonObject } from '../api/object.ts'
import { effectiveFormat } from './value-formats.ts'

export type JsonType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object'

export function typeOf(value: Json): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    case 'bigint':
      return value < INT64_LIMIT && value >= -INT64_LIMIT ? 'integer' : 'number'
    case 'number':
      // the client wrote a larger number with an exponent
      return Number.isSafeInteger(value) ? 'integer' : 'number'
    default:
      return 'object'
  }
}

/** A validation of a default sets this while it runs. */
let isOfDefault = false

/** kube-apiserver checks defaults by another form of the schema, in which int-or-string is no type. */
export function withoutIntOrString<T>(validate: () => T): T {
  const outer = isOfDefault
  isOfDefault = true
  try {
    return validate()
  } finally {
    isOfDefault = outer
  }
}

/** The types that a schema names. An empty list allows any type. */
export const typesOf = (schema: JsonObject): readonly string[] =>
  schema['x-kubernetes-int-or-string'] === true
    ? isOfDefault
      ? []
      : ['integer', 'string']
    : typeof schema['type'] === 'string' && schema['type'] !== ''
      ? [schema['type']]
      : []

export const formatOf = (schema: JsonObject): string => effectiveFormat(schema['format'], typesOf(schema))

export const INT64_LIMIT = 2n ** 63n

/** Whether a number is an integer, apart from floating-point error. */
export function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > 2 ** 53 - 1) return false
  const whole = Math.trunc(value)
  const difference = Math.abs(value - whole)
  if (value === whole) return true
  if (value === 0 || whole === 0 || difference < Number.MIN_VALUE) return difference < 1e-9 * Number.MIN_VALUE
  return difference / (Math.abs(value) + Math.abs(whole)) < 1e-9
}
