/**
 * Work for controllers, stored in the transaction of the write that brought it, so that it is neither lost nor done
 * for a write that failed. Delivered right after the commit, and again by alarm until the receiver has taken it.
 *
 * What was taken is removed in the commit of the next write, or after a moment: a commit of its own would wait for the
 * disk once more. An instance that ends before that delivers it again, which controllers do not mind.
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
/** Milliseconds in which the next write may remove what was taken. */
const REMOVE_AFTER = 100

/**
 * Shards that began to remove rows, and when. This outlives an instance: if the disk takes no writes, the removal ends
 * the instance, and the next instance must not try it at once, or it would end its own callers as well.
 */
const unconfirmed = new BoundedMap<string, number>({ entries: 1_000 })

export class Outbox {
  private delivering = false
  private failures = 0
  /** The last row that the receiver took and that is still there. */
  private taken: number | undefined
  private removal: ReturnType<typeof setTimeout> | undefined
  /** This instance waits for the end of a removal, which need not be waited for. */
  private removing = false

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
    const since = this.now() - (this.removing ? 0 : (unconfirmed.get(this.shard) ?? 0))
    if (since < UNCONFIRMED_RETRY) return UNCONFIRMED_RETRY - since
    this.delivering = true
    try {
      for (let rows = this.rows(); rows.length > 0; rows = this.rows()) {
        await this.receiver.receive(this.shard, rows)
        this.taken = rows.at(-1)!.seq
      }
      this.failures = 0
      return undefined
    } catch (error) {
      logError('an outbox was not delivered', { shard: this.shard, error })
      return Math.min(LAST_RETRY, FIRST_RETRY * 2 ** this.failures++)
    } finally {
      this.delivering = false
      if (this.taken !== undefined) this.removal ??= setTimeout(() => void this.removeAlone(), REMOVE_AFTER)
    }
  }

  /** Whether the next commit may remove something. */
  get hasTaken(): boolean {
    return this.taken !== undefined
  }

  /** Removes what was taken, in a commit that there is in any case. */
  removeTaken(): void {
    if (this.taken === undefined) return
    if (this.removal !== undefined) clearTimeout(this.removal)
    this.removal = undefined
    this.statements.deleteOutbox(this.taken)
    this.taken = undefined
  }

  /** The same in a commit of its own. */
  async removeAlone(): Promise<void> {
    this.removing = true
    unconfirmed.set(this.shard, this.now())
    try {
      this.removeTaken()
      await this.sync()
      unconfirmed.delete(this.shard)
    } catch (error) {
      logError('what was delivered could not be removed from an outbox', { shard: this.shard, error })
    } finally {
      this.removing = false
    }
  }

  private rows() {
    this.begins()
    return this.statements.oldestOutbox(BATCH, this.taken).map(({ k, ...row }) => ({ ...row, key: k }))
  }
}
