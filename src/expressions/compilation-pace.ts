/** Characters of expressions that are compiled between two turns: some milliseconds. */
const PART = 8 * 1024

/** An expression that has turns of its own between the passes of its compilation. */
export const isLong = ({ length }: string): boolean => length >= PART

/** What takes as long as so many characters, however short an expression is. */
const EACH = 64

/** Of many expressions that are compiled one after the other: how far they are in their part. */
export class CompilationPace {
  private left = PART

  /** Called for each. @returns whether others should have their turn */
  isOver(...texts: readonly string[]): boolean {
    for (const { length } of texts) this.left -= EACH + length
    if (this.left > 0) return false
    this.left = PART
    return true
  }
}
