/**
 * Work for controllers, stored in the transaction of the write that brought it, so that it is neither lost nor done
 * for a write that failed. Delivered right after the commit, and again by alarm until the receiver has taken it.
 */
import type { Clock } from '../src/api/clock.ts'
import { BoundedMap } from '../src/api/bounded-map.ts'
import { logError } from '../src/log/log.ts'
import type { OutboxReceiver } from '../src/storage/shard-protocol.ts'
import type { Statements } from './statements.ts'

/** Rows a delivery. */
const BATCH = 500
const FIRST_RETRY = 1_000
const LAST_RETRY = 60_000
/** Milliseconds to wait after a removal of rows that was never confirmed. */
const UNCONFIRMED_RETRY = 10_000

/**
 * Shards that began to remove rows, and when. This outlives an instance: if the disk takes no writes, the removal ends
 * the instance, and the next instance must not try it at once, or it would end its own callers as well.
 */
const unconfirmed = new BoundedMap<string, number>({ entries: 1_000 })

export class Outbox {
  private delivering = false
  private failures = 0

  constructor(
    private readonly shard: string,
    private readonly statements: Statements,
    private readonly receiver: OutboxReceiver | undefined,
    /** Resolves when all that was written is on disk. */
    private readonly sync: () => Promise<void>,
    private readonly now: Clock,
    /** Called when the delivery of everything that waits begins. */
    private readonly begins: () => void = () => {},
  ) {}

  /** @returns milliseconds after which to try again, undefined when all is delivered */
  async deliver(): Promise<number | undefined> {
    if (this.receiver === undefined || this.delivering) return undefined
    const since = this.now() - (unconfirmed.get(this.shard) ?? 0)
    if (since < UNCONFIRMED_RETRY) return UNCONFIRMED_RETRY - since
    this.delivering = true
    try {
      for (let rows = this.rows(); rows.length > 0; rows = this.rows()) {
        await this.receiver.receive(this.shard, rows)
        unconfirmed.set(this.shard, this.now())
        this.statements.deleteOutbox(rows.at(-1)!.seq)
        await this.sync()
        unconfirmed.delete(this.shard)
      }
      this.failures = 0
      return undefined
    } catch (error) {
      logError('an outbox was not delivered', { shard: this.shard, error })
      return Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.failures++)
    } finally {
      this.delivering = false
    }
  }

  private rows() {
    this.begins()
    return this.statements.oldestOutbox(BATCH).map(({ k, ...row }) => ({ ...row, key: k }))
  }
}
