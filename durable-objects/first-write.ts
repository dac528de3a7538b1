/** Before a shard is first written to, the control shard of its tenant says that it is (src/storage/written-shards). */
import type { Statements } from './statements.ts'

export class FirstWrite {
  private isAnnounced: boolean
  private announcing: Promise<void> | undefined

  /** @param announce ends when it is on disk */
  constructor(
    private readonly statements: Statements,
    private readonly announce: () => Promise<void>,
  ) {
    this.isAnnounced = statements.meta('told') === 1
  }

  /** Undefined where that is done. Writes that come meanwhile wait for it. */
  announced(): Promise<void> | undefined {
    if (this.isAnnounced) return undefined
    this.announcing ??= this.announce()
      .then(() => {
        this.statements.setMeta('told', 1)
        this.isAnnounced = true
      })
      .finally(() => (this.announcing = undefined))
    return this.announcing
  }

  /** The control shard forgets it: its contents go. */
  forget(): void {
    this.statements.setMeta('told', 0)
    this.isAnnounced = false
  }
}
