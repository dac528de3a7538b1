import { PART } from './parts.ts'

/** Counts the items of work in steps (slices.ts) since it last yielded. */
export class Pace {
  private left = PART

  /** Called for each item. @returns whether the work should yield to other requests */
  isOver(): boolean {
    if (--this.left > 0) return false
    this.left = PART
    return true
  }
}
