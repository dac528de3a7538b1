/** Lists and maps of a value that may be absent or of another type. */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { kept } from '../base/parts.ts'

export function isEmptyMap(value: Json): boolean {
  if (!isJsonObject(value)) return false
  for (const name in value) if (value[name] !== undefined) return false
  return true
}

/** Kept for the whole walk: V8 reads all names of a large map before it returns the first. */
export const hasNoMembers = (value: JsonObject): boolean => kept(value, () => isEmptyMap(value))

export const itemsOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

export const entriesOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
