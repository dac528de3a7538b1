/**
 * How far a walk in parts (parts.ts) has got: each loop over a list, and each value that the walk keeps, has a place. A run
 * finds the places of the run before by their owners and in the order in which it comes to them.
 */

/**
 * Thrown through a walk, from a loop up to `inParts`. Code between them may catch it: the walk runs again all the same, and
 * whatever else it begins in this run is stopped at once.
 */
export const PAUSE = new Error('assertion failed: a walk was stopped that nobody goes on with')

/** A loop over one list, or a value that is kept. */
export interface Place {
  at: number
  /** Items that were counted: one whose inner loops go on is not counted again. */
  counted: number
  isDone: boolean
  items: readonly unknown[] | undefined
  readonly found: unknown[]
  /** How many places there were when this one was new: later ones are below its items. */
  readonly height: number
}

/**
 * For tests: told of what a walk was stopped in and never came to again, for each run made it anew. Until the item around
 * it is done, which may be the whole walk, nothing is stopped.
 */
export const lost: { tell: ((owner: object, items: number) => void) | undefined } = { tell: undefined }

/** Of one owner: its places in the order in which a run comes to them, and how many this run has come to. */
interface Places {
  run: number
  next: number
  readonly all: Place[]
}

/** How far one walk has got. Lives as long as it; what is below an item that is done is forgotten. */
export class Progress {
  private run = 0
  private left = 0
  /** Where the run before was stopped, until this one comes there. */
  private stoppedAt: Place | undefined
  /** Whatever this run answers is not the end. */
  isStopped = false
  /** Whose items are being listed: what lists them may sort them in parts. */
  listed: Place | undefined
  private readonly places = new Map<object, Places>()
  /** Of each place its owner, in the order in which they were new. */
  private readonly owners: object[] = []

  constructor(private readonly part: number) {}

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
      // it takes about what an item takes
      this.left--
      all.push({ at: 0, counted: 0, isDone: false, items: undefined, found: [], height: this.owners.length })
    }
    const place = all[places.next++]!
    if (place === this.stoppedAt) {
      this.stoppedAt = undefined
      // loops over what each run makes anew have counted once more, and would leave nothing for this one
      this.left = this.part
    }
    return place
  }

  /** @throws PAUSE */
  count(weight: number, place?: Place): void {
    if (this.isStopped) throw PAUSE
    // a loop over what each run makes anew is never come to again: no other stop until the item around it is done
    if (this.left <= 0 && this.stoppedAt === undefined) {
      this.isStopped = true
      this.stoppedAt = place
      throw PAUSE
    }
    this.left -= weight
  }

  /** What was done at once; the walk may stop at its next loop. */
  charge(weight: number): void {
    this.left -= weight
  }

  /** Whatever was stopped is done, found again or not. */
  end(): void {
    if (this.stoppedAt !== undefined) this.lose(this.owners[this.stoppedAt.height - 1]!)
  }

  private lose(owner: object): void {
    lost.tell?.(owner, this.stoppedAt?.items?.length ?? 0)
    this.stoppedAt = undefined
  }

  /** An item of a loop is done. What came below it is found in what it answered. */
  advance({ height }: Place): void {
    while (this.owners.length > height) {
      const owner = this.owners.pop()!
      const places = this.places.get(owner)!
      // it is behind the walk, which may be stopped again: an item that is done is never begun again
      if (places.all.pop() === this.stoppedAt) this.lose(owner)
      places.next = Math.min(places.next, places.all.length)
      if (places.all.length === 0) this.places.delete(owner)
    }
  }
}

/** Of the walk that runs now: set and reset around it, with no `await` between. */
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
