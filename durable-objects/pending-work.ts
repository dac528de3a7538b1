/**
 * Work that need not be stored: the same is in the outbox already, and its delivery has not begun (a controller reads what
 * is stored when it does its work), or it was told once and says nothing new a second time. Many writes bring the same
 * work, as those of the pods of one owner do.
 */
import type { OutboxMessage } from '../src/storage/storage.ts'

/** Work beyond this is stored again. */
const MOST = 1_000

export class PendingWork {
  /** Bound: MOST. */
  private readonly waiting = new Set<string>()
  /** Work that is told once, delivered or not. Bound: MOST. */
  private readonly told = new Set<string>()

  /** Whether it is to be stored. */
  isNew({ topic, payload, once }: OutboxMessage): boolean {
    const known = once ? this.told : this.waiting
    const work = `${topic} ${payload}`
    if (known.has(work)) return false
    if (known.size >= MOST) known.clear()
    known.add(work)
    return true
  }

  /** The delivery of all that waits begins. */
  deliveryBegins(): void {
    this.waiting.clear()
  }

  /** What was written last is taken back. */
  forget(): void {
    this.waiting.clear()
    this.told.clear()
  }
}
