/**
 * A Durable Object that stores the objects of one or more resource types of a tenant, and knows none of their kinds.
 * This file is its surface. Reads and writes are RPC methods; lists and watches are fetches, because they stream.
 * Only src/storage/shard-client calls them.
 */
import type { ShardCalls } from '../src/storage/shards/object-calls.ts'
import { platformClock } from '../src/base/clock.ts'
import { logError } from '../src/log/log.ts'
import { settingsOf } from '../src/settings.ts'
import { DurableObject } from 'cloudflare:workers'
import { migrate } from '../migrations/index.ts'
import type { Env } from '../src/env.ts'
import { StorageError, databaseFailure } from '../src/storage/errors.ts'
import { encodeHeader } from '../src/storage/shards/shard-protocol.ts'
import type {
  Attempt,
  ListCall,
  ShardRefusal,
  ShardReply,
  ShardStats,
  ShardWrite,
  StoredText,
  WatchCall,
  Written,
  Several,
} from '../src/storage/shards/shard-protocol.ts'
import type {
  KeyedValue,
  NewValue,
  RestoreId,
  RestoredValue,
  Revision,
  ShardChanges,
  StoredValue,
  Storage,
} from '../src/storage/storage.ts'
import { historyOf } from '../src/storage/history.ts'
import { builtInPlace, customPlace, preferredIndex } from '../src/storage/revisions/places.ts'
import { CallDepth } from '../src/storage/shards/call-depth.ts'
import { answeredHere, notHere } from '../src/storage/shards/shards-here.ts'
import { AlarmClock } from './alarm-clock.ts'
import { newestChanges } from './changes.ts'
import { databaseProblem } from './check-database.ts'
import { DatabaseRemoval } from './database-removal.ts'
import { FirstWrite } from './first-write.ts'
import { Compactor } from './compactor.ts'
import { Expiry } from './expiry.ts'
import { allBelow } from './key-range.ts'
import { listAnswer } from './list-stream.ts'
import type { WriteOutcome } from './log.ts'
import { Log } from './log.ts'
import { Outbox } from './outbox.ts'
import { rowCounts } from './row-counts.ts'
import {
  controlShardOf,
  forgetInControlShard,
  receiverOf,
  shardNamed,
  takePlaceFor,
  tellControlShard,
} from './shard-neighbours.ts'
import { Housekeeping } from './housekeeping.ts'
import { failure, reply } from './replies.ts'
import { Restore } from './restore.ts'
import { RestoreLock } from './restore-lock.ts'
import { SealedValues } from './sealed-values.ts'
import { ShardUsage } from './shard-usage.ts'
import type { ChangeRow, Statements } from './statements.ts'
import { ADDED, statements } from './statements.ts'
import { WatchHub } from './watch-hub.ts'
import { WriteQueue } from './write-queue.ts'

/** UTF-16 units of objects that are read together. */
const SEVERAL_LENGTH = 256 * 1024

export class ResourceShard extends DurableObject<Env> implements ShardCalls {
  private readonly now = platformClock
  /** `TENANT/SHARD` */
  private readonly name: string
  private readonly usage: ShardUsage
  private readonly statements: Statements
  private readonly log: Log
  private readonly lock: RestoreLock
  private readonly restore: Restore
  private readonly writes: WriteQueue<WriteOutcome>
  private readonly watches: WatchHub
  /** RPC does not reach it, since RPC is for methods only. */
  readonly compactor: Compactor
  private readonly expiry: Expiry
  private readonly outbox: Outbox
  private readonly firstWrite: FirstWrite
  private readonly removal: DatabaseRemoval
  private readonly alarms: AlarmClock
  private readonly housekeeping: Housekeeping
  private readonly sealed: SealedValues
  private readonly depth: CallDepth

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    migrate(ctx.storage)
    const now = this.now
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
  private get control(): Storage {
    return controlShardOf(this.env, this.now, this.depth)
  }

  private woken(reason: string, depth?: number): void {
    this.mustHaveDatabase()
    this.usage.woken(reason)
    this.depth.called(depth)
  }

  /** Where the database was deleted, the caller makes its call again, which finds a new object. */
  private mustHaveDatabase(): void {
    if (this.removal.isDone) this.ctx.abort('the type of this shard is gone')
  }

  /** @returns the error of the database; undefined where it is readable */
  check(): string | undefined {
    this.mustHaveDatabase()
    return databaseProblem(this.ctx.storage.sql)
  }

  /** A caller of an earlier release passes no `asText`. */
  get(
    key: string,
    notOlderThan: Revision,
    keep: boolean,
    asText = false,
    depth?: number,
  ): ShardReply<StoredValue | undefined> | StoredText | undefined {
    this.woken('get', depth)
    try {
      this.lock.check()
      if (asText) return this.log.getText(key, notOlderThan, keep)
      return { value: this.log.get(key, notOlderThan, keep) }
    } catch (error) {
      return failure(error)
    }
  }

  /** As in Storage.occupied, with the collection's prefix. */
  occupied(prefix: string, namespaces: readonly string[], depth?: number): ShardReply<readonly string[]> {
    this.woken('occupied', depth)
    return reply(() => {
      this.lock.check()
      return namespaces.filter((namespace) => this.statements.isOccupied(allBelow(`${prefix}/${namespace}/`)))
    })
  }

  /** As in Storage.several, with the collection's prefix. The answer ends where it has SEVERAL_LENGTH. */
  several(prefix: string, keys: readonly string[], depth?: number): ShardReply<Several> {
    this.woken('several', depth)
    return reply(() => {
      this.lock.check()
      const found: { index: number; stored: StoredValue }[] = []
      let [looked, length] = [0, 0]
      while (looked < keys.length && length < SEVERAL_LENGTH) {
        const stored = this.log.get(`${prefix}/${keys[looked]!}`, 0)
        if (stored !== undefined) {
          found.push({ index: looked, stored })
          length += stored.text.length
        }
        looked++
      }
      return { looked, found }
    })
  }

  /** @param begun as in ShardWrite */
  create(key: string, value: NewValue, attempt: Attempt, begun?: number, depth?: number): Promise<ShardReply<Written>> {
    return this.write(() => this.log.create(key, this.sealed.noticed(value), attempt), begun, depth)
  }

  /** All creates join the queue in one turn, so they are one commit. */
  async createMissing(values: readonly KeyedValue[], attempt: Attempt, depth?: number): Promise<ShardReply<null>> {
    const replies = await Promise.all(
      values.map(({ key, value }) => this.create(key, value, attempt, undefined, depth)),
    )
    const failed = replies.find((reply) => 'error' in reply && reply.error.code !== 'KeyExists')
    return failed !== undefined && 'error' in failed ? failed : { value: null }
  }

  update(
    key: string,
    value: NewValue,
    expected: Revision,
    attempt: Attempt,
    begun?: number,
    depth?: number,
  ): Promise<ShardReply<Written>> {
    return this.write(() => this.log.update(key, this.sealed.noticed(value), expected, attempt), begun, depth)
  }

  delete(
    key: string,
    last: NewValue,
    expected: Revision,
    attempt: Attempt,
    begun?: number,
    depth?: number,
  ): Promise<ShardReply<Written>> {
    return this.write(() => this.log.delete(key, this.sealed.noticed(last), expected, attempt), begun, depth)
  }

  /**
   * Each write has its own outcome, as if it had been called alone. All join the queue in one turn, so they are one
   * commit.
   */
  writeTogether(writes: readonly ShardWrite[], attempt: Attempt, depth?: number): Promise<ShardReply<Written>[]> {
    return Promise.all(
      writes.map((write) => {
        const { verb, key, value, begun } = write
        return verb === 'create'
          ? this.create(key, value, attempt, begun, depth)
          : this[verb](key, value, write.expected, attempt, begun, depth)
      }),
    )
  }

  /** @param unchangedSince as in Storage.lock */
  lockForRestore(restore: RestoreId, unchangedSince?: Revision): ShardReply<null> {
    return this.restoring(() => this.restore.begin(restore, unchangedSince))
  }

  lockedKeys(prefix: string, restore: RestoreId): ShardReply<readonly string[]> {
    return reply(() => this.restore.keys(prefix, restore))
  }

  clearForRestore(restore: RestoreId, first: readonly RestoredValue[] = []): ShardReply<null> {
    return this.restoring(() => {
      this.restore.clear(restore)
      this.putRestored(restore, first)
    })
  }

  restoreValues(restore: RestoreId, values: readonly RestoredValue[]): ShardReply<null> {
    return this.restoring(() => this.putRestored(restore, values))
  }

  private putRestored(restore: RestoreId, values: readonly RestoredValue[]): void {
    this.restore.put(restore, values, (value) => this.sealed.noticed(value))
  }

  unlockRestored(restore: RestoreId, cut: Revision): ShardReply<null> {
    return this.restoring(() => {
      this.restore.end(restore, cut)
      this.alarms.wakeAt(this.now())
    })
  }

  /** Callers of an earlier release, which are backups, pass no holder. */
  hold(revision: Revision, milliseconds: number, holder = 'backup'): ShardReply<null> {
    this.woken('hold')
    const now = this.now()
    return reply(() => {
      this.ctx.storage.transactionSync(() => this.statements.hold(holder, revision, now + milliseconds, now))
      return null
    })
  }

  /**
   * Ends all watches, and allows none to begin before now. Only for shards of one resource.
   * @param since does nothing where watches were ended after this revision
   */
  async renew(since?: Revision, depth?: number): Promise<ShardReply<null>> {
    this.woken('renew', depth)
    if (this.log.renew(since)) this.watches.end()
    return { value: null }
  }

  /** Removes this shard from the control shard's list where it is empty. For the shard of a deleted type. */
  async retire(depth?: number): Promise<ShardReply<null>> {
    this.woken('retire', depth)
    try {
      this.lock.check()
      await this.firstWrite.retire({
        settled: () => this.writes.settled(),
        isEmpty: () => this.statements.isEmpty(),
        forget: () =>
          forgetInControlShard(this.control, shardNamed(this.name), this.firstWrite.placeIndex, this.log.last),
      })
      this.housekeeping.wakeAfterRetirement()
      return { value: null }
    } catch (error) {
      return failure(error)
    }
  }

  revision(depth?: number): Revision {
    this.woken('revision', depth)
    return this.log.last
  }

  /** Callers of an earlier release pass only `since`. */
  changes(
    since: Revision | undefined,
    resetAt?: Revision,
    keep?: boolean,
    depth?: number,
  ): ShardChanges | ShardRefusal {
    this.woken('changes', depth)
    if (this.lock.isHeld) return failure(new StorageError('Restoring'))
    answeredHere(this.name, this.log.newest, this.now())
    return newestChanges(this.log, this.statements, since, resetAt, keep)
  }

  async stats(): Promise<ShardStats> {
    this.mustHaveDatabase()
    const counts = await rowCounts(this.statements)
    return {
      ...this.usage.report(this.now()),
      constructed: this.statements.meta('constructed'),
      name: this.name,
      ...counts,
      deepest: this.depth.deepest,
      sockets: this.ctx.getWebSockets().length,
      databaseBytes: this.ctx.storage.sql.databaseSize,
      revision: this.log.last,
      floor: this.log.floor,
      ...(this.compactor.lastRun === undefined ? {} : { lastCompaction: this.compactor.lastRun }),
    }
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const reason = pathname.slice(1)
    try {
      // only shard-client sends these calls
      const list = reason === 'list' ? ((await request.json()) as ListCall) : undefined
      this.woken(reason, list?.depth)
      this.lock.check()
      if (list !== undefined) return await this.list(list)
      const call = JSON.parse(searchParams.get('q')!) as WatchCall
      this.sealed.checkOpens(call)
      return this.watches.accept(call, searchParams.get('keep') !== 'false')
    } catch (error) {
      return new Response(null, { headers: encodeHeader(failure(error)) })
    }
  }

  private async list(call: ListCall): Promise<Response> {
    this.sealed.checkOpens(call)
    return listAnswer(await this.log.select(call), call, this.statements)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    this.woken('message')
    await this.watches.message(socket, message)
  }

  override webSocketClose(socket: WebSocket): void {
    this.woken('close')
    this.watches.closed(socket)
  }

  override webSocketError(socket: WebSocket): void {
    this.watches.closed(socket)
  }

  override async alarm(): Promise<void> {
    this.usage.woken('alarm')
    this.depth.rang()
    await this.housekeeping.rang()
  }

  /** One step of a restore, done wholly or not at all. */
  private restoring(step: () => void): ShardReply<null> {
    this.woken('restore')
    notHere(this.name) // later calls of this isolate then learn that the shard is locked
    return reply(() => {
      this.log.attempt(() => this.lock.attempt(() => this.ctx.storage.transactionSync(step)))
      return null
    })
  }

  private async write(write: () => WriteOutcome, begun?: number, depth?: number): Promise<ShardReply<Written>> {
    this.woken('write', depth)
    try {
      await this.firstWrite.announced()
      const { written } = await this.writes.run(() => {
        this.lock.checkBegun(begun)
        return write()
      })
      return { value: written }
    } catch (error) {
      return failure(error)
    }
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
