/** A shard's statistics since it was constructed: the calls that woke it, and the billed rows. */
import { ownValue, setOwn } from '../src/base/own.ts'
import type { ShardStats } from '../src/storage/shards/shard-protocol.ts'

export class ShardUsage {
  /** Bound: the calls that a shard has. */
  private readonly reasons: Record<string, number> = {}
  private rowsRead = 0
  private rowsWritten = 0

  /** @param since milliseconds since 1970 */
  constructor(private readonly since: number) {}

  count(rowsRead: number, rowsWritten: number): void {
    this.rowsRead += rowsRead
    this.rowsWritten += rowsWritten
  }

  woken(reason: string): void {
    setOwn(this.reasons, reason, (ownValue(this.reasons, reason) ?? 0) + 1)
  }

  /** @param now milliseconds since 1970 */
  report(now: number): Pick<ShardStats, 'since' | 'awakeSeconds' | 'reasons' | 'rowsRead' | 'rowsWritten'> {
    const { since, reasons, rowsRead, rowsWritten } = this
    return { since, awakeSeconds: (now - since) / 1000, reasons: { ...reasons }, rowsRead, rowsWritten }
  }
}
