/** A pass over a syntax tree yields to other requests after this many nodes: some milliseconds. */
const PART = 1_000

/** Counts the nodes that a pass has visited since it last yielded. */
export class Pace {
  private left = PART

  /**
   * Called for each node.
   * @param units how many nodes take as long as this one
   * @returns whether the pass should yield
   */
  isOver(units = 1): boolean {
    this.left -= units
    if (this.left > 0) return false
    this.left = PART
    return true
  }
}
