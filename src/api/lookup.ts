/**
 * Lists of a request are as long as the client likes: what searches one within a loop over another is quadratic. These
 * look once at each element. `test/check/nested-lookups.ts` finds the searches that should be one of them.
 */
import { eachPart, kept } from './parts.ts'

/** The places of the elements that equal an earlier one. */
export function repeatsIn<Item>(items: readonly Item[]): ReadonlySet<number> {
  const repeats = new Set<number>()
  const seen = new Set<Item>()
  for (const [index, item] of items.entries()) {
    if (seen.has(item)) repeats.add(index)
    seen.add(item)
  }
  return repeats
}

/** The same in parts. @param items the same list each time that the walk runs */
export function repeatsInParts<Item>(items: readonly Item[]): ReadonlySet<number> {
  const { repeats, seen } = kept(items, () => ({ repeats: new Set<number>(), seen: new Set<Item>() }))
  eachPart(items, (item, index) => {
    if (seen.has(item)) repeats.add(index)
    seen.add(item)
  })
  return repeats
}

/** By its key, the first element that has it. */
export function firstBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, Item> {
  const found = new Map<Key, Item>()
  for (const item of items) {
    const key = keyOf(item)
    if (!found.has(key)) found.set(key, item)
  }
  return found
}

/** By its key, the last element that has it. */
export const lastBy = <Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): ReadonlyMap<Key, Item> =>
  new Map(items.map((item) => [keyOf(item), item]))
