// The answers of other servers that this process holds for the engine: those that are arriving, and those that the
// engine has yet to take. Each may have megabytes, and a server may be slow with the last octet of any number of them.

/** The most octets of them together. Beyond that the longest ones end. */
export const MOST_ARRIVING = 64 << 20

/** The answers of all calls. */
export class ArrivingAnswers {
  /** Those of which something is here. Bound: the calls under way. */
  readonly #begun = new Set<ArrivingAnswer>()
  #octets = 0

  get octets(): number {
    return this.#octets
  }

  /** Ends the longest ones where they are too long together. */
  count(answer: ArrivingAnswer, before: number): void {
    this.#octets += answer.octets - before
    if (answer.octets === 0) this.#begun.delete(answer)
    else this.#begun.add(answer)
    while (this.#octets > MOST_ARRIVING) {
      let longest = answer
      for (const one of this.#begun) if (one.octets > longest.octets) longest = one
      longest.end()
    }
  }
}

/** The answer of one call. */
export class ArrivingAnswer {
  readonly #all: ArrivingAnswers
  readonly #tooMuch: () => void
  #octets = 0
  #isOver = false

  /** @param tooMuch is called at most once, when the call must end */
  constructor(all: ArrivingAnswers, tooMuch: () => void) {
    this.#all = all
    this.#tooMuch = tooMuch
  }

  get octets(): number {
    return this.#octets
  }

  /** @param octets of the answer that are here */
  holds(octets: number): void {
    if (!this.#isOver) this.#set(octets)
  }

  /** Nothing of it is here any more. */
  leave(): void {
    this.holds(0)
    this.#isOver = true
  }

  /** There is no room for it. */
  end(): void {
    if (this.#isOver) return
    this.leave()
    this.#tooMuch()
  }

  #set(octets: number): void {
    const before = this.#octets
    this.#octets = octets
    if (before !== octets) this.#all.count(this, before)
  }
}
