/** The names of large maps, sorted in parts before they are written (api/parts.ts). */
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { eachName, eachPart, sortedItems } from '../api/parts.ts'

/** Of each map its names in order. */
export type Orders = Map<JsonObject, readonly string[]>

/** The order of names in a format. */
export interface KeyOrder {
  /** May sort in place. */
  readonly sort: (names: string[]) => string[]
  readonly compare: (a: string, b: string) => number
}

/** A walk over the value. */
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

/** In no order, without members that are undefined. */
export const namesOf = (map: JsonObject): string[] => Object.keys(map).filter((name) => map[name] !== undefined)
