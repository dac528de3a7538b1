/**
 * A Durable Object that stores the objects of one or more resource types of a tenant, and knows none of their kinds.
 * This file is its surface. Reads and writes are RPC methods; lists and watches are fetches, because they stream.
 * Only src/storage/shard-client calls them.
 */
import type { ShardCalls } from '../src/storage/shards/object-calls.ts'
import { platformClock } from '../src/base/clock.ts'
import { DurableObject } from 'cloudflare:workers'
import type { Env } from '../src/env.ts'
import { StorageError } from '../src/storage/errors.ts'
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
} from '../src/storage/storage.ts'
import { answeredHere, notHere } from '../src/storage/shards/shards-here.ts'
import { newestChanges } from './changes.ts'
import { databaseProblem } from './check-database.ts'
import { allBelow } from './key-range.ts'
import { listAnswer } from './list-stream.ts'
import type { WriteOutcome } from './log.ts'
import { rowCounts } from './row-counts.ts'
import { forgetInControlShard, shardNamed } from './shard-neighbours.ts'
import { failure, reply } from './replies.ts'
import { ShardParts } from './shard-parts.ts'

/** UTF-16 units of objects that are read together. */
const SEVERAL_LENGTH = 256 * 1024

export class ResourceShard extends DurableObject<Env> implements ShardCalls {
  private readonly now = platformClock
  /** RPC does not reach it, since RPC is for methods only. */
  readonly parts: ShardParts

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.parts = new ShardParts(ctx, env, this.now)
  }

  private woken(reason: string, depth?: number): void {
    this.mustHaveDatabase()
    this.parts.usage.woken(reason)
    this.parts.depth.called(depth)
  }

  /** Where the database was deleted, the caller makes its call again, which finds a new object. */
  private mustHaveDatabase(): void {
    if (this.parts.removal.isDone) this.ctx.abort('the type of this shard is gone')
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
      this.parts.lock.check()
      if (asText) return this.parts.log.getText(key, notOlderThan, keep)
      return { value: this.parts.log.get(key, notOlderThan, keep) }
    } catch (error) {
      return failure(error)
    }
  }

  /** As in Storage.occupied, with the collection's prefix. */
  occupied(prefix: string, namespaces: readonly string[], depth?: number): ShardReply<readonly string[]> {
    this.woken('occupied', depth)
    return reply(() => {
      this.parts.lock.check()
      return namespaces.filter((namespace) => this.parts.statements.isOccupied(allBelow(`${prefix}/${namespace}/`)))
    })
  }

  /** As in Storage.several, with the collection's prefix. The answer ends where it has SEVERAL_LENGTH. */
  several(prefix: string, keys: readonly string[], depth?: number): ShardReply<Several> {
    this.woken('several', depth)
    return reply(() => {
      this.parts.lock.check()
      const found: { index: number; stored: StoredValue }[] = []
      let [looked, length] = [0, 0]
      while (looked < keys.length && length < SEVERAL_LENGTH) {
        const stored = this.parts.log.get(`${prefix}/${keys[looked]!}`, 0)
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
    return this.write(() => this.parts.log.create(key, this.parts.sealed.noticed(value), attempt), begun, depth)
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
    return this.write(
      () => this.parts.log.update(key, this.parts.sealed.noticed(value), expected, attempt),
      begun,
      depth,
    )
  }

  delete(
    key: string,
    last: NewValue,
    expected: Revision,
    attempt: Attempt,
    begun?: number,
    depth?: number,
  ): Promise<ShardReply<Written>> {
    return this.write(
      () => this.parts.log.delete(key, this.parts.sealed.noticed(last), expected, attempt),
      begun,
      depth,
    )
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
    return this.restoring(() => this.parts.restore.begin(restore, unchangedSince))
  }

  lockedKeys(prefix: string, restore: RestoreId): ShardReply<readonly string[]> {
    return reply(() => this.parts.restore.keys(prefix, restore))
  }

  clearForRestore(restore: RestoreId, first: readonly RestoredValue[] = []): ShardReply<null> {
    return this.restoring(() => {
      this.parts.restore.clear(restore)
      this.putRestored(restore, first)
    })
  }

  restoreValues(restore: RestoreId, values: readonly RestoredValue[]): ShardReply<null> {
    return this.restoring(() => this.putRestored(restore, values))
  }

  private putRestored(restore: RestoreId, values: readonly RestoredValue[]): void {
    this.parts.restore.put(restore, values, (value) => this.parts.sealed.noticed(value))
  }

  unlockRestored(restore: RestoreId, cut: Revision): ShardReply<null> {
    return this.restoring(() => {
      this.parts.restore.end(restore, cut)
      this.parts.alarms.wakeAt(this.now())
    })
  }

  /** Callers of an earlier release, which are backups, pass no holder. */
  hold(revision: Revision, milliseconds: number, holder = 'backup'): ShardReply<null> {
    this.woken('hold')
    const now = this.now()
    return reply(() => {
      this.parts.log.attempt(() =>
        this.ctx.storage.transactionSync(() => {
          this.parts.log.promise(revision)
          this.parts.statements.hold(holder, revision, now + milliseconds, now)
        }),
      )
      return null
    })
  }

  /**
   * Ends all watches, and allows none to begin before now. Only for shards of one resource.
   * @param since does nothing where watches were ended after this revision
   */
  async renew(since?: Revision, depth?: number): Promise<ShardReply<null>> {
    this.woken('renew', depth)
    if (this.parts.log.renew(since)) this.parts.watches.end()
    return { value: null }
  }

  /** Removes this shard from the control shard's list where it is empty. For the shard of a deleted type. */
  async retire(depth?: number): Promise<ShardReply<null>> {
    this.woken('retire', depth)
    try {
      this.parts.lock.check()
      await this.parts.firstWrite.retire({
        settled: () => this.parts.writes.settled(),
        isEmpty: () => this.parts.statements.isEmpty(),
        forget: () =>
          forgetInControlShard(
            this.parts.control,
            shardNamed(this.parts.name),
            this.parts.firstWrite.placeIndex,
            this.parts.log.last,
          ),
      })
      this.parts.housekeeping.wakeAfterRetirement()
      return { value: null }
    } catch (error) {
      return failure(error)
    }
  }

  revision(depth?: number): Revision {
    this.woken('revision', depth)
    return this.parts.log.last
  }

  /** Callers of an earlier release pass only `since`. */
  changes(
    since: Revision | undefined,
    resetAt?: Revision,
    keep?: boolean,
    depth?: number,
  ): ShardChanges | ShardRefusal {
    this.woken('changes', depth)
    if (this.parts.lock.isHeld) return failure(new StorageError('Restoring'))
    answeredHere(this.parts.name, this.parts.log.newest, this.now())
    return newestChanges(this.parts.log, this.parts.statements, since, resetAt, keep)
  }

  async stats(): Promise<ShardStats> {
    this.mustHaveDatabase()
    const counts = await rowCounts(this.parts.statements)
    return {
      ...this.parts.usage.report(this.now()),
      constructed: this.parts.statements.meta('constructed'),
      name: this.parts.name,
      ...counts,
      deepest: this.parts.depth.deepest,
      sockets: this.ctx.getWebSockets().length,
      databaseBytes: this.ctx.storage.sql.databaseSize,
      revision: this.parts.log.last,
      floor: this.parts.log.floor,
      ...(this.parts.compactor.lastRun === undefined ? {} : { lastCompaction: this.parts.compactor.lastRun }),
    }
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const reason = pathname.slice(1)
    try {
      // only shard-client sends these calls
      const list = reason === 'list' ? ((await request.json()) as ListCall) : undefined
      this.woken(reason, list?.depth)
      this.parts.lock.check()
      if (list !== undefined) return await this.list(list)
      const call = JSON.parse(searchParams.get('q')!) as WatchCall
      this.parts.sealed.checkOpens(call)
      return this.parts.watches.accept(call, searchParams.get('keep') !== 'false')
    } catch (error) {
      return new Response(null, { headers: encodeHeader(failure(error)) })
    }
  }

  private async list(call: ListCall): Promise<Response> {
    this.parts.sealed.checkOpens(call)
    return listAnswer(await this.parts.log.select(call), call, this.parts.statements)
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    this.woken('message')
    await this.parts.watches.message(socket, message)
  }

  override webSocketClose(socket: WebSocket): void {
    this.woken('close')
    this.parts.watches.closed(socket)
  }

  override webSocketError(socket: WebSocket): void {
    this.parts.watches.closed(socket)
  }

  override async alarm(): Promise<void> {
    this.parts.usage.woken('alarm')
    this.parts.depth.rang()
    await this.parts.housekeeping.rang()
  }

  /** One step of a restore, done wholly or not at all. */
  private restoring(step: () => void): ShardReply<null> {
    this.woken('restore')
    notHere(this.parts.name) // later calls of this isolate then learn that the shard is locked
    return reply(() => {
      this.parts.log.attempt(() => this.parts.lock.attempt(() => this.ctx.storage.transactionSync(step)))
      return null
    })
  }

  private async write(write: () => WriteOutcome, begun?: number, depth?: number): Promise<ShardReply<Written>> {
    this.woken('write', depth)
    try {
      await this.parts.firstWrite.announced()
      const { written } = await this.parts.writes.run(() => {
        this.parts.lock.checkBegun(begun)
        return write()
      })
      return { value: written }
    } catch (error) {
      return failure(error)
    }
  }
}
