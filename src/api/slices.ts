/**
 * An isolate has one thread: work over many items goes in slices, between which requests of others have their turn. A
 * slice is counted in items, for the platform's clock stands still while code runs.
 */

/** Items of a slice: rows of a Table, the dearest of them, take some milliseconds. */
export const SLICE = 64

/** Bytes of a body, or of the object that it changes, from which on the steps of a write are slices of their own. */
export const LARGE = 64 * 1024

/** Values in an object that nobody has written down yet, from which on it is taken to be so large: each has some thirty bytes. */
export const MANY_VALUES = LARGE / 32

/** When all that was waiting has had its turn. */
export const turnOfOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/** Bytes of a body, or of the object that it changes, from which on a step of a write takes milliseconds. */
export const HEAVY = 8 * 1024

/** How many heavy steps began in this isolate. */
let heavySteps = 0

/** Heavy steps of others that one lets go first: some seconds. */
const MOST_AHEAD = 500

/**
 * When all that was waiting has had its turn, and no other heavy step has begun since: between two of them everybody
 * gets on, so that a light request waits for one of them at each of its steps, however many there are. They go in about the
 * order in which they came: one that comes while others set their timers anew may be ahead of them, and so nobody lets
 * more than MOST_AHEAD go first. Nobody waits for another's promise: a request that the engine gives up holds nobody back.
 */
export async function turnOfHeavy(turn: () => Promise<void> = turnOfOthers): Promise<void> {
  for (let ahead = 0; ahead < MOST_AHEAD; ahead++) {
    const seen = heavySteps
    await turn()
    if (seen === heavySteps) break
  }
  heavySteps++
}

/** Work in steps of its own: it yields where others may have a turn, and is told whether they have. */
export type Steps<T> = Generator<void, T, boolean>

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next(false)
    if (done === true) return value
  }
}

export async function inTurns<T>(steps: Steps<T>, turn: () => Promise<void> = turnOfOthers): Promise<T> {
  for (;;) {
    const { done, value } = steps.next(true)
    if (done === true) return value
    await turn()
  }
}

/** UTF-16 units of texts that are parsed at once: a millisecond. */
const SLICE_LENGTH = 64 * 1024

/** At least one, which may be empty. What is longer than a slice is one of its own. */
export function* slicesByLength<Item>(
  items: readonly Item[],
  lengthOf: (item: Item) => number,
  most = SLICE_LENGTH,
): Generator<readonly Item[]> {
  let from = 0
  let length = 0
  for (const [at, item] of items.entries()) {
    const more = lengthOf(item)
    if (at > from && (length + more > most || at - from >= SLICE)) {
      yield items.slice(from, at)
      from = at
      length = 0
    }
    length += more
  }
  yield items.slice(from)
}
