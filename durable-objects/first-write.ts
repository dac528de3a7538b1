/**
 * Before a shard is first written to, the control shard of its tenant says that it is (src/storage/written-shards). It
 * forgets a shard that is empty and whose type went; the next write asks for it again.
 */
import type { Statements } from './statements.ts'

interface Retirement {
  /** Ends when no write is under way. */
  settled(): Promise<void>
  isEmpty(): boolean
  /** Ends when the control shard does not name this shard any more. */
  forget(): Promise<void>
}

export class FirstWrite {
  private isAnnounced: boolean
  /** What the control shard is being told. Writes that come meanwhile wait for it. */
  private telling: Promise<void> | undefined

  /** @param announce ends when it is on disk */
  constructor(
    private readonly statements: Statements,
    private readonly announce: () => Promise<void>,
  ) {
    this.isAnnounced = statements.meta('told') === 1
  }

  /** Undefined where that is done. */
  announced(): Promise<void> | undefined {
    if (this.telling !== undefined) return this.telling.then(() => this.announced())
    if (this.isAnnounced) return undefined
    return this.tell(async () => {
      await this.announce()
      this.set(true)
    })
  }

  /** What it was told before may not be on disk, so it is told to forget in any case. */
  async retire({ settled, isEmpty, forget }: Retirement): Promise<void> {
    while (this.telling !== undefined) await this.telling.catch(() => {})
    const retired = (async () => {
      await settled()
      if (!isEmpty()) return
      this.set(false)
      await forget()
    })()
    // writes go on where it failed
    void this.tell(() => retired.catch(() => {}))
    await retired
  }

  /** The control shard forgets it: its contents go. */
  forget(): void {
    this.set(false)
  }

  private tell(work: () => Promise<void>): Promise<void> {
    const answered = work().finally(() => (this.telling = undefined))
    return (this.telling = answered)
  }

  private set(isAnnounced: boolean): void {
    this.statements.setMeta('told', isAnnounced ? 1 : 0)
    this.isAnnounced = isAnnounced
  }
}
