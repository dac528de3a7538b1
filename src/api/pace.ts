import { PART } from './parts.ts'

/** Of a walk that is written in steps (slices.ts): how far it is in its part. */
export class Pace {
  private left = PART

  /** Called for each item. @returns whether others should have their turn */
  isOver(): boolean {
    if (--this.left > 0) return false
    this.left = PART
    return true
  }
}
