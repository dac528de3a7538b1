/** Estimates how many characters defaults may add to a custom resource. */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'

/** Characters of the shortest item of a list: `{},`. */
const EMPTY_ITEM = 3

/**
 * `once` counts the characters that defaults add outside of lists and maps. `perUnit` is the most that they add for
 * each character of an item of a list or a map.
 */
export function growthByDefaults(schema: JsonObject): { readonly once: number; readonly perUnit: number } {
  const most = { added: 0 }
  const once = addedTo(schema, false, most)
  return { once, perUnit: most.added / EMPTY_ITEM }
}

/** Characters that defaults add to an empty object. @param isRepeated the object is inside of a list or a map */
function addedTo(schema: Json | undefined, isRepeated: boolean, most: { added: number }): number {
  if (!isJsonObject(schema)) return 0
  const { items, additionalProperties: values, properties } = schema
  addedTo(items, true, most)
  addedTo(values, true, most)
  if (!isJsonObject(properties)) return 0
  let added = 0
  // a client may send an empty object for each property, so all of them count, which is a little too much
  for (const [name, below] of Object.entries(properties)) {
    const ofMember = addedTo(below, isRepeated, most)
    added += ofMember
    if (isJsonObject(below) && below['default'] !== undefined)
      added += name.length + JSON.stringify(below['default']).length
  }
  if (isRepeated) most.added = Math.max(most.added, added)
  return added
}
