/**
 * Work for controllers, stored in the transaction of the write that causes it, so that work is neither lost nor done
 * for a failed write. It is delivered right after the commit, and again by alarm until the receiver has taken it.
 * Delivered rows are removed in the commit of the next write, or in one of their own after a moment. An instance that
 * ends before that delivers them again, which controllers allow.
 */
import type { Clock } from '../src/base/clock.ts'
import { BoundedMap } from '../src/base/bounded-map.ts'
import { logError } from '../src/log/log.ts'
import type { CallDepth } from '../src/storage/shards/call-depth.ts'
import type { OutboxReceiver } from '../src/storage/shards/shard-protocol.ts'
import type { Statements } from './statements.ts'

/** Rows in one delivery. */
const BATCH = 500
const FIRST_RETRY = 1_000
const LAST_RETRY = 60_000
/** Milliseconds to wait after a removal that was not confirmed. */
const UNCONFIRMED_RETRY = 10_000
/** Milliseconds in which the commit of the next write may remove delivered rows. */
const REMOVE_AFTER = 100

/**
 * The time at which each shard began to remove rows. It outlives an instance: if the disk takes no writes, the
 * removal ends the instance. The next instance must not try at once, or it would end its own callers too.
 */
const unconfirmed = new BoundedMap<string, number>({ entries: 1_000 })

interface Parts {
  /** Resolves when all writes are on disk. */
  sync(): Promise<void>
  readonly now: Clock
  /** Called when a delivery of all waiting rows begins. */
  begins(): void
  readonly depth: Pick<CallDepth, 'isDeep' | 'next'>
}

export class Outbox {
  private delivering = false
  private failures = 0
  /** The last row that the receiver has taken and that is not removed yet. */
  private taken: number | undefined
  private removal: ReturnType<typeof setTimeout> | undefined
  /** A removal is in progress; nobody need wait for it. */
  private removing = false

  constructor(
    private readonly shard: string,
    private readonly statements: Statements,
    private readonly receiver: OutboxReceiver | undefined,
    private readonly parts: Parts,
  ) {}

  /**
   * @returns milliseconds after which to try again; 0: an alarm must do it; undefined where everything is delivered
   */
  async deliver(): Promise<number | undefined> {
    if (this.receiver === undefined || this.delivering) return undefined
    if (this.parts.depth.isDeep) return 0
    const since = this.parts.now() - (this.removing ? 0 : (unconfirmed.get(this.shard) ?? 0))
    if (since < UNCONFIRMED_RETRY) return UNCONFIRMED_RETRY - since
    this.delivering = true
    try {
      for (let rows = this.rows(); rows.length > 0; rows = this.rows()) {
        if (this.parts.depth.isDeep) return 0
        await this.receiver.receive(this.shard, rows, this.parts.depth.next)
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

  /** Whether the next commit may remove rows. */
  get hasTaken(): boolean {
    return this.taken !== undefined
  }

  /** Removes delivered rows in the commit of another write. */
  removeTaken(): void {
    if (this.taken === undefined) return
    if (this.removal !== undefined) clearTimeout(this.removal)
    this.removal = undefined
    this.statements.deleteOutbox(this.taken)
    this.taken = undefined
  }

  /** Removes delivered rows in a commit of its own. */
  async removeAlone(): Promise<void> {
    this.removing = true
    unconfirmed.set(this.shard, this.parts.now())
    try {
      this.removeTaken()
      await this.parts.sync()
      unconfirmed.delete(this.shard)
    } catch (error) {
      logError('what was delivered could not be removed from an outbox', { shard: this.shard, error })
    } finally {
      this.removing = false
    }
  }

  private rows() {
    this.parts.begins()
    return this.statements.oldestOutbox(BATCH, this.taken).map(({ k, ...row }) => ({ ...row, key: k }))
  }
}
