/**
 * The progress of a walk in parts (parts.ts). Each loop over a list has a place, and so has each value that the walk
 * keeps. A run finds the places of the previous run by their owners, and in the order in which it reaches them.
 */

/**
 * Thrown through a walk, from a loop up to `inParts`. If code between them catches it, the walk still runs again, and
 * every other loop that begins in this run stops at once.
 */
export const PAUSE = new Error('assertion failed: a walk was stopped that nobody goes on with')

/** The place of a loop over one list, or of a kept value. */
export interface Place {
  at: number
  /** The number of items that were counted. An item whose inner loops continue is not counted again. */
  counted: number
  isDone: boolean
  items: readonly unknown[] | undefined
  readonly found: unknown[]
  /** The number of places when this one was created. Later places belong to loops within its items. */
  readonly height: number
}

/**
 * For tests. `tell` is called if a walk stopped in a loop and never reached that loop again, because each run creates
 * its list anew. The walk then cannot stop again until the item around the loop is done, which may be the end of the
 * walk.
 */
export const lost: { tell: ((owner: object, items: number) => void) | undefined } = { tell: undefined }

/**
 * The places of one owner, in the order in which a run reaches them. `next` is the number that this run has reached.
 */
interface Places {
  run: number
  next: number
  readonly all: Place[]
}

/** The progress of one walk. When an item of a loop is done, the places below it are removed. */
export class Progress {
  private run = 0
  private left = 0
  /** The place at which the previous run stopped, until this run reaches it. */
  private stoppedAt: Place | undefined
  /** This run has stopped, so its result does not count. */
  isStopped = false
  /** The loop that is listing its items. Code that lists them may sort them in parts. */
  listed: Place | undefined
  private readonly places = new Map<object, Places>()
  /** The owner of each place, in the order in which the places were created. */
  private readonly owners: object[] = []
  private readonly part: number

  constructor(part: number) {
    this.part = part
  }

  begin(): void {
    this.run++
    this.left = this.part
    this.isStopped = false
    this.listed = undefined
  }

  placeOf(owner: object): Place {
    let places = this.places.get(owner)
    if (places === undefined) this.places.set(owner, (places = { run: this.run, next: 0, all: [] }))
    else if (places.run !== this.run) {
      places.run = this.run
      places.next = 0
    }
    const { all } = places
    if (places.next === all.length) {
      this.owners.push(owner)
      // a new place takes about as long as an item
      this.left--
      all.push({ at: 0, counted: 0, isDone: false, items: undefined, found: [], height: this.owners.length })
    }
    const place = all[places.next++]!
    if (place === this.stoppedAt) {
      this.stoppedAt = undefined
      // Loops over lists that each run creates anew have counted again. Without a new part this loop could not advance.
      this.left = this.part
    }
    return place
  }

  /** @throws PAUSE */
  count(weight: number, place?: Place): void {
    if (this.isStopped) throw PAUSE
    // if each run creates the loop's list anew, the loop is never found again, so the item around it must end first
    if (this.left <= 0 && this.stoppedAt === undefined) {
      this.isStopped = true
      this.stoppedAt = place
      throw PAUSE
    }
    this.left -= weight
  }

  /** Counts work that ran without a stop. The walk may stop at its next loop. */
  charge(weight: number): void {
    this.left -= weight
  }

  /** The walk has ended. Reports a stopped loop that was never reached again. */
  end(): void {
    if (this.stoppedAt !== undefined) this.lose(this.owners[this.stoppedAt.height - 1]!)
  }

  private lose(owner: object): void {
    lost.tell?.(owner, this.stoppedAt?.items?.length ?? 0)
    this.stoppedAt = undefined
  }

  /** An item of a loop is done. Its result is kept, so the places below it are removed. */
  advance({ height }: Place): void {
    while (this.owners.length > height) {
      const owner = this.owners.pop()!
      const places = this.places.get(owner)!
      // the item of this place never runs again, so the walk may stop again
      if (places.all.pop() === this.stoppedAt) this.lose(owner)
      places.next = Math.min(places.next, places.all.length)
      if (places.all.length === 0) this.places.delete(owner)
    }
  }
}

/** The progress of the walk that is running. `within` sets and resets it around synchronous code. */
export let current: Progress | undefined

export function within<T>(progress: Progress | undefined, run: () => T): T {
  const before = current
  current = progress
  try {
    return run()
  } finally {
    current = before
  }
}
