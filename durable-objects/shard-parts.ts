/** The parts of a shard, each built on those above it, and what follows a commit. */
import type { Clock } from '../src/base/clock.ts'
import { logError } from '../src/log/log.ts'
import { settingsOf } from '../src/settings.ts'
import { migrate } from '../migrations/index.ts'
import type { Env } from '../src/env.ts'
import { StorageError, databaseFailure } from '../src/storage/errors.ts'
import type { Storage } from '../src/storage/storage.ts'
import { historyOf } from '../src/storage/history.ts'
import { builtInPlace, customPlace, preferredIndex } from '../src/storage/revisions/places.ts'
import { CallDepth } from '../src/storage/shards/call-depth.ts'
import { notHere } from '../src/storage/shards/shards-here.ts'
import { AlarmClock } from './alarm-clock.ts'
import { DatabaseRemoval } from './database-removal.ts'
import { FirstWrite } from './first-write.ts'
import { Compactor } from './compactor.ts'
import { Expiry } from './expiry.ts'
import type { WriteOutcome } from './log.ts'
import { Log } from './log.ts'
import { Outbox } from './outbox.ts'
import { controlShardOf, receiverOf, shardNamed, takePlaceFor, tellControlShard } from './shard-neighbours.ts'
import { Housekeeping } from './housekeeping.ts'
import { Restore } from './restore.ts'
import { RestoreLock } from './restore-lock.ts'
import { SealedValues } from './sealed-values.ts'
import { ShardUsage } from './shard-usage.ts'
import type { ChangeRow, Statements } from './statements.ts'
import { ADDED, statements } from './statements.ts'
import { WatchHub } from './watch-hub.ts'
import { WriteQueue } from './write-queue.ts'

export class ShardParts {
  /** `TENANT/SHARD` */
  readonly name: string
  readonly usage: ShardUsage
  readonly statements: Statements
  readonly log: Log
  readonly lock: RestoreLock
  readonly restore: Restore
  readonly writes: WriteQueue<WriteOutcome>
  readonly watches: WatchHub
  readonly compactor: Compactor
  readonly expiry: Expiry
  readonly outbox: Outbox
  readonly firstWrite: FirstWrite
  readonly removal: DatabaseRemoval
  readonly alarms: AlarmClock
  readonly housekeeping: Housekeeping
  readonly sealed: SealedValues
  readonly depth: CallDepth

  constructor(
    private readonly ctx: DurableObjectState,
    private readonly env: Env,
    private readonly now: Clock,
  ) {
    migrate(ctx.storage)
    this.usage = new ShardUsage(now())
    this.statements = statements(ctx.storage.sql, (read, written) => this.usage.count(read, written))
    this.sealed = new SealedValues(this.statements)
    const settings = settingsOf(env)
    this.depth = new CallDepth(settings.subrequests !== Infinity)
    if (settings.countsWakes) this.statements.setMeta('constructed', this.statements.meta('constructed') + 1)
    this.name = this.ownName()
    notHere(this.name) // an earlier instance may have been in this isolate
    const shard = shardNamed(this.name)
    const history = historyOf(settings.history, this.name, settings.eventLifetime)
    this.lock = new RestoreLock(this.statements, now)
    const ownPlace = builtInPlace(shard.shard)
    this.firstWrite = new FirstWrite(
      this.statements,
      () => tellControlShard(this.control, shard),
      ownPlace === undefined ? () => takePlaceFor(this.control, shard) : undefined,
      ({ index, since }) => this.log.takePlace(customPlace(index), since),
    )
    // no object has a revision before the shard's first write
    const place = ownPlace ?? customPlace(this.firstWrite.placeIndex ?? preferredIndex(shard.shard))
    this.log = new Log(this.statements, now, history.retention, place)
    this.watches = new WatchHub(ctx, this.log, this.statements, settings.watches)
    this.restore = new Restore(this.lock, this.log, this.statements, this.watches, this.firstWrite)
    this.writes = new WriteQueue(
      (write) => {
        this.lock.check()
        return this.log.attempt(() => this.transact(write))
      },
      (outcomes) => this.committed(outcomes),
    )
    this.compactor = new Compactor(
      this.log,
      this.statements,
      history,
      (work) => ctx.storage.transactionSync(work),
      now,
      () => this.writes.yieldToWriters(),
    )
    this.expiry = new Expiry(
      this.log,
      this.statements,
      history,
      (write) => this.writes.run(write),
      now,
      () => this.writes.yieldToWriters(),
    )
    const begins = () => this.log.pendingWork.deliveryBegins()
    this.outbox = new Outbox(this.name, this.statements, receiverOf(env, shard), {
      sync: () => ctx.storage.sync(),
      now,
      begins,
      depth: this.depth,
    })
    this.removal = new DatabaseRemoval({
      log: this.log,
      statements: this.statements,
      firstWrite: this.firstWrite,
      lock: this.lock,
      watches: () => ctx.getWebSockets().length,
      now,
      deleteAll: () => ctx.storage.deleteAll(),
    })
    this.alarms = new AlarmClock(ctx.storage)
    this.housekeeping = new Housekeeping(this.name, {
      log: this.log,
      lock: this.lock,
      compactor: this.compactor,
      expiry: this.expiry,
      outbox: this.outbox,
      removal: this.removal,
      alarms: this.alarms,
      now,
    })
    void ctx.blockConcurrencyWhile(() => this.alarms.load())
    // an earlier instance may have ended between a commit and its delivery
    if (this.statements.oldestOutbox(1).length > 0) ctx.waitUntil(this.housekeeping.deliver())
  }

  /** The control shard, as this shard calls it. */
  get control(): Storage {
    return controlShardOf(this.env, this.now, this.depth)
  }

  /**
   * A disk that fails in the middle of a turn may have undone other writes of the turn too. So the object restarts
   * from the state on disk.
   */
  private transact<Outcome>(write: () => Outcome): Outcome {
    try {
      return this.ctx.storage.transactionSync(write)
    } catch (error) {
      const failure = error instanceof StorageError ? undefined : databaseFailure(error)
      if (failure === 'Full' || failure === 'Failed') this.ctx.abort(String(error))
      throw error
    }
  }

  private committed(outcomes: readonly WriteOutcome[]): void {
    const changes = outcomes.flatMap(({ change }) => (change === undefined ? [] : [change]))
    if (this.outbox.hasTaken) this.transact(() => this.outbox.removeTaken())
    this.publish(changes)
    const hasWork = outcomes.some((outcome) => outcome.hasWork)
    this.housekeeping.wakeAfter(
      changes.some(({ t }) => t !== ADDED),
      hasWork,
    )
    if (hasWork) this.ctx.waitUntil(this.housekeeping.deliver())
  }

  /**
   * Sends changes to watchers. A failure does not undo the write: the watchers are disconnected, and read the events
   * from the log.
   */
  private publish(changes: readonly ChangeRow[]): void {
    try {
      this.watches.publish(changes)
    } catch (error) {
      logError('changes could not be sent to watchers, who begin again', { shard: this.name, error })
      this.watches.interrupt()
    }
  }

  /** A call carries the object's name. An alarm may not, and without its name the shard refuses everything. */
  private ownName(): string {
    const kept = this.statements.name()
    const name = this.ctx.id.name ?? kept
    if (name === undefined) throw new Error('assertion failed: a shard does not know its name')
    if (kept === undefined) this.statements.setName(name)
    return name
  }
}
