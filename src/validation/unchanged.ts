/**
 * Whether an update left a value as it was (ratcheting), as kube-apiserver decides it: by the schema. Members correlate
 * where the schema declares them, items of a list by their keys where the list has keys. What correlates with nothing
 * counts as changed, and all around it, even where the texts are the same.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { stringifySorted } from '../json/write-json.ts'
import { valuesEqual } from '../json/value-order.ts'

export function isUnchanged(schema: JsonObject, value: Json, old: Json): boolean {
  if (Array.isArray(value)) return Array.isArray(old) && isSameList(schema, value, old)
  if (!isJsonObject(value)) return valuesEqual(value, old)
  if (!isJsonObject(old)) return false
  let count = 0
  // own key: no object inherits enumerable names
  for (const name in value) {
    const below = memberSchema(schema, name)
    const [now, before] = [ownValue(value, name), ownValue(old, name)]
    if (below === undefined || now === undefined || before === undefined) return false
    if (!isUnchanged(below, now, before)) return false
    count++
  }
  return count === Object.keys(old).length
}

function isSameList(schema: JsonObject, value: readonly Json[], old: readonly Json[]): boolean {
  if (value.length !== old.length) return false
  const keys = keysOfItems(schema)
  const { items } = schema
  if (keys === undefined || !isJsonObject(items)) return valuesEqual(value as Json[], old as Json[])
  const byKey = new Map<string, Json>()
  for (const item of old) noteItem(byKey, keys, item)
  return value.every((item) => {
    const key = keyOfItem(keys, item)
    const before = key === undefined ? undefined : byKey.get(key)
    return before !== undefined && isUnchanged(items, item, before)
  })
}

function memberSchema({ properties, additionalProperties }: JsonObject, name: string): JsonObject | undefined {
  const declared = isJsonObject(properties) ? ownValue(properties, name) : undefined
  if (isJsonObject(declared)) return declared
  return isJsonObject(additionalProperties) ? additionalProperties : undefined
}

/** The names of the keys by which items correlate; undefined: they do not. */
export function keysOfItems(schema: JsonObject): readonly string[] | undefined {
  const keys = schema['x-kubernetes-list-map-keys']
  return schema['x-kubernetes-list-type'] === 'map' && Array.isArray(keys) ? keys.map(String) : undefined
}

/** The first item of a key counts. */
export function noteItem<Item extends Json>(byKey: Map<string, Item>, keys: readonly string[], item: Item): void {
  const key = keyOfItem(keys, item)
  if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
}

/** @returns undefined where a key is absent, or no scalar: then the item correlates with none */
export function keyOfItem(keys: readonly string[], item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined
  const values: Json[] = []
  for (const name of keys) {
    const value = ownValue(item, name)
    if (value === undefined || value === null || typeof value === 'object') return undefined
    values.push(value)
  }
  return stringifySorted(values)
}
