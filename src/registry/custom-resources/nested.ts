/** Reads values at the simple JSON paths of a definition: `.spec.replicas`. */
import type { Json, KubeObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { goType, goValue } from '../../go/value.ts'

export const pathParts = (path: string): string[] => path.replace(/^\./, '').split('.')

export interface Nested<Value> {
  /** Undefined if the object has no value there. */
  readonly value?: Value
  readonly error?: string
}

export function nestedInteger(object: KubeObject, parts: readonly string[]): Nested<number> {
  const found = nested(object, parts)
  if (found.value === undefined) return found as Nested<number>
  const { value } = found
  if (typeof value === 'number' && Number.isInteger(value)) return { value }
  if (typeof value === 'bigint') return { value: Number(value) }
  return { error: accessorError(parts, value, 'int64') }
}

export function nestedString(object: KubeObject, parts: readonly string[]): Nested<string> {
  const found = nested(object, parts)
  if (found.value === undefined) return found as Nested<string>
  return typeof found.value === 'string'
    ? { value: found.value }
    : { error: accessorError(parts, found.value, 'string') }
}

function nested(object: KubeObject, parts: readonly string[]): Nested<Json> {
  let value: Json | undefined = object as unknown as Json // an object is JSON
  for (const [index, name] of parts.entries()) {
    if (!isJsonObject(value)) {
      return value === undefined || value === null
        ? {}
        : { error: accessorError(parts.slice(0, index + 1), value, 'map[string]interface{}') }
    }
    value = ownValue(value, name)
  }
  return value === undefined ? {} : { value }
}

const accessorError = (parts: readonly string[], value: Json, expected: string): string =>
  `.${parts.join('.')} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected ${expected}`
