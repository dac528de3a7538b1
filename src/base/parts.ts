/**
 * Synchronous walks in parts. A walk over a large object stops after one part's worth of items. Other requests run, and
 * then the walk runs again from its start. Its loops continue at their item with their results, so a walk is written as
 * if it ran without a stop. Other state that a loop fills must be kept with `kept`. Any other change must be one that
 * the walk can repeat. Outside of such a walk these loops are plain loops.
 *
 * A part is counted in items, because the platform's clock does not advance while code runs.
 */
import { append } from './append.ts'
import type { Steps } from './slices.ts'
import { BESIDE, NeedsAnswer, spend, TURN } from './slices.ts'
import type { Place } from './walk-progress.ts'
import { PAUSE, Progress, current, within } from './walk-progress.ts'

/** Items of a part. */
export const PART = TURN

/** Runs a walk as steps (slices.ts): in parts if the caller yields to other requests, otherwise without a stop. */
export function* inParts<T>(run: () => T, part = PART): Steps<T> {
  let left = yield BESIDE
  if (left === false) return yield* answered(() => within(undefined, run))
  const progress = new Progress(part)
  for (;;) {
    progress.begin(typeof left === 'number' ? left : part)
    try {
      const result = within(progress, run)
      if (!progress.isStopped) return (progress.end(), result)
    } catch (error) {
      if (error instanceof NeedsAnswer) {
        yield error.answered
        continue
      }
      if (!progress.isStopped) throw error
    } finally {
      spend(progress.used)
    }
    left = yield BESIDE
  }
}

/** Runs a walk again for each answer that it needs. */
function* answered<T>(run: () => T): Steps<T> {
  for (;;)
    try {
      return run()
    } catch (error) {
      if (!(error instanceof NeedsAnswer)) throw error
      yield error.answered
    }
}

/**
 * Runs a walk that may `await`. Behind an `await` only code that runs in `resuming` continues in parts.
 * @param turn is awaited before each part, and may say how many items it has
 */
export async function inPartsAwaiting<T>(
  run: () => T | Promise<T>,
  turn: () => Promise<number | void>,
  part = PART,
): Promise<T> {
  const progress = new Progress(part)
  for (;;) {
    const items = await turn()
    progress.begin(items ?? part)
    try {
      const result = await within(progress, run)
      if (!progress.isStopped) return (progress.end(), result)
    } catch (error) {
      if (!progress.isStopped) throw error
    } finally {
      spend(progress.used)
    }
  }
}

/**
 * The share of an item's time for each element that is listed, copied or put into a set. Fewer than MUCH do not count.
 */
const LISTED = 1 / 16
const MUCH = 1024

function weightOf(made: unknown): number {
  const size = Array.isArray(made) ? made.length : made instanceof Set || made instanceof Map ? made.size : 0
  return size < MUCH ? 0 : size * LISTED
}

/** Called before an `await`. @returns a function that runs code behind the `await` as a part of the walk */
export function resuming(): <T>(run: () => T) => T {
  const progress = current
  return (run) => within(progress, run)
}

/**
 * Makes a value once and keeps it over all runs of the walk.
 * @param owner an object within the walked object; for a scalar nothing is kept
 * @param weight how many items of a part the making takes; default: by the size of the value
 */
export function kept<Value>(owner: unknown, make: () => Value, weight?: number): Value {
  if (current === undefined || typeof owner !== 'object' || owner === null) return make()
  const progress = current
  const place = progress.placeOf(owner)
  if (!place.isDone) {
    if (progress.isStopped) throw PAUSE
    const made = make()
    // `make` caught the stop, so its value is incomplete
    if (progress.isStopped) throw PAUSE
    place.found = made
    place.isDone = true
    // the next run does not reach the loops within `make`
    progress.advance(place)
    progress.charge(weight ?? weightOf(made))
  }
  return place.found as Value // the value that was made for this place
}

/** The weight of every item, or a function for each item if some take far longer than others. */
export type Weight<Item> = number | ((item: Item) => number)

/** What a loop does with the results of its visits: it ends at the first `false`, or collects them. */
type Results = 'end' | 'collect' | 'append'

/** @param owner the list of the items, or the object whose names they are */
function loop<Item>(
  progress: Progress,
  owner: object,
  itemsOf: () => readonly Item[],
  weight: Weight<Item>,
  visit: (item: Item, index: number) => unknown,
  results: Results,
): unknown[] {
  const place = progress.placeOf(owner)
  // the place belongs to this owner and this loop, so what it found and its items have these types
  const found = (place.found ??= results === 'end' ? NONE : []) as unknown[]
  if (place.isDone) return found
  const items = (place.items ??= listing(progress, place, itemsOf)) as readonly Item[]
  let { at } = place
  while (at < items.length) {
    const item = items[at]!
    if (place.counted === at) {
      progress.count(typeof weight === 'number' ? weight : weight(item), place)
      place.counted++
    }
    const made = visit(item, at)
    if (progress.isStopped) throw PAUSE
    if (results === 'collect') found.push(made)
    // the results of such a loop are lists
    else if (results === 'append') append(found, made as readonly unknown[])
    at = made === false && results === 'end' ? items.length : at + 1
    place.at = at
    place.counted = at
    progress.advance(place)
  }
  place.isDone = true
  return found
}

const NONE: readonly unknown[] = []

function listing<Item>(progress: Progress, place: Place, itemsOf: () => readonly Item[]): readonly Item[] {
  const outer = progress.listed
  progress.listed = place
  const items = itemsOf()
  progress.listed = outer
  progress.charge(weightOf(items))
  return items
}

/** Items that are sorted without a stop. Each is compared about ten times. */
const RUN = 1024

/** Items that are merged without a stop. Each is compared once. */
const MERGED = 256

/** Whether a loop of a walk in parts is listing its items. */
export const isListing = (): boolean => current?.listed !== undefined

/**
 * The items of a loop, sorted. Many items are sorted in runs, which are then merged in pairs.
 * @param list is called once
 * @param sort sorts a run, in place or into a new list
 */
export function sortedItems<Item, Sorted>(
  list: () => Item[],
  sort: (items: Item[]) => Sorted[],
  compare: (a: Sorted, b: Sorted) => number,
): Sorted[] {
  const owner = current?.listed
  if (owner === undefined) return sort(list())
  const items = kept(owner, list)
  if (items.length <= RUN) return sort(items)
  const slices = kept(owner, () =>
    Array.from({ length: Math.ceil(items.length / RUN) }, (_, at) => items.slice(at * RUN, (at + 1) * RUN)),
  )
  let runs = mapParts(slices, sort, RUN)
  while (runs.length > 1) {
    const whole = runs
    const pairs = kept(whole, () => whole.flatMap((run, at) => (at % 2 === 0 ? [[run, whole[at + 1] ?? []]] : [])))
    runs = mapParts(pairs, (pair) => merged(pair, compare))
  }
  return runs[0] ?? []
}

/** Merges two sorted runs. */
function merged<Item>(pair: Item[][], compare: (a: Item, b: Item) => number): Item[] {
  const [a = [], b = []] = pair
  if (b.length === 0) return a
  const so = kept(pair, () => ({ all: [] as Item[], ofA: 0, ofB: 0 }))
  forAsLong(() => {
    const { all } = so
    const end = Math.min(all.length + MERGED, a.length + b.length)
    while (all.length < end) {
      const isOfA = so.ofB === b.length || (so.ofA < a.length && compare(a[so.ofA]!, b[so.ofB]!) <= 0)
      all.push(isOfA ? a[so.ofA++]! : b[so.ofB++]!)
    }
    return end < a.length + b.length && MERGED / 4
  })
  return so.all
}

/** `items.map(visit)`, in parts. */
export function mapParts<Item, Result>(
  items: readonly Item[],
  visit: (item: Item, index: number) => Result,
  weight: Weight<Item> = 1,
): Result[] {
  if (current === undefined || items.length === 0) return items.map(visit)
  return loop(current, items, () => items, weight, visit, 'collect') as Result[] // it collects only results
}

/** `items.flatMap(visit)`, in parts. */
export function flatMapParts<Item, Result>(
  items: readonly Item[],
  visit: (item: Item, index: number) => readonly Result[],
  weight = 1,
): Result[] {
  if (current === undefined || items.length === 0) return items.flatMap(visit)
  return loop(current, items, () => items, weight, visit, 'append') as Result[] // it appends only results
}

/** `items.forEach(visit)`, in parts. It ends if `visit` returns false. */
export function eachPart<Item>(
  items: readonly Item[],
  visit: (item: Item, index: number) => boolean | void,
  weight: Weight<Item> = 1,
): void {
  if (current !== undefined) loop(current, items, () => items, weight, visit, 'end')
  else for (let at = 0; at < items.length; at++) if (visit(items[at]!, at) === false) return
}

/** `items.every(visit)`, in parts. */
export function everyPart<Item>(items: readonly Item[], visit: (item: Item, index: number) => boolean): boolean {
  if (current === undefined || items.length === 0) return items.every(visit)
  const all = kept(items, () => ({ isSo: true }))
  eachPart(items, (item, index) => (all.isSo = visit(item, index)))
  return all.isSo
}

/** `items.some(visit)`, in parts. */
export const somePart = <Item>(items: readonly Item[], visit: (item: Item, index: number) => boolean): boolean =>
  !everyPart(items, (item, index) => !visit(item, index))

/**
 * Visits the names of an object, in parts.
 * @param namesOf its own names, in any order
 * @param visit ends it with false
 */
export function eachName<Owner extends object>(
  owner: Owner,
  namesOf: (owner: Owner) => readonly string[],
  visit: (name: string) => boolean | void,
  weight = 1,
): void {
  if (current !== undefined) loop(current, owner, () => namesOf(owner), weight, visit, 'end')
  else for (const name of namesOf(owner)) if (visit(name) === false) return
}

/** Whether `visit` returns true for each name. */
export function everyName<Owner extends object>(owner: Owner, visit: (name: string) => boolean): boolean {
  if (current === undefined) return Object.keys(owner).every(visit)
  const all = kept(owner, () => ({ isSo: true }))
  eachName(owner, Object.keys, (name) => (all.isSo = visit(name)))
  return all.isSo
}

/** The results of `visit` for each name. */
export function mapNames<Owner extends object, Result>(
  owner: Owner,
  namesOf: (owner: Owner) => readonly string[],
  visit: (name: string) => Result,
  weight = 1,
): Result[] {
  if (current === undefined) return namesOf(owner).map(visit)
  return loop(current, owner, () => namesOf(owner), weight, visit, 'collect') as Result[] // it collects only results
}

/** Runs code without loops that could stop as a part of its own. @param owner the object that the code walks over */
export function apart<Result>(owner: object, run: () => Result): Result {
  if (current === undefined) return run()
  return loop(current, owner, () => ONE, PART, run, 'collect')[0] as Result // the loop collects only this result
}

const ONE = [1]

/** Runs code without a stop. For code that counts while it runs: a second run would count again. */
export const undivided = <Result>(run: () => Result): Result => within(undefined, run)

/**
 * Calls `goOn` until it returns false. `goOn` must keep its state with `kept`, and has no loops in parts itself.
 * @param goOn may return how many items it has visited
 */
export function forAsLong(goOn: () => boolean | number): void {
  const progress = current
  for (let more = goOn(); more !== false; more = goOn()) progress?.count(Number(more))
}

/** Whether the code runs in a walk in parts. Code can skip steps that pay off only for large objects. */
export const goesInParts = (): boolean => current !== undefined
