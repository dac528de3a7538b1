/**
 * An isolate has one thread. Work over many items runs in slices, and other requests run between them. A slice is
 * counted in items, because the platform's clock does not advance while code runs.
 */

/** Items of a slice. Rows of a Table, the most expensive items, take some milliseconds. */
export const SLICE = 64

/**
 * If a body, or the object that it changes, has this many bytes or more, each step of a write is a slice of its own.
 */
export const LARGE = 64 * 1024

/** An object with this many values counts as LARGE before it is serialized. A value has about thirty bytes. */
export const MANY_VALUES = LARGE / 32

/** Resolves when all waiting requests of the isolate have run. */
export const turnOfOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/** If a body, or the object that it changes, has this many bytes or more, a step of a write takes milliseconds. */
export const HEAVY = 8 * 1024

/** The number of heavy steps that have begun in this isolate. */
let heavySteps = 0

/** The most heavy steps of other requests that a heavy step lets go first: some seconds. */
const MOST_AHEAD = 500

/**
 * Resolves when all waiting requests have run and no other heavy step has begun meanwhile. Between two heavy steps all
 * other requests continue, so each step of a light request waits for at most one heavy step. Heavy steps run about in
 * the order of their arrival. A new one can overtake those that are setting their timers again, so a step lets at most
 * MOST_AHEAD others go first. No request waits for a promise of another, so a request that the engine cancels blocks no
 * other.
 */
export async function turnOfHeavy(turn: () => Promise<void> = turnOfOthers): Promise<void> {
  for (let ahead = 0; ahead < MOST_AHEAD; ahead++) {
    const seen = heavySteps
    await turn()
    if (seen === heavySteps) break
  }
  heavySteps++
}

/**
 * Work in steps. It yields where other requests may run; the result of `yield` says whether they could. Where it needs
 * an answer from elsewhere it yields a promise, and goes on when that is resolved. One that rejects ends the work.
 */
export type Steps<T> = Generator<void | Promise<unknown>, T, boolean>

/**
 * Thrown by a walk that needs an answer from elsewhere, up to `inParts`: the walk runs again when the answer is there,
 * and finds it where the promise has left it. The promise never rejects.
 */
export class NeedsAnswer extends Error {
  /** Settles: with the call that answers, which is of the request that waits. */
  readonly answered: Promise<void>

  constructor(answered: Promise<void>) {
    super('assertion failed: a walk needs an answer that nobody waits for')
    this.answered = answered
  }
}

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next(false)
    if (done === true) return value
    if (value instanceof Promise) throw new Error('assertion failed: work that is done at once needs an answer')
  }
}

/**
 * Runs work at once up to the first answer that it needs.
 * @param goOn with which it goes on then
 */
export function soon<T>(steps: Steps<T>, goOn: (steps: Steps<T>) => T | Promise<T>): T | Promise<T> {
  for (;;) {
    const { done, value } = steps.next(false)
    if (done === true) return value
    if (value instanceof Promise) return value.then(() => goOn(steps))
  }
}

export async function inTurns<T>(steps: Steps<T>, turn: () => Promise<void> = turnOfOthers): Promise<T> {
  for (;;) {
    const { done, value } = steps.next(true)
    if (done === true) return value
    await (value ?? turn())
  }
}

/** UTF-16 units of the texts in one slice. Parsing them takes a millisecond. */
const SLICE_LENGTH = 64 * 1024

/**
 * Splits items into slices. There is at least one slice, which may be empty. An item that is too long is a slice alone.
 */
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
