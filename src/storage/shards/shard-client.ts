/** Storage in ResourceShards. No other code calls a shard. */
import type { Clock } from '../../base/clock.ts'
import { bytesToBase16 } from '../../base/base16.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { sha256 } from '../../base/sha256.ts'
import { logError } from '../../log/log.ts'
import type { ShardCalls } from './object-calls.ts'
import { StorageError, databaseFailure } from '../errors.ts'
import type { StorageErrorCode } from '../errors.ts'
import { InitialEvents } from '../watch/initial-events.ts'
import { decodeHeader, storedValue } from './shard-protocol.ts'
import type {
  Attempt,
  ListCall,
  ShardError,
  ShardRefusal,
  ShardReply,
  ShardStats,
  ShardWrite,
  StoredText,
  StreamShape,
  Written,
  Several,
} from './shard-protocol.ts'
import { openWatch } from '../watch/shard-watch.ts'
import type {
  Collection,
  ListAt,
  ListQuery,
  ListResult,
  NewValue,
  RestoredValue,
  ShardChanges,
  ShardName,
  Revision,
  Storage,
  StoredValue,
} from '../storage.ts'
import { unbroken } from '../streams/unbroken-list.ts'
import { withRevision } from '../streams/value-text.ts'
import type { CallDepth } from './call-depth.ts'
import type { Subrequests } from './subrequests.ts'
import { WritePause } from './write-pause.ts'
import type { TurnBudget } from './turn-budget.ts'
import { WritesTogether } from './writes-together.ts'

export type ShardStub = DurableObjectStub<ShardCalls>

export interface ShardStorage extends Storage {
  /** Names of shards whose database has failed lately. */
  failing(): string[]
  /** A shard's own statistics, for debugging. */
  stats(shard: ShardName): Promise<ShardStats>
  /**
   * Ends the watches of a resource that has a shard of its own, and allows none to begin before now.
   * @param since revision of the definition: does nothing where watches were ended after it
   */
  renew(collection: Collection, since?: Revision): Promise<void>
  /** Takes an empty shard off the list of written shards until its next write. */
  retire(shard: ShardName): Promise<void>
}

/** Milliseconds to wait for a future revision, as in kube-apiserver. */
const FUTURE_WAIT = 3_000
const FUTURE_STEP = 250
/** Milliseconds before a call is sent again after the shard moved or restarted. */
const RETRY_AFTER = [20, 100, 400]

/** One for each binding of the isolate. It holds nothing of a request. */
const storages = new WeakMap<DurableObjectNamespace<ShardCalls>, ShardStorage>()

export function shardStorage(namespace: DurableObjectNamespace<ShardCalls>, clock: Clock): ShardStorage {
  let storage = storages.get(namespace)
  if (storage === undefined) storages.set(namespace, (storage = storageIn(namespace, clock)))
  return storage
}

/** What one Durable Object instance divides among its callers. */
export interface ObjectBudgets {
  readonly turns: TurnBudget
  /** Absent: the object may make any number of calls. */
  readonly subrequests?: Subrequests
  /** Absent: a Worker makes the calls. */
  readonly depth?: CallDepth
}

/** The storage of one Durable Object instance. Writes of one turn go in one call. */
export const objectStorage = (
  namespace: DurableObjectNamespace<ShardCalls>,
  clock: Clock,
  budgets: ObjectBudgets,
): ShardStorage => storageIn(namespace, clock, budgets)

/** The storage of a shard that calls another one, which is rare. */
export const shardStorageAt = (
  namespace: DurableObjectNamespace<ShardCalls>,
  clock: Clock,
  depth: CallDepth,
): ShardStorage => storageIn(namespace, clock, { depth })

/** Names of shards whose ids the isolate keeps. */
const MAX_IDS = 10_000
/** Shards whose stubs an object keeps. */
const MAX_STUBS = 200
/** Keys that a shard looks up in one turn. */
const KEYS_OF_A_CALL = 500

function storageIn(
  namespace: DurableObjectNamespace<ShardCalls>,
  clock: Clock,
  { turns: budget, subrequests, depth }: Partial<ObjectBudgets> = {},
): ShardStorage {
  const together = budget && new WritesTogether(budget, () => depthOfCall())
  // an id is a keyed hash of the name, which is worth keeping
  const ids = new BoundedMap<string, DurableObjectId>({ entries: MAX_IDS })
  const idOf = (name: string): DurableObjectId => ids.getOrMake(name, () => namespace.idFromName(name))
  const nameOf = ({ tenant, shard }: ShardName): string => `${tenant}/${shard}`
  // The engine ends the stubs of a request with it. An object may keep its own. V8 counts 32 KiB for each stub, so
  // those of calls alone would let it collect the whole heap every few seconds.
  const stubs = budget && new BoundedMap<string, ShardStub>({ entries: MAX_STUBS })
  /** Counts the call that is about to be made. */
  const stubOf = (name: string): ShardStub => {
    subrequests?.take()
    const make = (): ShardStub => namespace.get(idOf(name))
    return stubs === undefined ? make() : stubs.getOrMake(name, make)
  }
  /** The last parameter of a call. */
  const depthOfCall = (): [depth?: number] => (depth === undefined ? [] : [depth.next])
  const keyOf = ({ prefix }: Collection, key: string): string => `${prefix}/${key}`
  const pauses = new WritePause(clock)

  /** A stub whose call failed may stay broken. */
  const called = async <Answer>(name: string, call: (stub: () => ShardStub) => Promise<Answer>): Promise<Answer> => {
    try {
      return await call(() => stubOf(name))
    } catch (error) {
      stubs?.delete(name)
      throw error
    }
  }

  const failed = (name: string, code: StorageErrorCode, why: string): void => {
    if (pauses.failed(name, code)) logError('a database failed', { shard: name, code, error: why })
  }

  /** @param call is repeated where that is safe; `keep` as in ListCall */
  const read = <Value>(shard: ShardName, call: (stub: ShardStub, keep: boolean) => Promise<Value>): Promise<Value> => {
    const name = nameOf(shard)
    const asked = (): Promise<Value> =>
      retrying(
        () => called(name, (stub) => call(stub(), !pauses.isFailing(name))),
        (code, why) => failed(name, code, why),
        'read',
      )
    return budget === undefined ? asked() : budget.call(asked)
  }

  /** Where storage fails during a write, the repeated call only asks whether the write was done. */
  const write = async <Value>(
    shard: ShardName,
    call: (stub: () => ShardStub, attempt: Attempt) => Promise<ShardReply<Value>>,
  ): Promise<Value> => {
    const name = nameOf(shard)
    const refused = pauses.refusal(name)
    if (refused !== undefined) throw new StorageError(refused)
    let failure: StorageErrorCode | undefined
    const asked = (): Promise<ShardReply<Value>> =>
      retrying(
        (attempt) =>
          called(name, (stub) => call(stub, failure !== undefined ? 'check' : attempt > 0 ? 'again' : 'first')),
        (code, why) => failed(name, (failure = code), why),
        'write',
      )
    const reply = await (budget === undefined ? asked() : budget.awaited(asked))
    if (failure !== undefined && 'error' in reply && reply.error.code === 'Failed') throw new StorageError(failure)
    if (failure === undefined && 'value' in reply) pauses.worked(name)
    if ('value' in reply) subrequests?.written()
    return valueOf(reply)
  }

  const writeOne = async (shard: ShardName, asked: ShardWrite): Promise<StoredValue> => {
    const name = nameOf(shard)
    const one = { ...asked, begun: clock() }
    const call = async (stub: () => ShardStub, attempt: Attempt) =>
      together === undefined
        ? await alone(stub(), one, attempt, depthOfCall())
        : together.send(name, stub, one, attempt)
    return stored(one.value, await write<Written>(shard, call))
  }

  const listOnce = async (collection: Collection, query: ListQuery, shape: StreamShape): Promise<ListResult> => {
    const response = await read(collection, (stub, keep) => {
      const body = JSON.stringify({
        ...listCall(collection, query, shape, keep),
        depth: depth?.next,
      } satisfies ListCall)
      return stub.fetch('http://shard/list', { method: 'POST', body })
    })
    return listResult(response)
  }

  const list = (collection: Collection, query: ListQuery, shape: StreamShape): Promise<ListResult> =>
    untilReached(clock, async () => {
      const result = await listOnce(collection, query, shape)
      if (!pauses.isFailing(nameOf(collection))) return result
      const at: ListAt = { kind: 'exact', revision: result.revision }
      const again = async () => (await listOnce(collection, { ...query, at }, shape)).values
      return { ...result, values: unbroken(result.values, again) }
    })

  return {
    get: (collection, key, notOlderThan = 0) => {
      const ask = async (): Promise<StoredValue | undefined> => {
        const reply = await read<ShardReply<StoredValue | undefined> | StoredText | undefined>(
          collection,
          (stub, keep) => stub.get(keyOf(collection, key), notOlderThan, keep, true, ...depthOfCall()),
        )
        if (reply === undefined) return undefined
        return typeof reply === 'string' ? storedValue(reply) : valueOf(reply)
      }
      return notOlderThan === 0 ? ask() : untilReached(clock, ask)
    },

    create: (collection, key, value) => writeOne(collection, { verb: 'create', key: keyOf(collection, key), value }),

    async createMissing(shard, values) {
      await write<null>(shard, async (stub, attempt) => await stub().createMissing(values, attempt, ...depthOfCall()))
    },

    update: (collection, key, value, expected) =>
      writeOne(collection, { verb: 'update', key: keyOf(collection, key), value, expected }),

    delete: (collection, key, value, expected) =>
      writeOne(collection, { verb: 'delete', key: keyOf(collection, key), value, expected }),

    list: (collection, query) => list(collection, query, query.shape ?? { as: 'lines' }),

    occupied: async (collection, namespaces) =>
      valueOf(
        await read<ShardReply<readonly string[]>>(
          collection,
          async (stub) => await stub.occupied(collection.prefix, namespaces, ...depthOfCall()),
        ),
      ),

    async *several(collection, keys) {
      for (let at = 0; at < keys.length;) {
        const some = keys.slice(at, at + KEYS_OF_A_CALL)
        const reply = await read<ShardReply<Several>>(
          collection,
          async (stub) => await stub.several(collection.prefix, some, ...depthOfCall()),
        )
        const { looked, found } = valueOf(reply)
        for (const { index, stored } of found) yield [some[index]!, stored] as const
        at += looked
      }
    },

    async watch(collection, { namespace, selection, from, notOlderThan = 0, owner, share, opens }) {
      const events = (at: ListAt, start: string) =>
        list(collection, { namespace, selection, at, start, opens }, { as: 'events' })
      return openWatch(
        { prefix: collection.prefix, namespace, selection, opens, ...ownedBy(owner) },
        from ?? (await InitialEvents.open(events, notOlderThan, share)),
        (url) =>
          read(collection, (stub, keep) =>
            stub.fetch(keep ? url : `${url}&keep=false`, { headers: { Upgrade: 'websocket' } }),
          ),
        clock,
        share,
      )
    },

    async lock(shard, restore, unchangedSince) {
      valueOf(await read<ShardReply<null>>(shard, async (stub) => await stub.lockForRestore(restore, unchangedSince)))
    },

    lockedKeys: async (collection, restore) =>
      valueOf(
        await read<ShardReply<readonly string[]>>(
          collection,
          async (stub) => await stub.lockedKeys(collection.prefix, restore),
        ),
      ),

    async clear(shard, restore, first) {
      valueOf(await read<ShardReply<null>>(shard, async (stub) => await stub.clearForRestore(restore, first)))
    },

    async restore(collection, restore, values) {
      const keyed = values.map((value) => ({ ...value, key: keyOf(collection, value.key) }))
      // never repeated, because a part would be there twice
      for (const part of inParts(keyed))
        valueOf(await called(nameOf(collection), async (stub) => await stub().restoreValues(restore, part)))
    },

    async unlock(shard, restore, cut) {
      valueOf(await read<ShardReply<null>>(shard, async (stub) => await stub.unlockRestored(restore, cut)))
    },

    async hold(shard, holder, revision, milliseconds) {
      valueOf(await read<ShardReply<null>>(shard, async (stub) => await stub.hold(revision, milliseconds, holder)))
    },

    async renew(collection, since) {
      valueOf(await read<ShardReply<null>>(collection, async (stub) => await stub.renew(since, ...depthOfCall())))
    },

    async retire(shard) {
      valueOf(await read<ShardReply<null>>(shard, async (stub) => await stub.retire(...depthOfCall())))
    },

    revision: (collection) => read(collection, async (stub) => await stub.revision(...depthOfCall())),
    async changes(shard, since, resetAt) {
      const changes = await read<ShardChanges | ShardRefusal>(
        shard,
        async (stub, keep) => await stub.changes(since, resetAt, keep, ...depthOfCall()),
      )
      if ('error' in changes) throw storageError(changes.error)
      return changes
    },
    failing: () => pauses.failing(),
    stats: (shard) => read(shard, async (stub) => await stub.stats()),
  }
}

async function alone(
  stub: ShardStub,
  write: ShardWrite,
  attempt: Attempt,
  depthOfCall: [depth?: number],
): Promise<ShardReply<Written>> {
  const { verb, key, value, begun } = write
  return verb === 'create'
    ? await stub.create(key, value, attempt, begun, ...depthOfCall)
    : await stub[verb](key, value, write.expected, attempt, begun, ...depthOfCall)
}

function listCall({ prefix }: Collection, query: ListQuery, shape: StreamShape, keep: boolean): ListCall {
  const { namespace, selection, at, limit = 0, counted = false, start = '', opens } = query
  return { prefix, namespace, selection, at, limit, counted, start, shape, keep, opens }
}

/** UTF-16 units of the values in one call, which may have 32 MiB. */
const MAX_CALL = 8 * 1024 * 1024

function* inParts(values: readonly RestoredValue[]): Generator<RestoredValue[]> {
  let part: RestoredValue[] = []
  let length = 0
  for (const value of values) {
    length += value.value.text.length
    if (length > MAX_CALL && part.length > 0) {
      yield part
      part = []
      length = value.value.text.length
    }
    part.push(value)
  }
  if (part.length > 0) yield part
}

/** The header of a list comes first, so that the bytes of the list need not be looked at here. */
function listResult(response: Response): ListResult {
  return { ...valueOf(decodeHeader(response)), values: response.body ?? nothing() }
}

const nothing = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.close() })

const stored = ({ text, at }: NewValue, written: Written): StoredValue => ({
  revision: written.revision,
  text: written.text ?? withRevision(text, at, written.revision),
})

function valueOf<Value>(reply: ShardReply<Value>): Value {
  if ('error' in reply) throw storageError(reply.error)
  return reply.value
}

/** Names of users may be long, and the platform keeps the call with the socket. */
const ownedBy = (owner: string | undefined): { readonly owner?: string } =>
  owner === undefined ? {} : { owner: bytesToBase16(sha256(owner).subarray(0, 8)) }

const storageError = ({ code, revision, current, detail }: ShardError) =>
  new StorageError(code, revision, current, detail)

/** Repeats a call until a revision that is about to come is there. Timers of the shard would keep it awake. */
async function untilReached<Value>(clock: Clock, ask: () => Promise<Value>): Promise<Value> {
  for (const end = clock() + FUTURE_WAIT; ; await pause(FUTURE_STEP)) {
    try {
      return await ask()
    } catch (error) {
      const isFuture = error instanceof StorageError && error.code === 'FutureRevision'
      if (!isFuture || clock() >= end) throw error
    }
  }
}

/** The properties of the platform's errors. */
interface PlatformError {
  /** The object could not answer, and a repeated call may succeed. */
  readonly retryable?: boolean
  /** The object ended during the call, which may have been done or not. Shards recognise work that they have done. */
  readonly durableObjectReset?: boolean
  readonly overloaded?: boolean
}

/**
 * Repeats a call where the platform says that this is safe. The platform ends an object whose commit fails, with all
 * its calls, also reads.
 * @param failed is called with the reason where the database fails
 */
async function retrying<Value>(
  call: (attempt: number) => Promise<Value>,
  failed: (code: StorageErrorCode, why: string) => void,
  kind: 'read' | 'write',
): Promise<Value> {
  let mayBeDone = false
  for (let attempt = 0; ; attempt++) {
    try {
      return await call(attempt)
    } catch (error) {
      if (error instanceof StorageError) throw error
      const { overloaded, retryable, durableObjectReset } = error as PlatformError
      const why = String(error)
      const failure = databaseFailure(error)
      if (failure !== undefined) failed(failure, why)
      if (failure === 'Newer') throw new StorageError(failure, 0, 0, why)
      if (overloaded === true) throw new StorageError('Overloaded', 0, 0, why)
      if (retryable !== true && durableObjectReset !== true && failure === undefined) throw error
      mayBeDone ||= kind === 'write' && retryable !== true
      if (attempt === RETRY_AFTER.length)
        throw new StorageError(mayBeDone ? 'Uncertain' : (failure ?? 'Unavailable'), 0, 0, why)
      await pause(RETRY_AFTER[attempt]!)
    }
  }
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
