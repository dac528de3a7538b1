// Whether the engine has descriptors for another connection. It keeps the descriptor of a connection that this process
// has closed until it gets to read that, and accepts all that wait for it before. An engine without descriptors ends,
// so each connection to it waits here for its turn.

/** An engine that has not accepted a connection after this time is busy with something else. Milliseconds. */
const ACCEPTED_AFTER = 5_000
/** Milliseconds between two looks while connections wait. */
const LOOK_MS = 20
/** Milliseconds for which a look is good enough: what has begun since is counted. */
const FRESH_MS = 10

export interface EngineRoomOptions {
  /** Descriptors that the engine may have. */
  readonly most: number
  /** Those that it has now; undefined where the system does not tell. */
  readonly descriptors: () => number | undefined
  /** Milliseconds, from any moment on. */
  readonly now?: () => number
}

/** A connection that has begun. */
export interface Begun {
  /** The engine has answered, or refused it. A descriptor that it has is one of those that the system tells. */
  answered(): void
  /** It has ended. */
  ended(): void
}

interface Waiting {
  readonly until: number
  readonly begin: (begun: Begun) => void
  readonly tooLate: () => void
}

export class EngineRoom {
  readonly #options: EngineRoomOptions
  readonly #now: () => number
  /** First come, first served. Bound: the connections of clients, each of which has one to the engine. */
  readonly #waiting = new Set<Waiting>()
  /** Connections that the engine may not have accepted yet, closed ones included. */
  #unsure = 0
  #open = 0
  #seen = { at: -Infinity, descriptors: 0 }
  #timer: NodeJS.Timeout | undefined

  constructor(options: EngineRoomOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * @param begin is called once there is room, maybe at once
   * @param patience milliseconds, after which `tooLate` is called instead
   * @returns a function by which one that waits gives up
   */
  enter(begin: (begun: Begun) => void, patience: number, tooLate: () => void): () => void {
    if (this.#waiting.size === 0 && this.#hasRoom()) {
      this.#begin(begin)
      return () => {}
    }
    const one: Waiting = { until: this.#now() + patience, begin, tooLate }
    this.#waiting.add(one)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    return () => void this.#waiting.delete(one)
  }

  #look(): void {
    for (const one of this.#waiting) {
      const isLate = this.#now() >= one.until
      if (!isLate && !this.#hasRoom()) break
      this.#waiting.delete(one)
      if (isLate) one.tooLate()
      else this.#begin(one.begin)
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #hasRoom(): boolean {
    const now = this.#now()
    if (now - this.#seen.at >= FRESH_MS)
      this.#seen = { at: now, descriptors: this.#options.descriptors() ?? this.#open }
    return this.#seen.descriptors + this.#unsure < this.#options.most
  }

  #begin(begin: (begun: Begun) => void): void {
    this.#unsure++
    this.#open++
    let [isSure, hasEnded] = [false, false]
    const answered = (): void => {
      clearTimeout(timer)
      if (!isSure) this.#unsure--
      isSure = true
    }
    const timer = setTimeout(answered, ACCEPTED_AFTER).unref()
    begin({
      answered,
      // whether the engine has accepted it is as unsure as before
      ended: () => {
        if (!hasEnded) this.#open--
        hasEnded = true
      },
    })
  }
}
