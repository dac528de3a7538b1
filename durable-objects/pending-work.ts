/**
 * Work in the outbox of which no delivery has begun: the same again would say nothing new, since a controller reads
 * what is stored when it does its work. Many writes bring the same work, as those of the pods of one owner do.
 */

/** Work beyond this is stored again. */
const MOST = 1_000

export class PendingWork {
  /** Bound: MOST. */
  private readonly known = new Set<string>()

  /** Whether it is to be stored. */
  isNew(topic: string, payload: string): boolean {
    const work = `${topic} ${payload}`
    if (this.known.has(work)) return false
    if (this.known.size >= MOST) this.known.clear()
    this.known.add(work)
    return true
  }

  /** Its delivery begins; or what was written last is taken back. */
  forget(): void {
    this.known.clear()
  }
}
