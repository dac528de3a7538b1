import { turnOfOthers } from '../api/slices.ts'

/** Pieces of work that begin in one turn: what each does before it waits for storage takes a millisecond or two. */
export const TOGETHER = 4

/** Begins work a few pieces a turn, so that requests which arrived meanwhile are served between. */
export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  turn: () => Promise<void> = turnOfOthers,
): Promise<void> {
  const begun: Promise<void>[] = []
  for (const item of items) {
    if (begun.length > 0 && begun.length % TOGETHER === 0) await turn()
    const done = work(item)
    done.catch(() => {}) // told below
    begun.push(done)
  }
  await Promise.all(begun)
}
