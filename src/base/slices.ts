/**
 * An isolate has one thread. Work over many items runs in slices, and other requests run between them. A slice is
 * counted in items, because the platform's clock does not advance while code runs.
 */
import { HeavyLine } from './heavy-line.ts'
import type { HeavyWork } from './heavy-line.ts'

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

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** If a body, or the object that it changes, has this many bytes or more, a step of a write takes milliseconds. */
export const HEAVY = 8 * 1024

/** The number of heavy steps that have begun in this isolate. */
let heavySteps = 0

const line = new HeavyLine()

/** The works with heavy steps that have begun. */
let works = 0

/** @param flow whose work it is: flows take turns; absent: the server's own */
export const heavyWork = (flow = ''): HeavyWork => ({ flow, number: ++works })

/** The most turns of the engine that a heavy step waits: ten seconds or more. */
const LONGEST_WAIT = 10_000

/** Items of one turn of heavy steps, and of a part of a walk. The most expensive items take a hundredth of a millisecond. */
export const TURN = 4096

/** What a part of a walk takes of its turn beside its items: what it does that nothing counts. */
export const BESIDE = TURN / 8

/** What heavy steps have taken of the last turn that one of them began. */
let taken = TURN
/** The work that took the last of it. */
let inTurn: HeavyWork | undefined

/** Whether a step that takes a share has as much left for its items. */
const hasRoom = (share: number): boolean => taken + 2 * share <= TURN

/** The items that are left of the turn. */
export const restOfTurn = (): number => TURN - taken

/** Notes that a heavy step has gone over so many items, beside the share that it took of its turn. */
export function spend(items: number): void {
  taken += items
}

/**
 * Resolves when all waiting requests have run, no other heavy step has begun meanwhile, and it is the work's turn
 * (heavy-line.ts). Between two turns of heavy steps all other requests continue, so each step of a light request waits
 * for at most one of them. Steps that take a part of a turn may share it: else requests with many short steps would
 * wait for each other, with the thread idle. For the same reason a work goes on at once while there is room in its turn.
 * No request waits for a promise of another, so a request that the engine cancels blocks no other.
 * @param share what the step takes of its turn at least
 */
export async function turnOfHeavy(
  turn: () => Promise<void> = turnOfOthers,
  work = heavyWork(),
  share = TURN,
): Promise<void> {
  if (work === inTurn && hasRoom(share)) {
    taken += share
    return
  }
  const waiting = line.join(work)
  try {
    for (let turns = 0; turns < LONGEST_WAIT; turns++) {
      const seen = heavySteps
      const pause = line.pauseOf(waiting)
      await (pause === 0 ? turn() : after(pause))
      const isNext = line.isNext(waiting)
      if (isNext && seen === heavySteps) {
        taken = 0
        break
      }
      if (hasRoom(share)) break
    }
  } finally {
    line.leave(waiting)
  }
  heavySteps++
  taken += share
  inTurn = work
}

/**
 * Work in steps. It yields where other requests may run, with the items of a turn that the next step takes at least:
 * nothing where it takes a whole one. The result of `yield` says whether they could run, or how many items are left of
 * the turn. Where it needs an answer from elsewhere it yields a promise, and goes on when that is resolved. One that
 * rejects ends the work.
 */
export type Steps<T> = Generator<void | number | Promise<unknown>, T, boolean | number>

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

/** @param turn is awaited before each step, and may say how many items of it are left */
export async function inTurns<T>(
  steps: Steps<T>,
  turn: (share?: number) => Promise<number | void> = turnOfOthers,
): Promise<T> {
  let left: number | true = true
  for (;;) {
    const { done, value } = steps.next(left)
    if (done === true) return value
    left = true
    if (value instanceof Promise) await value
    else if (typeof value === 'number') left = (await turn(value)) ?? true
    else await turn()
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
