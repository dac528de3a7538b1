// What this process holds while the rest of it arrives, or until somebody takes it. Each may have megabytes, and a peer
// may be slow with the last octet of any number of them. So they have a bound together, beyond which the longest end.

export class HeldTogether {
  readonly #most: number
  /** Those of which something is here. Bound: `most`, one octet each. */
  readonly #begun = new Set<Held>()
  #octets = 0

  /** @param most octets of all of them */
  constructor(most: number) {
    this.#most = most
  }

  get octets(): number {
    return this.#octets
  }

  /** Ends the longest ones where they are too long together. */
  count(one: Held, before: number): void {
    this.#octets += one.octets - before
    if (one.octets === 0) this.#begun.delete(one)
    else this.#begun.add(one)
    while (this.#octets > this.#most) {
      let longest = one
      for (const other of this.#begun) if (other.octets > longest.octets) longest = other
      longest.end()
    }
  }
}

export class Held {
  readonly #all: HeldTogether
  readonly #tooMuch: () => void
  #octets = 0
  #isOver = false

  /** @param tooMuch is called at most once, when it must end */
  constructor(all: HeldTogether, tooMuch: () => void) {
    this.#all = all
    this.#tooMuch = tooMuch
  }

  get octets(): number {
    return this.#octets
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** @param octets that are here */
  holds(octets: number): void {
    if (this.#isOver || octets === this.#octets) return
    const before = this.#octets
    this.#octets = octets
    this.#all.count(this, before)
  }

  /** Nothing of it is here any more. */
  leave(): void {
    this.holds(0)
    this.#isOver = true
  }

  /** It must end. */
  end(): void {
    if (this.#isOver) return
    this.leave()
    this.#tooMuch()
  }
}
