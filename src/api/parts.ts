/**
 * Work without an `await` in parts: a walk over a large object stops when it has seen a part's worth of items, others
 * have their turn, and it runs again from its start. Its loops then go on where they were, with what they had found, so
 * that a walk is written as if it ran at once. What a loop fills beside its answer is kept (`kept`); a walk changes
 * nothing else that it would not change again. Without a large object around it a loop is a loop.
 *
 * Items are counted, for the platform's clock stands still while code runs.
 */
import { append } from './append.ts'
import type { Steps } from './slices.ts'
import type { Place } from './walk-progress.ts'
import { PAUSE, Progress, current, within } from './walk-progress.ts'

/** Items of a part: the dearest of them take a hundredth of a millisecond. */
export const PART = 4096

/** A walk as steps: in parts where turns are taken, else at once. */
export function* inParts<T>(run: () => T, part = PART): Steps<T> {
  if (!(yield)) return within(undefined, run)
  const progress = new Progress(part)
  for (;;) {
    progress.begin()
    try {
      const result = within(progress, run)
      if (!progress.isStopped) return (progress.end(), result)
    } catch (error) {
      if (!progress.isStopped) throw error
    }
    yield
  }
}

/**
 * The same for what may have to wait in between: only what runs in `resuming` goes on in parts behind an `await`.
 * @param turn is taken before each part
 */
export async function inPartsAwaiting<T>(
  run: () => T | Promise<T>,
  turn: () => Promise<void>,
  part = PART,
): Promise<T> {
  const progress = new Progress(part)
  for (;;) {
    await turn()
    progress.begin()
    try {
      const result = await within(progress, run)
      if (!progress.isStopped) return (progress.end(), result)
    } catch (error) {
      if (!progress.isStopped) throw error
    }
  }
}

/** What is listed, copied or put into a set at once takes a sixteenth of an item's time, where it is much. */
const LISTED = 1 / 16
const MUCH = 1024

function weightOf(made: unknown): number {
  const size = Array.isArray(made) ? made.length : made instanceof Set || made instanceof Map ? made.size : 0
  return size < MUCH ? 0 : size * LISTED
}

/** Called before an `await`: what runs the walk behind it as it would have run before. */
export function resuming(): <T>(run: () => T) => T {
  const progress = current
  return (run) => within(progress, run)
}

/**
 * A value that stays the same however often the walk that runs is stopped.
 * @param owner a part of what is walked over; of a value without parts nothing need be kept
 * @param weight items of a part that it took to make it; default: by its size
 */
export function kept<Value>(owner: unknown, make: () => Value, weight?: number): Value {
  if (current === undefined || typeof owner !== 'object' || owner === null) return make()
  const progress = current
  const place = progress.placeOf(owner)
  const { found } = place
  if (found.length === 0) {
    if (progress.isStopped) throw PAUSE
    const made = make()
    // what caught the stop knows nothing
    if (progress.isStopped) throw PAUSE
    found.push(made)
    // the next run does not come to what it took to make it
    progress.advance(place)
    progress.charge(weight ?? weightOf(made))
  }
  return found[0] as Value // what was made for this place
}

/** Of an item; or of each, where some take far longer than others. */
export type Weight<Item> = number | ((item: Item) => number)

/** @param owner what the items belong to: a list, or the object whose names they are */
function loop<Item>(
  progress: Progress,
  owner: object,
  itemsOf: () => readonly Item[],
  weight: Weight<Item>,
  visit: (item: Item, index: number, found: unknown[]) => boolean | void,
): unknown[] {
  const place = progress.placeOf(owner)
  const { found } = place
  if (place.isDone) return found
  // of this very owner, at this very place
  const items = (place.items ??= listing(progress, place, itemsOf)) as readonly Item[]
  while (place.at < items.length) {
    if (place.counted === place.at) {
      progress.count(typeof weight === 'number' ? weight : weight(items[place.at]!), place)
      place.counted++
    }
    const goesOn = visit(items[place.at]!, place.at, found) !== false
    if (progress.isStopped) throw PAUSE
    place.at = goesOn ? place.at + 1 : items.length
    place.counted = place.at
    progress.advance(place)
  }
  place.isDone = true
  return found
}

function listing<Item>(progress: Progress, place: Place, itemsOf: () => readonly Item[]): readonly Item[] {
  const outer = progress.listed
  progress.listed = place
  const items = itemsOf()
  progress.listed = outer
  progress.charge(weightOf(items))
  return items
}

/** Items that are sorted at once: each is compared some ten times. */
const RUN = 1024

/** Items of two runs that become one at once: each is compared once. */
const MERGED = 256

/** Whether the items of a loop are being listed that goes in parts. */
export const isListing = (): boolean => current?.listed !== undefined

/**
 * The items of a loop in order; many of them are sorted in runs, of which two at a time become one.
 * @param list is called once
 * @param sort a run, in place or anew
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

/** Two runs as one. */
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

/** `items.map(visit)` */
export function mapParts<Item, Result>(
  items: readonly Item[],
  visit: (item: Item, index: number) => Result,
  weight: Weight<Item> = 1,
): Result[] {
  if (current === undefined || items.length === 0) return items.map(visit)
  const add = (item: Item, index: number, found: unknown[]): void => void found.push(visit(item, index))
  return loop(current, items, () => items, weight, add) as Result[] // what was pushed
}

/** `items.flatMap(visit)` */
export function flatMapParts<Item, Result>(
  items: readonly Item[],
  visit: (item: Item, index: number) => readonly Result[],
  weight = 1,
): Result[] {
  if (current === undefined || items.length === 0) return items.flatMap(visit)
  const add = (item: Item, index: number, found: unknown[]): void => append(found, visit(item, index))
  return loop(current, items, () => items, weight, add) as Result[] // what was appended
}

/** `items.forEach(visit)`; `visit` ends it with false */
export function eachPart<Item>(
  items: readonly Item[],
  visit: (item: Item, index: number) => boolean | void,
  weight: Weight<Item> = 1,
): void {
  if (current !== undefined) loop(current, items, () => items, weight, visit)
  else for (let at = 0; at < items.length; at++) if (visit(items[at]!, at) === false) return
}

/** `items.every(visit)` */
export function everyPart<Item>(items: readonly Item[], visit: (item: Item, index: number) => boolean): boolean {
  if (current === undefined || items.length === 0) return items.every(visit)
  const all = kept(items, () => ({ isSo: true }))
  eachPart(items, (item, index) => (all.isSo = visit(item, index)))
  return all.isSo
}

/** `items.some(visit)` */
export const somePart = <Item>(items: readonly Item[], visit: (item: Item, index: number) => boolean): boolean =>
  !everyPart(items, (item, index) => !visit(item, index))

/** @param namesOf its own names, in some order @param visit ends it with false */
export function eachName<Owner extends object>(
  owner: Owner,
  namesOf: (owner: Owner) => readonly string[],
  visit: (name: string) => boolean | void,
  weight = 1,
): void {
  if (current !== undefined) loop(current, owner, () => namesOf(owner), weight, visit)
  else for (const name of namesOf(owner)) if (visit(name) === false) return
}

/** Whether it answers true for each of them. */
export function everyName<Owner extends object>(owner: Owner, visit: (name: string) => boolean): boolean {
  if (current === undefined) return Object.keys(owner).every(visit)
  const all = kept(owner, () => ({ isSo: true }))
  eachName(owner, Object.keys, (name) => (all.isSo = visit(name)))
  return all.isSo
}

/** What `visit` answers for each of them. */
export function mapNames<Owner extends object, Result>(
  owner: Owner,
  namesOf: (owner: Owner) => readonly string[],
  visit: (name: string) => Result,
  weight = 1,
): Result[] {
  if (current === undefined) return namesOf(owner).map(visit)
  const add = (name: string, _: number, found: unknown[]): void => void found.push(visit(name))
  return loop(current, owner, () => namesOf(owner), weight, add) as Result[] // what was pushed
}

/** What has no loops to be stopped in is a part of its own. @param owner what it goes over */
export function apart<Result>(owner: object, run: () => Result): Result {
  if (current === undefined) return run()
  return loop(
    current,
    owner,
    () => ONE,
    PART,
    (_, __, found) => void found.push(run()),
  )[0] as Result // what was pushed
}

const ONE = [1]

/** Without a stop: for what counts as it goes, and would count again what runs again. */
export const undivided = <Result>(run: () => Result): Result => within(undefined, run)

/**
 * Calls it until it answers false. What it goes on with is kept, and it has no loops of its own.
 * @param goOn may answer how many items it has seen
 */
export function forAsLong(goOn: () => boolean | number): void {
  const progress = current
  for (let more = goOn(); more !== false; more = goOn()) progress?.count(Number(more))
}

/** Whether what runs may be stopped: what pays only for much need not be done otherwise. */
export const goesInParts = (): boolean => current !== undefined
