/** Sorts the names of large maps in parts (base/parts.ts), before an encoder writes the maps. */
import type { Json, JsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { eachName, eachPart, sortedItems } from '../../base/parts.ts'

/** The sorted names of each map. */
export type Orders = Map<JsonObject, readonly string[]>

/** The order of names in a format. */
export interface KeyOrder {
  /** May sort in place. */
  readonly sort: (names: string[]) => string[]
  readonly compare: (a: string, b: string) => number
}

/** Sorts the names of all maps in a value. Runs as a walk (base/parts.ts). */
export function noteOrders(value: Json, orders: Orders, order: KeyOrder): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) return eachPart(value, (element) => noteOrders(element, orders, order))
  const inOrder = (map: JsonObject): readonly string[] => {
    const sorted = sortedItems(() => namesOf(map), order.sort, order.compare)
    orders.set(map, sorted)
    return sorted
  }
  eachName(value, inOrder, (name) => noteOrders(ownValue(value, name)!, orders, order))
}

/** The names of a map, unsorted, without undefined members. */
export const namesOf = (map: JsonObject): string[] => Object.keys(map).filter((name) => map[name] !== undefined)
