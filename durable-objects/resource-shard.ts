/**
 * A Durable Object that stores the objects of one or more resource types of a tenant, and knows none of their kinds:
 * its surface. Reads and writes are RPC methods, lists and watches are fetches (they stream), all called by
 * src/storage/shard-client and by nobody else.
 */
import type { ShardCalls } from '../src/storage/object-calls.ts'
import { platformClock } from '../src/api/clock.ts'
import { logError } from '../src/log/log.ts'
import { settingsOf } from '../src/settings.ts'
import { DurableObject } from 'cloudflare:workers'
import { migrate } from '../migrations/index.ts'
import type { Env } from '../src/env.ts'
import { SEALED } from '../src/storage/sealing.ts'
import { StorageError, databaseFailure } from '../src/storage/errors.ts'
import { encodeHeader } from '../src/storage/shard-protocol.ts'
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
} from '../src/storage/shard-protocol.ts'
import type {
  KeyedValue,
  NewValue,
  RestoreId,
  RestoredValue,
  Revision,
  ShardChanges,
  StoredValue,
} from '../src/storage/storage.ts'
import { historyOf } from '../src/storage/history.ts'
import { builtInPlace, customPlace, preferredIndex } from '../src/storage/places.ts'
import { answeredHere, notHere } from '../src/storage/shards-here.ts'
import { AlarmClock } from './alarm-clock.ts'
import { newestChanges } from './changes.ts'
import { databaseProblem } from './check-database.ts'
import { FirstWrite } from './first-write.ts'
import { Compactor } from './compactor.ts'
import { Expiry } from './expiry.ts'
import { listAnswer } from './list-stream.ts'
import type { WriteOutcome } from './log.ts'
import { Log } from './log.ts'
import { Outbox } from './outbox.ts'
import { forgetInControlShard, receiverOf, shardNamed, takePlaceFor, tellControlShard } from './shard-neighbours.ts'
import { failure, reply } from './replies.ts'
import { Restore } from './restore.ts'
import { RestoreLock } from './restore-lock.ts'
import { ShardUsage } from './shard-usage.ts'
import type { ChangeRow, Statements } from './statements.ts'
import { ADDED, statements } from './statements.ts'
import { WatchHub } from './watch-hub.ts'
import { WriteQueue } from './write-queue.ts'

const TIDY_AGAIN = 60_000
/** Milliseconds after which an alarm delivers the outbox again, in case the instance ended before the delivery. */
const DELIVER_AGAIN = 300_000
/** Milliseconds. A retry that is due later is left to the alarm, because a timer keeps the object awake. */
const LAST_TIMER = 10_000
/** Milliseconds that the shard leaves to requests between two pieces of its own work, which take one or two each. */
const BETWEEN = 20

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
  /** Not reached by RPC, which is for methods only. */
  readonly compactor: Compactor
  private readonly expiry: Expiry
  private readonly outbox: Outbox
  private readonly firstWrite: FirstWrite
  private readonly alarms: AlarmClock
  /** Whether a value was ever stored that is sealed. */
  private isSealed: boolean

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    migrate(ctx.storage)
    const now = this.now
    this.usage = new ShardUsage(now())
    this.statements = statements(ctx.storage.sql, (read, written) => this.usage.count(read, written))
    this.isSealed = this.statements.meta('sealed') === 1
    const settings = settingsOf(env)
    if (settings.countsWakes) this.statements.setMeta('constructed', this.statements.meta('constructed') + 1)
    this.name = this.ownName()
    notHere(this.name) // an earlier instance may have been
    const shard = shardNamed(this.name)
    const history = historyOf(settings.history, this.name)
    this.lock = new RestoreLock(this.statements)
    const ownPlace = builtInPlace(shard.shard)
    this.firstWrite = new FirstWrite(
      this.statements,
      () => tellControlShard(env, now, shard),
      ownPlace === undefined ? () => takePlaceFor(env, now, shard) : undefined,
      ({ index, since }) => this.log.takePlace(customPlace(index), since),
    )
    // before its first write a shard gives numbers to no object
    const place = ownPlace ?? customPlace(this.firstWrite.placeIndex ?? preferredIndex(shard.shard))
    this.log = new Log(this.statements, now, history.retention, place)
    this.watches = new WatchHub(ctx, this.log, this.statements)
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
      () => this.yieldToWriters(),
    )
    this.expiry = new Expiry(
      this.log,
      this.statements,
      history,
      (write) => this.writes.run(write),
      now,
      () => this.yieldToWriters(),
    )
    const begins = () => this.log.pendingWork.deliveryBegins()
    this.outbox = new Outbox(this.name, this.statements, receiverOf(env, shard), () => ctx.storage.sync(), now, begins)
    this.alarms = new AlarmClock(ctx.storage)
    void ctx.blockConcurrencyWhile(() => this.alarms.load())
    // An earlier instance may have ended between a commit and its delivery.
    if (this.statements.oldestOutbox(1).length > 0) ctx.waitUntil(this.deliver())
  }

  /** @returns what is wrong with the database; undefined: nothing */
  check(): string | undefined {
    return databaseProblem(this.ctx.storage.sql)
  }

  /** A caller of an earlier release passes no `asText`. */
  get(
    key: string,
    notOlderThan: Revision,
    keep: boolean,
    asText = false,
  ): ShardReply<StoredValue | undefined> | StoredText | undefined {
    this.usage.woken('get')
    try {
      this.lock.check()
      if (asText) return this.log.getText(key, notOlderThan, keep)
      return { value: this.log.get(key, notOlderThan, keep) }
    } catch (error) {
      return failure(error)
    }
  }

  create(key: string, value: NewValue, attempt: Attempt): Promise<ShardReply<Written>> {
    return this.write(() => this.log.create(key, this.noticed(value), attempt))
  }

  /** They come in one turn of the queue: one commit. */
  async createMissing(values: readonly KeyedValue[], attempt: Attempt): Promise<ShardReply<null>> {
    const replies = await Promise.all(values.map(({ key, value }) => this.create(key, value, attempt)))
    const failed = replies.find((reply) => 'error' in reply && reply.error.code !== 'KeyExists')
    return failed !== undefined && 'error' in failed ? failed : { value: null }
  }

  update(key: string, value: NewValue, expected: Revision, attempt: Attempt): Promise<ShardReply<Written>> {
    return this.write(() => this.log.update(key, this.noticed(value), expected, attempt))
  }

  delete(key: string, last: NewValue, expected: Revision, attempt: Attempt): Promise<ShardReply<Written>> {
    return this.write(() => this.log.delete(key, this.noticed(last), expected, attempt))
  }

  /** Each as if it had been called alone. They come in one turn of the queue: one commit. */
  writeTogether(writes: readonly ShardWrite[], attempt: Attempt): Promise<ShardReply<Written>[]> {
    return Promise.all(
      writes.map((write) => {
        const { verb, key, value } = write
        return verb === 'create' ? this.create(key, value, attempt) : this[verb](key, value, write.expected, attempt)
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

  clearForRestore(restore: RestoreId): ShardReply<null> {
    return this.restoring(() => this.restore.clear(restore))
  }

  restoreValues(restore: RestoreId, values: readonly RestoredValue[]): ShardReply<null> {
    return this.restoring(() => {
      this.restore.put(restore, values, (value) => this.noticed(value))
    })
  }

  unlockRestored(restore: RestoreId, cut: Revision): ShardReply<null> {
    return this.restoring(() => {
      this.restore.end(restore, cut)
      this.alarms.wakeAt(this.now())
    })
  }

  /** A caller of an earlier release, which is a backup, names no holder. */
  hold(revision: Revision, milliseconds: number, holder = 'backup'): ShardReply<null> {
    this.usage.woken('hold')
    const now = this.now()
    return reply(() => {
      this.ctx.storage.transactionSync(() => this.statements.hold(holder, revision, now + milliseconds, now))
      return null
    })
  }

  /**
   * Watches end, and none begins before this. Only for shards of one resource.
   * @param since does nothing if watches were ended after this revision
   */
  async renew(since?: Revision): Promise<ShardReply<null>> {
    this.usage.woken('renew')
    if (this.log.renew(since)) this.watches.end()
    return { value: null }
  }

  /** The control shard forgets this one, if it is empty. For the shard of a type that went. */
  async retire(): Promise<ShardReply<null>> {
    this.usage.woken('retire')
    try {
      this.lock.check()
      await this.firstWrite.retire({
        settled: () => this.writes.settled(),
        isEmpty: () => this.statements.isEmpty(),
        forget: () =>
          forgetInControlShard(this.env, this.now, shardNamed(this.name), this.firstWrite.placeIndex, this.log.last),
      })
      return { value: null }
    } catch (error) {
      return failure(error)
    }
  }

  revision(): Revision {
    this.usage.woken('revision')
    return this.log.last
  }

  /** A caller of an earlier release passes `since` alone. */
  changes(since: Revision | undefined, resetAt?: Revision, keep?: boolean): ShardChanges | ShardRefusal {
    this.usage.woken('changes')
    if (this.lock.isHeld) return failure(new StorageError('Restoring'))
    answeredHere(this.name, this.log.newest, this.now())
    return newestChanges(this.log, this.statements, since, resetAt, keep)
  }

  stats(): ShardStats {
    return {
      ...this.usage.report(this.now()),
      constructed: this.statements.meta('constructed'),
      name: this.name,
      ...this.statements.counts(),
      sockets: this.ctx.getWebSockets().length,
      databaseBytes: this.ctx.storage.sql.databaseSize,
      revision: this.log.last,
      floor: this.log.floor,
      ...(this.compactor.lastRun === undefined ? {} : { lastCompaction: this.compactor.lastRun }),
    }
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    this.usage.woken(pathname.slice(1))
    try {
      this.lock.check()
      // Both calls are written by shard-client alone.
      if (pathname === '/list') return await this.list((await request.json()) as ListCall)
      const call = JSON.parse(searchParams.get('q')!) as WatchCall
      this.checkOpens(call)
      return this.watches.accept(call, searchParams.get('keep') !== 'false')
    } catch (error) {
      return new Response(null, { headers: encodeHeader(failure(error)) })
    }
  }

  private async list(call: ListCall): Promise<Response> {
    this.checkOpens(call)
    return listAnswer(await this.log.select(call), call, this.statements)
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.usage.woken('message')
    this.watches.message(socket, message)
  }

  override webSocketClose(socket: WebSocket): void {
    this.usage.woken('close')
    this.watches.closed(socket)
  }

  override webSocketError(socket: WebSocket): void {
    this.watches.closed(socket)
  }

  override async alarm(): Promise<void> {
    this.usage.woken('alarm')
    this.alarms.rang()
    if (this.lock.isHeld) return
    try {
      await this.expiry.run()
      await this.compactor.run()
      this.alarms.wakeAt(this.compactor.due())
      this.alarms.wakeAt(this.expiry.due())
    } catch (error) {
      // The platform would try it six times and then never again.
      logError('a shard could not be tidied up', { shard: this.name, error })
      this.alarms.wakeAt(this.now() + TIDY_AGAIN)
    }
    const retryAfter = await this.outbox.deliver()
    if (retryAfter !== undefined) this.alarms.wakeAt(this.now() + retryAfter)
  }

  /** A step of a restore: all of it or nothing. */
  private restoring(step: () => void): ShardReply<null> {
    this.usage.woken('restore')
    notHere(this.name) // who asks is told that it is locked
    return reply(() => {
      this.log.attempt(() => this.lock.attempt(() => this.ctx.storage.transactionSync(step)))
      return null
    })
  }

  /** A shard with sealed values answers only callers that can open them. */
  private noticed(value: NewValue): NewValue {
    if (!this.isSealed && value.text.startsWith(SEALED)) {
      this.statements.setMeta('sealed', 1)
      this.isSealed = true
    }
    return value
  }

  /** A caller without keys must not take an encrypted envelope for an object. */
  private checkOpens({ prefix, opens }: ListCall | WatchCall): void {
    if (this.isSealed && opens !== true) throw new StorageError('Sealed', 0, 0, `${prefix}: it is encrypted`)
  }

  private async write(write: () => WriteOutcome): Promise<ShardReply<Written>> {
    this.usage.woken('write')
    try {
      await this.firstWrite.announced()
      const { written } = await this.writes.run(write)
      return { value: written }
    } catch (error) {
      return failure(error)
    }
  }

  /**
   * A disk that fails in the middle of a turn may have undone other writes of the turn as well. So the object restarts
   * from what is on disk.
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
    if (hasWork) this.alarms.wakeAt(this.now() + Math.min(this.log.retention, DELIVER_AGAIN))
    if (changes.some(({ t }) => t !== ADDED)) this.alarms.wakeAt(this.now() + this.log.retention)
    this.alarms.wakeAt(this.compactor.isPressed ? this.now() : this.expiry.dueOfNew())
    if (hasWork) this.ctx.waitUntil(this.deliver())
  }

  /** The write stays. Watchers that could not be sent the event are disconnected and read it from the log. */
  private publish(changes: readonly ChangeRow[]): void {
    try {
      this.watches.publish(changes)
    } catch (error) {
      logError('changes could not be sent to watchers, who begin again', { shard: this.name, error })
      this.watches.interrupt()
    }
  }

  /** A call carries the name of the object, an alarm may not. Without its name the shard refuses everything. */
  private ownName(): string {
    const kept = this.statements.name()
    const name = this.ctx.id.name ?? kept
    if (name === undefined) throw new Error('assertion failed: a shard does not know its name')
    if (kept === undefined) this.statements.setName(name)
    return name
  }

  /** Between two pieces of the shard's own work: while there are writers, they get most of the time. */
  private async yieldToWriters(): Promise<void> {
    const before = this.writes.flushes
    await pause(0)
    if (this.writes.flushes !== before) await pause(BETWEEN)
  }

  /** After a failure nothing is written, since that might fail as well. The alarm that the write has set comes in any case. */
  private async deliver(): Promise<void> {
    if (this.lock.isHeld) return
    const retryAfter = await this.outbox.deliver()
    if (retryAfter !== undefined && retryAfter <= LAST_TIMER) setTimeout(() => void this.deliver(), retryAfter)
  }
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
