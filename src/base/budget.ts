/**
 * Counts the work that one input causes. A step is a character, a node or a comparison, as the caller decides. A limit
 * stops work that grows faster than its input. Tests read the count to prove that no other work does.
 */
export class Budget {
  spent = 0
  readonly limit: number

  constructor(limit = Infinity) {
    this.limit = limit
  }

  /** @returns whether the work stays within the limit */
  spend(steps = 1): boolean {
    this.spent += steps
    return this.spent <= this.limit
  }
}
