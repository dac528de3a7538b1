import { flatMapParts, inPartsAwaiting, PART } from '../api/parts.ts'
import { SLICE, turnOfOthers } from '../api/slices.ts'

/** Pieces of work that begin in one turn: what each does before it waits for storage takes a millisecond or two. */
export const TOGETHER = 4
/**
 * Pieces of work that run side by side. Storage commits writes that come together in one step and answers all at once,
 * and each piece then goes on in the same turn.
 */
export const MOST = 16

/**
 * Begins a few pieces of work a turn, and limits how many run side by side, so that requests are served between them.
 * Throws the first failure when all are done.
 */
export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  turn: () => Promise<void> = turnOfOthers,
): Promise<void> {
  /** Bound: MOST. */
  const underWay = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  let begun = 0
  for (const item of items) {
    if (begun > 0 && begun % TOGETHER === 0) await turn()
    while (underWay.size >= MOST) await Promise.race(underWay)
    begun++
    const done: Promise<void> = work(item)
      .then(
        () => {},
        (error: unknown) => void (failure ??= { error }),
      )
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  await Promise.all(underWay)
  if (failure !== undefined) throw failure.error
}

/** One item after the other, a slice a turn: for work where most items take little time. */
export async function* eachInTurns<Item>(
  items: readonly Item[],
  turn: () => Promise<void> = turnOfOthers,
): AsyncGenerator<Item> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % SLICE === 0) await turn()
    yield item
  }
}

/** The weight of an item of a plan in its loops (api/parts.ts): so many of them are a slice. */
export const PLANNED = PART / SLICE

/**
 * Plans over many objects in parts. A plan is written as if it ran at once: its loops are those of api/parts.ts.
 * @param items of few a plan is made at once
 */
export async function planned<Plan>(
  items: { readonly length: number },
  plan: () => Plan,
  turn: () => Promise<void> = turnOfOthers,
): Promise<Plan> {
  return items.length <= SLICE ? plan() : inPartsAwaiting(plan, turn)
}

/** `items.filter(isOne)` of many, a slice a turn. */
export const filtered = <Item>(
  items: readonly Item[],
  isOne: (item: Item) => boolean,
  turn: () => Promise<void> = turnOfOthers,
): Promise<readonly Item[]> =>
  planned(items, () => flatMapParts(items, (item) => (isOne(item) ? [item] : []), PLANNED), turn)
