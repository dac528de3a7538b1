/** Compares elements of lists in a strategic merge patch, and sorts them. */
import { Pace } from '../base/pace.ts'
import type { Steps } from '../base/slices.ts'
import { plainError } from '../api/status.ts'
import { ownValue } from '../base/own.ts'
import { NumberLiteral } from '../json/numbers.ts'
import type { JsonTree } from '../json/json.ts'
import { goValue } from '../go/value.ts'
import { badArgument, isDeletion, isPatchMap } from './strategic-form.ts'
import type { PatchMap } from './strategic-form.ts'

export function sameKey(a: JsonTree, b: JsonTree, mergeKey: string): boolean {
  if (mergeKey === '') return identical(a, b)
  return identical(keyOf(a, mergeKey), keyOf(b, mergeKey))
}

function keyOf(item: JsonTree, mergeKey: string): JsonTree {
  if (!isPatchMap(item)) throw badArgument('map[string]interface {}', item)
  const key = ownValue(item, mergeKey)
  if (key === undefined) throw noMergeKey(item, mergeKey)
  return key
}

export const noMergeKey = (item: PatchMap, mergeKey: string) =>
  plainError(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`)

/**
 * Go's ==: of the same type and equal. A NumberLiteral, a number that is not written as a whole one, is of another
 * type than a whole number.
 */
export function identical(a: JsonTree, b: JsonTree): boolean {
  if (a instanceof NumberLiteral && b instanceof NumberLiteral) return Number(a.text) === Number(b.text)
  return a === b
}

/** The key under which a Map finds a value that is `identical`. Lists and objects are only identical to themselves. */
export const identityOf = (value: JsonTree): unknown =>
  value instanceof NumberLiteral ? `number ${Number(value.text)}` : typeof value === 'string' ? `text ${value}` : value

/** The place of the first element with each value, so that a list is not searched once for each element of another. */
class Places {
  private readonly byIdentity = new Map<unknown, number>()

  note(value: JsonTree | undefined, at: number): void {
    if (value === undefined) return
    const identity = identityOf(value)
    if (!this.byIdentity.has(identity)) this.byIdentity.set(identity, at)
  }

  /** -1 where there is none. */
  of(value: JsonTree): number {
    return this.byIdentity.get(identityOf(value)) ?? -1
  }
}

export function* placesOf(values: readonly JsonTree[], pace: Pace): Steps<Places> {
  const places = new Places()
  for (const [at, value] of values.entries()) {
    if (pace.isOver()) yield
    places.note(value, at)
  }
  return places
}

/** Elements of a list by their merge key. */
class KeyedPlaces extends Places {
  constructor(
    private readonly mergeKey: string,
    /** The index of the first element that is no map; -1 where there is none. */
    private readonly broken: number,
  ) {
    super()
  }

  /** @throws StatusError 500 where the search reaches an element that is no map */
  override of(key: JsonTree): number {
    const place = super.of(key)
    if (place < 0 && this.broken >= 0) throw plainError(`value for key ${this.broken} is not a map`)
    return place
  }

  noteElement(item: PatchMap, at: number): void {
    this.note(ownValue(item, this.mergeKey), at)
  }
}

export function* keyedPlaces(list: readonly JsonTree[], mergeKey: string, pace: Pace): Steps<KeyedPlaces> {
  const broken = list.findIndex((item) => !isPatchMap(item))
  const places = new KeyedPlaces(mergeKey, broken)
  for (const [at, item] of list.entries()) {
    if (at === broken) break
    if (pace.isOver()) yield
    places.noteElement(item as PatchMap, at) // the elements before `broken` are maps
  }
  return places
}

/** The elements that an order contains, and the other elements. */
export function* partitioned(
  items: readonly JsonTree[],
  order: readonly JsonTree[],
  mergeKey: string,
  pace: Pace,
): Steps<[known: JsonTree[], others: JsonTree[]]> {
  const known: JsonTree[] = []
  const others: JsonTree[] = []
  if (items.length === 0) return [known, others]
  const keyed = mergeKey !== '' ? items.map((item) => keyOf(item, mergeKey)) : items
  const places = mergeKey === '' ? yield* placesOf(order, pace) : yield* keyedPlaces(order, mergeKey, pace)
  for (const [at, item] of items.entries()) {
    if (pace.isOver()) yield
    const isKnown = places.of(keyed[at]!) >= 0
    ;(isKnown ? known : others).push(item)
  }
  return [known, others]
}

/** How elements of a list are compared. */
interface Order {
  readonly mergeKey: string
  /** The elements are maps. */
  readonly isMaps: boolean
  readonly pace: Pace
}

/**
 * The elements of the patch in their order. The other elements stay between the neighbours that they have in the live
 * list.
 */
export function* inOrder(
  known: readonly JsonTree[],
  others: readonly JsonTree[],
  order: readonly JsonTree[],
  live: readonly JsonTree[],
  by: Order,
): Steps<JsonTree[]> {
  const first = yield* normalized(others, live, by)
  return yield* interleaved(first, yield* normalized(known, order, by), live, by)
}

/** Sorted by an order; deletions come last. */
function* normalized(items: readonly JsonTree[], order: readonly JsonTree[], by: Order): Steps<JsonTree[]> {
  if (!by.isMaps) return yield* sortedBy(items, order, by)
  for (const list of [items, order])
    for (const item of list) {
      if (by.pace.isOver()) yield
      keyOf(item, by.mergeKey)
    }
  const kept = items.filter((item) => !isDeletion(item))
  return [...(yield* sortedBy(kept, order, by)), ...items.filter(isDeletion)]
}

/**
 * Insertion sort, because Go sorts short lists with it. It shows where the order does not contain an item: Go takes
 * the item for less than its left neighbour, whatever the neighbour is, so the item moves to the front.
 */
function* sortedBy(items: readonly JsonTree[], order: readonly JsonTree[], by: Order): Steps<JsonTree[]> {
  const places = yield* placesIn(order, by)
  const known: { item: JsonTree; place: number }[] = []
  const unknown: { item: JsonTree; before: number }[] = []
  let least = Infinity
  for (const item of items) {
    if (by.pace.isOver()) yield
    const place = places(item)
    if (place < 0) unknown.push({ item, before: least })
    else {
      known.push({ item, place })
      least = Math.min(least, place)
    }
  }
  known.sort((a, b) => a.place - b.place)
  const sorted: JsonTree[] = []
  let next = 0
  for (const { item, before } of unknown.reverse()) {
    if (by.pace.isOver()) yield
    while (next < known.length && known[next]!.place < before) sorted.push(known[next++]!.item)
    sorted.push(item)
  }
  while (next < known.length) sorted.push(known[next++]!.item)
  return sorted
}

/** The index in the list for each item of the same value, or of the same merge key; -1 where the list has none. */
function* placesIn(list: readonly JsonTree[], { mergeKey, isMaps, pace }: Order): Steps<(item: JsonTree) => number> {
  const valueOf = (of: JsonTree): JsonTree => (isMaps ? ((isPatchMap(of) ? ownValue(of, mergeKey) : null) ?? null) : of)
  const places = yield* placesOf(list.map(valueOf), pace)
  return (item) => places.of(valueOf(item))
}

/** Places each live element before the elements of the patch that followed it in the live list. */
function* interleaved(
  others: readonly JsonTree[],
  known: readonly JsonTree[],
  live: readonly JsonTree[],
  by: Order,
): Steps<JsonTree[]> {
  const places = yield* placesIn(live, by)
  const result: JsonTree[] = []
  let [o, k] = [0, 0]
  while (o < others.length && k < known.length) {
    if (by.pace.isOver()) yield
    const before = places(others[o]!)
    const after = places(known[k]!)
    if (before >= 0 && after >= 0 && before < after) result.push(others[o++]!)
    else result.push(known[k++]!)
  }
  return [...result, ...known.slice(k), ...others.slice(o)]
}
