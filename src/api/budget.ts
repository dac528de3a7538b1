/**
 * Work that one input causes, counted in steps: characters, nodes or comparisons, whatever the one who counts goes
 * through. A limit is for work that grows faster than its input; a test reads the count to see that none does.
 */
export class Budget {
  spent = 0
  readonly limit: number

  constructor(limit = Infinity) {
    this.limit = limit
  }

  /** @returns whether there is still something left */
  spend(steps = 1): boolean {
    this.spent += steps
    return this.spent <= this.limit
  }
}
