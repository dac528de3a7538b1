import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { eachName, eachPart } from '../base/parts.ts'
import type { Structural, StructType } from './structural.ts'

/**
 * Removes the nulls that Go writes for absent lists, maps and pointers, in place: in memory, an absent field has no
 * value. Untyped values keep their nulls.
 */
export function removeNulls(type: StructType, object: JsonObject): void {
  for (const { name, type: of } of type.fields) {
    const value = ownValue(object, name)
    if (value === null) delete object[name]
    else if (value !== undefined) removeWithin(of, value)
  }
}

function removeWithin(type: Structural, value: Json): void {
  if (typeof value !== 'object' || value === null) return
  if (type.shape === 'struct') {
    if (isJsonObject(value)) removeNulls(type, value)
  } else if (type.shape === 'list') {
    if (Array.isArray(value)) eachPart(value, (element) => removeWithin(type.element, element))
  } else if (type.shape === 'map') {
    const map = value as JsonObject
    eachName(map, Object.keys, (name) => removeWithin(type.value, map[name]!)) // own key: one of its names
  }
}
