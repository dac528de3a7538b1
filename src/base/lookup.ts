/**
 * Lookups that visit each element of a list once. Clients choose the length of lists in requests, so a search in one
 * list within a loop over another would be quadratic. `test/check/nested-lookups.ts` finds such searches.
 */
import { eachPart, kept } from './parts.ts'

/** The indexes of the elements that equal an earlier one. */
export function repeatsIn<Item>(items: readonly Item[]): ReadonlySet<number> {
  const repeats = new Set<number>()
  const seen = new Set<Item>()
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) repeats.add(index)
    seen.add(item)
  }
  return repeats
}

/** Like repeatsIn, in parts (parts.ts). @param items the same list in each run of the walk */
export function repeatsInParts<Item>(items: readonly Item[]): ReadonlySet<number> {
  const { repeats, seen } = kept(items, () => ({ repeats: new Set<number>(), seen: new Set<Item>() }))
  eachPart(items, (item, index) => {
    if (seen.has(item)) repeats.add(index)
    seen.add(item)
  })
  return repeats
}

/**
 * Adds an item to the list of a key. A copy of the list for each item would take the square of their number, which
 * `test/check/copied-lists.ts` finds.
 */
export function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/** Maps each key to the first element that has it. */
export function firstBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, Item> {
  const found = new Map<Key, Item>()
  for (const item of items) {
    const key = keyOf(item)
    if (!found.has(key)) found.set(key, item)
  }
  return found
}

/** Maps each key to the last element that has it. */
export const lastBy = <Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, Item> =>
  new Map(items.map((item) => [keyOf(item), item]))
