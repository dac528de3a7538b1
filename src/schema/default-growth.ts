/** Estimates how many characters defaults may add to a custom resource. */
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { mapNames } from '../base/parts.ts'

/** Characters of the shortest item of a list: `{},`. */
const EMPTY_ITEM = 3

/**
 * `once` counts the characters that defaults add outside of lists and maps. `perUnit` is the most that they add for
 * each character of an item of a list or a map.
 */
export interface DefaultGrowth {
  readonly once: number
  readonly perUnit: number
}

/** A walk in parts over a long schema, if it runs as one. */
export function growthByDefaults(schema: JsonObject): DefaultGrowth {
  const { added, repeated } = addedTo(schema)
  return { once: added, perUnit: repeated / EMPTY_ITEM }
}

interface Added {
  /** Characters that defaults add to an empty object. */
  readonly added: number
  /** The most that they add to an object inside of one of its lists or maps. */
  readonly repeated: number
}

const NOTHING: Added = { added: 0, repeated: 0 }

function addedTo(schema: Json | undefined): Added {
  if (!isJsonObject(schema)) return NOTHING
  const { items, additionalProperties: values, properties } = schema
  const ofItems = addedTo(items)
  const ofValues = addedTo(values)
  // of objects in a list only the most counts, and that of all their members is the most
  let repeated = Math.max(ofItems.added, ofItems.repeated, ofValues.added, ofValues.repeated)
  if (!isJsonObject(properties)) return { added: 0, repeated }
  let added = 0
  // a client may send an empty object for each property, so all of them count, which is a little too much
  for (const member of mapNames(properties, Object.keys, (name) => addedByMember(name, properties[name]))) {
    added += member.added
    repeated = Math.max(repeated, member.repeated)
  }
  return { added, repeated }
}

function addedByMember(name: string, schema: Json | undefined): Added {
  const below = addedTo(schema)
  if (!isJsonObject(schema) || schema['default'] === undefined) return below
  return { ...below, added: below.added + name.length + JSON.stringify(schema['default']).length }
}
