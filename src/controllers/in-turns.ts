import { turnOfOthers } from '../api/slices.ts'

/** Begins each piece of work in a turn of its own, so that requests which arrived meanwhile are served before it. */
export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  turn: () => Promise<void> = turnOfOthers,
): Promise<void> {
  const begun: Promise<void>[] = []
  for (const item of items) {
    if (begun.length > 0) await turn()
    const done = work(item)
    done.catch(() => {}) // told below
    begun.push(done)
  }
  await Promise.all(begun)
}
