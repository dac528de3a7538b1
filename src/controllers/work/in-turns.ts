import { flatMapParts, inPartsAwaiting, PART } from '../../base/parts.ts'
import { SLICE, turnOfOthers } from '../../base/slices.ts'
import type { WorkBudget } from '../../storage/shards/turn-budget.ts'

/** Work items that run concurrently. Storage commits concurrent writes in one step. */
export const MOST = 16

/**
 * Begins work items while the turn has time left, and limits how many run concurrently, so that the isolate serves
 * requests between them. Throws the first failure when all items have ended.
 */
export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  budget: WorkBudget,
): Promise<void> {
  const first: unknown[] = []
  const one = async (item: Item): Promise<void> => {
    try {
      await work(item)
    } catch (error) {
      if (first.length === 0) first.push(error)
    }
  }
  await inTurnsUntil(new Promise(() => {}), items, one, budget)
  if (first.length > 0) throw first[0]
}

interface Ended<Item> {
  readonly notBegun: readonly Item[]
  /** Resolves when the items that have begun are over. Settles: with them. */
  readonly rest: Promise<unknown>
}

/**
 * As inTurns, up to the time when it ends early and leaves what it has begun.
 * @param work does not throw
 * @param overdue resolves at that time
 */
export async function inTurnsUntil<Item>(
  overdue: Promise<void>,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  budget: WorkBudget,
): Promise<Ended<Item>> {
  /** Bound: MOST. */
  const underWay = new Set<Promise<void>>()
  let isOver = false
  const end = overdue.then(() => void (isOver = true))
  let begun = 0
  for (const item of items) {
    while (underWay.size >= MOST && !isOver) await Promise.race([...underWay, end])
    await budget.room()
    if (isOver) break
    begun++
    const done: Promise<void> = work(item).finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const rest = Promise.all(underWay)
  await Promise.race([rest, end])
  return { notBegun: items.slice(begun), rest }
}

/** Yields one item after the other, a slice a turn: for work where most items take little time. */
export async function* eachInTurns<Item>(
  items: readonly Item[],
  turn: () => Promise<void> = turnOfOthers,
): AsyncGenerator<Item> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % SLICE === 0) await turn()
    yield item
  }
}

/** The weight of one item in the loops of a plan (base/parts.ts). */
export const PLANNED = PART / SLICE

/**
 * Computes a plan over many objects in parts. Its code looks like code that runs in one go, but its loops are those of
 * base/parts.ts.
 * @param items the objects: a plan over one slice runs in one go
 */
export async function planned<Plan>(
  items: { readonly length: number },
  plan: () => Plan,
  turn: () => Promise<void> = turnOfOthers,
): Promise<Plan> {
  return items.length <= SLICE ? plan() : inPartsAwaiting(plan, turn)
}

/** `items.filter(isOne)` for many items, a slice a turn. */
export const filtered = <Item>(
  items: readonly Item[],
  isOne: (item: Item) => boolean,
  turn: () => Promise<void> = turnOfOthers,
): Promise<readonly Item[]> =>
  planned(items, () => flatMapParts(items, (item) => (isOne(item) ? [item] : []), PLANNED), turn)
