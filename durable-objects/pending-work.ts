/**
 * Finds work that need not be stored again. Many writes bring the same work, for example those of the pods of one owner.
 * If the outbox has the same work and its delivery has not begun, one row is enough, because the controller reads the
 * current state. Some work says nothing new a second time and is stored once for the life of the instance.
 */
import type { OutboxMessage } from '../src/storage/storage.ts'

/** The most work that is remembered; work beyond it is stored again. */
const MOST = 1_000

export class PendingWork {
  /** Bound: MOST. */
  private readonly waiting = new Set<string>()
  /** Work that is stored once in the life of the instance, delivered or not. Bound: MOST. */
  private readonly storedOnce = new Set<string>()

  /** @returns whether the outbox must store it */
  isNew({ topic, payload, once }: OutboxMessage): boolean {
    const known = once ? this.storedOnce : this.waiting
    const work = `${topic} ${payload}`
    if (known.has(work)) return false
    if (known.size >= MOST) known.clear()
    known.add(work)
    return true
  }

  /** The outbox begins to deliver everything that waits. */
  deliveryBegins(): void {
    this.waiting.clear()
  }

  /** The last write failed, and the work that it stored is undone. */
  forget(): void {
    this.waiting.clear()
    this.storedOnce.clear()
  }
}
