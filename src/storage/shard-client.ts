/** Storage in ResourceShards. The only code that talks to a shard. */
import type { ResourceShard } from '../../durable-objects/resource-shard.ts'
import { StorageError } from './errors.ts'
import { InitialEvents } from './initial-events.ts'
import { decodeHeader } from './shard-protocol.ts'
import type { ListCall, ShardError, ShardReply, ShardStats, StreamShape, Written } from './shard-protocol.ts'
import { openWatch } from './shard-watch.ts'
import type { Collection, ListAt, ListQuery, ListResult, NewValue, ShardName, Storage, StoredValue } from './storage.ts'
import { withRevision } from './value-text.ts'

/** Stubs are cheap, so each call has its own: one that failed may be broken for good. */
export type ShardStub = DurableObjectStub<ResourceShard>

export interface ShardStorage extends Storage {
  /** A shard's account of itself, for debugging. */
  stats(shard: ShardName): Promise<ShardStats>
  /** Ends the watches of a resource that has a shard of its own; none begins before this. */
  renew(collection: Collection): Promise<void>
}

/** How long a revision of the future is waited for, as in the reference. Milliseconds. */
const FUTURE_WAIT = 3_000
const FUTURE_STEP = 250
/** Milliseconds before a call is sent again after the shard moved or was restarted. */
const RETRY_AFTER = [20, 100, 400]

/** One for each binding of the isolate: it holds nothing of a request. */
const storages = new WeakMap<DurableObjectNamespace<ResourceShard>, ShardStorage>()

export function shardStorage(namespace: DurableObjectNamespace<ResourceShard>): ShardStorage {
  let storage = storages.get(namespace)
  if (storage === undefined) storages.set(namespace, (storage = storageIn(namespace)))
  return storage
}

/** Names of an isolate's shards, beyond which their ids are worked out again. */
const MAX_IDS = 10_000

function storageIn(namespace: DurableObjectNamespace<ResourceShard>): ShardStorage {
  // an id is a keyed hash of the name: dear enough to be kept
  const ids = new Map<string, DurableObjectId>()
  const idOf = (name: string): DurableObjectId => {
    let id = ids.get(name)
    if (id === undefined) {
      if (ids.size >= MAX_IDS) ids.clear()
      ids.set(name, (id = namespace.idFromName(name)))
    }
    return id
  }
  const stubOf = ({ tenant, shard }: ShardName): ShardStub => namespace.get(idOf(`${tenant}/${shard}`))
  const keyOf = ({ prefix }: Collection, key: string): string => `${prefix}/${key}`

  /** One call, again where the platform says that it is safe; `again` tells the shard that it may have been done. */
  const ask = async <Value>(
    shard: ShardName,
    call: (stub: ShardStub, again: boolean) => Promise<ShardReply<Value>>,
  ): Promise<Value> => valueOf(await retrying((attempt) => call(stubOf(shard), attempt > 0)))

  const list = (collection: Collection, query: ListQuery, shape: StreamShape): Promise<ListResult> =>
    untilReached(async () => {
      const body = JSON.stringify(listCall(collection, query, shape))
      const response = await retrying(() => stubOf(collection).fetch('http://shard/list', { method: 'POST', body }))
      return listResult(response)
    })

  return {
    get: (collection, key, notOlderThan = 0) =>
      untilReached(() =>
        ask<StoredValue | undefined>(collection, async (stub) => await stub.get(keyOf(collection, key), notOlderThan)),
      ),

    async create(collection, key, value) {
      return stored(
        value,
        await ask<Written>(collection, async (stub) => await stub.create(keyOf(collection, key), value)),
      )
    },

    async createMissing(shard, values) {
      await ask<null>(shard, async (stub) => await stub.createMissing(values))
    },

    async update(collection, key, value, expected) {
      const call = async (stub: ShardStub, again: boolean) =>
        await stub.update(keyOf(collection, key), value, expected, again)
      return stored(value, await ask<Written>(collection, call))
    },

    async delete(collection, key, last, expected) {
      const call = async (stub: ShardStub, again: boolean) =>
        await stub.delete(keyOf(collection, key), last, expected, again)
      return stored(last, await ask<Written>(collection, call))
    },

    list: (collection, query) => list(collection, query, query.shape ?? { as: 'lines' }),

    async watch(collection, { namespace, selection, from, notOlderThan = 0 }) {
      const events = (at: ListAt, start: string) =>
        list(collection, { namespace, selection, at, start }, { as: 'events' })
      return openWatch(
        { prefix: collection.prefix, namespace, selection },
        from ?? (await InitialEvents.open(events, notOlderThan)),
        (url) => retrying(() => stubOf(collection).fetch(url, { headers: { Upgrade: 'websocket' } })),
      )
    },

    async clear(collection) {
      await ask<null>(collection, async (stub) => await stub.clear(collection.prefix))
    },

    async restore(collection, values, cut) {
      const keyed = values.map((value) => ({ ...value, key: keyOf(collection, value.key) }))
      // not sent again: a part that was put back would be there twice
      valueOf(await stubOf(collection).restore(keyed, cut))
    },

    async renew(collection) {
      await ask<null>(collection, async (stub) => await stub.renew())
    },

    revision: (collection) => retrying(async () => await stubOf(collection).revision()),
    changes: (shard, since) => retrying(async () => await stubOf(shard).changes(since)),
    stats: (shard) => retrying(async () => await stubOf(shard).stats()),
  }
}

function listCall({ prefix }: Collection, query: ListQuery, shape: StreamShape): ListCall {
  const { namespace, selection, at, limit = 0, counted = false, start = '' } = query
  return { prefix, namespace, selection, at, limit, counted, start, shape }
}

/** What is known of a list comes before it, so that its bytes need not pass through here. */
function listResult(response: Response): ListResult {
  return { ...valueOf(decodeHeader(response)), values: response.body! }
}

const stored = ({ text, at }: NewValue, written: Written): StoredValue => ({
  revision: written.revision,
  text: written.text ?? withRevision(text, at, written.revision),
})

function valueOf<Value>(reply: ShardReply<Value>): Value {
  if ('error' in reply) throw storageError(reply.error)
  return reply.value
}

const storageError = ({ code, revision, current }: ShardError) => new StorageError(code, revision, current)

/** Asks again for a revision that is about to come. The shard has no timers: they would keep it awake. */
async function untilReached<Value>(ask: () => Promise<Value>): Promise<Value> {
  for (const end = Date.now() + FUTURE_WAIT; ; await pause(FUTURE_STEP)) {
    try {
      return await ask()
    } catch (error) {
      const isFuture = error instanceof StorageError && error.code === 'FutureRevision'
      if (!isFuture || Date.now() >= end) throw error
    }
  }
}

/** What the platform's errors say of themselves. */
interface PlatformError {
  /** The object could not answer, and asking again may help. */
  readonly retryable?: boolean
  /** The object ended while it worked on the call, which may have been done or not. Shards recognise what they did. */
  readonly durableObjectReset?: boolean
  readonly overloaded?: boolean
}

async function retrying<Value>(call: (attempt: number) => Promise<Value>): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call(attempt)
    } catch (error) {
      if (error instanceof StorageError) throw error
      const { overloaded, retryable, durableObjectReset } = error as PlatformError
      const why = String(error)
      if (overloaded === true) throw new StorageError('Overloaded', 0, 0, why)
      if (retryable !== true && durableObjectReset !== true) throw error
      if (attempt === RETRY_AFTER.length) throw new StorageError('Unavailable', 0, 0, why)
      await pause(RETRY_AFTER[attempt]!)
    }
  }
}

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
