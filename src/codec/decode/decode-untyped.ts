/** Decodes JSON without a type. */
import type { Json, JsonObject } from '../../api/object.ts'
import { kept } from '../../base/parts.ts'
import type { JsonTree } from '../../json/json.ts'
import { MAX_NESTING, NestingError, plainJson } from '../../json/json.ts'
import { NumberLiteral } from '../../json/numbers.ts'
import { DecodeError, TypeMismatch, reportRepeated } from './decode-problems.ts'
import type { Decoded } from './decoded.ts'
import { kindOf } from '../protobuf/json-kinds.ts'

/** Decodes a value without a type. @throws {DecodeError} where it nests too deep */
export function untyped(tree: JsonTree): Json {
  try {
    return plainJson(tree, MAX_NESTING)
  } catch (error) {
    throw error instanceof NestingError ? new DecodeError(error.message) : error
  }
}

/**
 * Decodes an object without a type (custom resources). It reports repeated members, of which the last wins.
 * @throws {DecodeError} when it is not an object, or has a number that no float can hold
 */
export function decodeUnstructured(tree: JsonTree): Decoded {
  const isObject = typeof tree === 'object' && tree !== null && !Array.isArray(tree) && !(tree instanceof NumberLiteral)
  if (!isObject && tree !== null) throw new TypeMismatch(kindOf(tree), 'map[string]interface {}')
  const strict = kept(tree, (): string[] => [])
  reportRepeated(tree, strict)
  return { object: (untyped(tree) ?? {}) as JsonObject, strict } // it is an object or null, as checked above
}
