/** Characters of expressions that are compiled before the work yields to other requests: some milliseconds. */
const PART = 8 * 1024

/** Whether an expression is so long that its own compilation yields to other requests. */
export const isLong = ({ length }: string): boolean => length >= PART

/** The fixed time of compiling an expression, in characters. */
const EACH = 64

/** Counts the characters of expressions that have been compiled since the work last yielded. */
export class CompilationPace {
  private left = PART

  /** Called for each expression. @returns whether the work should yield to other requests */
  isOver(...texts: readonly string[]): boolean {
    for (const { length } of texts) this.left -= EACH + length
    if (this.left > 0) return false
    this.left = PART
    return true
  }
}
