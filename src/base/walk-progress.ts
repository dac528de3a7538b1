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
export class Place {
  readonly owner: object
  /** The number of places when this one was created. Later places belong to loops within its items. */
  readonly height: number
  at = 0
  /** The number of items that were counted. An item whose inner loops continue is not counted again. */
  counted = 0
  isDone = false
  items: readonly unknown[] | undefined = undefined
  /** The results of a loop, or the value that is kept. */
  found: unknown = undefined

  constructor(owner: object, height: number) {
    this.owner = owner
    this.height = height
  }
}

/**
 * For tests. `tell` is called if a walk stopped in a loop and never reached that loop again, because each run creates
 * its list anew. The walk then cannot stop again until the item around the loop is done, which may be the end of the
 * walk.
 */
export const lost: { tell: ((owner: object, items: number) => void) | undefined } = { tell: undefined }

/**
 * The places of one owner that earlier runs left, in the order in which a run reaches them. `next` is the number that
 * this run has reached.
 */
interface OwnPlaces {
  run: number
  next: number
  readonly all: Place[]
}

/**
 * The progress of one walk. When an item of a loop is done, the places below it are removed. So most places are removed
 * by the run that creates them, and only those that a run leaves are found by their owners.
 */
export class Progress {
  private run = 0
  private left = 0
  private items = 0
  /** The place at which the previous run stopped, until this run reaches it. */
  private stoppedAt: Place | undefined
  /** This run has stopped, so its result does not count. */
  isStopped = false
  /** The loop that is listing its items. Code that lists them may sort them in parts. */
  listed: Place | undefined
  /** In the order in which they were created. Earlier runs left the first ones. */
  private readonly places: Place[] = []
  private readonly leftBy = new Map<object, OwnPlaces>()
  /** How many places earlier runs left, and how many of them this run has not reached. */
  private known = 0
  private unreached = 0
  private readonly part: number

  constructor(part: number) {
    this.part = part
  }

  /** @param items of this run */
  begin(items: number): void {
    this.run++
    this.left = this.items = items
    this.isStopped = false
    this.listed = undefined
    for (; this.known < this.places.length; this.known++) this.leave(this.places[this.known]!)
    this.unreached = this.known
  }

  /** The items of this run. */
  get used(): number {
    return this.items - this.left
  }

  private leave(place: Place): void {
    const before = this.leftBy.get(place.owner)
    if (before === undefined) this.leftBy.set(place.owner, { run: 0, next: 0, all: [place] })
    else before.all.push(place)
  }

  placeOf(owner: object): Place {
    const place = this.unreached === 0 ? undefined : this.nextLeft(owner)
    if (place !== undefined) return place
    // a new place takes about as long as an item
    this.left--
    const { places } = this
    const made = new Place(owner, places.length + 1)
    places.push(made)
    return made
  }

  /** The next place of the owner that an earlier run left. */
  private nextLeft(owner: object): Place | undefined {
    const left = this.leftBy.get(owner)
    if (left === undefined) return undefined
    if (left.run !== this.run) {
      left.run = this.run
      left.next = 0
    }
    const place = left.all[left.next]
    if (place === undefined) return undefined
    left.next++
    this.unreached--
    if (place === this.stoppedAt) {
      this.stoppedAt = undefined
      // Loops over lists that each run creates anew have counted again. Without a new part this loop could not advance.
      this.items += this.part - this.left
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
    if (this.stoppedAt !== undefined) this.lose(this.stoppedAt)
  }

  private lose({ owner, items }: Place): void {
    lost.tell?.(owner, items?.length ?? 0)
    this.stoppedAt = undefined
  }

  /** An item of a loop is done. Its result is kept, so the places below it are removed. */
  advance({ height }: Place): void {
    const { places } = this
    while (places.length > height) {
      const place = places.pop()!
      if (places.length < this.known) this.forget(place)
    }
  }

  /** Removes the last place that an earlier run left. */
  private forget(place: Place): void {
    this.known--
    const left = this.leftBy.get(place.owner)!
    left.all.pop()
    if (left.run === this.run && left.next > left.all.length) left.next = left.all.length
    else this.unreached--
    if (left.all.length === 0) this.leftBy.delete(place.owner)
    // the item of this place never runs again, so the walk may stop again
    if (place === this.stoppedAt) this.lose(place)
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
