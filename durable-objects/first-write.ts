/** Before a shard is first written to, the control shard of its tenant says that it is (src/storage/written-shards). */
import type { Statements } from './statements.ts'

export class FirstWrite {
  private isTold: boolean
  private telling: Promise<void> | undefined

  /** @param tell ends when it is on disk */
  constructor(
    private readonly statements: Statements,
    private readonly tell: () => Promise<void>,
  ) {
    this.isTold = statements.meta('told') === 1
  }

  /** Undefined where that is done. Writes that come meanwhile wait for it. */
  told(): Promise<void> | undefined {
    if (this.isTold) return undefined
    this.telling ??= this.tell()
      .then(() => {
        this.statements.setMeta('told', 1)
        this.isTold = true
      })
      .finally(() => (this.telling = undefined))
    return this.telling
  }

  /** The control shard forgets it: its contents go. */
  forget(): void {
    this.statements.setMeta('told', 0)
    this.isTold = false
  }
}
