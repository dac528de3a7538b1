/** A namespace of ResourceShards in memory, for code that reaches storage through `env.SHARDS`. */
import type { Clock } from '../src/base/clock.ts'
import { platformClock } from '../src/base/clock.ts'
import type { Env } from '../src/env.ts'
import { StorageError } from '../src/storage/errors.ts'
import { memoryStorage } from '../src/storage/memory.ts'
import { encodeHeader } from '../src/storage/shards/shard-protocol.ts'
import type { ListCall, ShardWrite } from '../src/storage/shards/shard-protocol.ts'
import type {
  KeyedValue,
  ListQuery,
  NewValue,
  OutboxMessage,
  RestoredValue,
  RestoreId,
  Revision,
  ShardName,
  Storage,
} from '../src/storage/storage.ts'

import { encodeFrame, eventLine } from '../src/storage/watch/watch-batch.ts'
import {
  CONTROL_SHARD,
  writtenShardRow,
  writtenShardsOf,
  writtenShardValue,
} from '../src/storage/shards/written-shards.ts'

/** The existing objects as the first events of a watch: each line of a list becomes a frame with one event. */
function inFrames(): TransformStream<Uint8Array, Uint8Array> {
  let rest = ''
  const decoder = new TextDecoder()
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) controller.enqueue(encodeFrame({ revisions: [0], after: '' }, eventLine('ADDED', line)))
    },
  })
}

/** The socket of a watch after its initial events. Writes send nothing to it. */
const silentSocket = () => ({ accept() {}, close() {}, send() {}, addEventListener() {} })

export interface MemoryShards {
  readonly namespace: Env['SHARDS']
  readonly storage: Storage
}

/** @param deliver receives the outbox messages of a write after it is committed */
export function shardsInMemory(
  now: Clock = platformClock,
  deliver: (work: OutboxMessage) => void = () => {},
): MemoryShards {
  const bare = memoryStorage(now)
  const told = async ({ tenant, shard }: ShardName) => {
    if (shard !== CONTROL_SHARD)
      await bare.createMissing({ tenant, shard: CONTROL_SHARD }, [writtenShardRow(tenant, shard)])
  }
  const storage: Storage = {
    ...bare,
    async create(collection, key, value) {
      await told(collection)
      return bare.create(collection, key, value)
    },
    async createMissing(shard, values) {
      await told(shard)
      await bare.createMissing(shard, values)
    },
  }
  const delivering = <Value>(value: NewValue, write: () => Promise<Value>) =>
    reply(async () => {
      const written = await write()
      for (const work of value.outbox ?? []) deliver(work)
      return written
    })
  const stubOf = (name: string) => {
    const slash = name.indexOf('/')
    const shard = { tenant: name.slice(0, slash), shard: name.slice(slash + 1) }
    const split = (whole: string): [typeof shard & { prefix: string }, string] => {
      const at = whole.indexOf('/')
      return [{ ...shard, prefix: whole.slice(0, at) }, whole.slice(at + 1)]
    }
    const stub = {
      get: (key: string, notOlderThan: Revision) => reply(() => storage.get(...split(key), notOlderThan)),
      create: (key: string, value: NewValue) => delivering(value, () => storage.create(...split(key), value)),
      createMissing: (values: readonly KeyedValue[]) =>
        reply(async () => {
          await storage.createMissing(shard, values)
          return null
        }),
      update: (key: string, value: NewValue, expected: Revision) =>
        delivering(value, () => storage.update(...split(key), value, expected)),
      delete: (key: string, last: NewValue, expected: Revision) =>
        delivering(last, () => storage.delete(...split(key), last, expected)),
      writeTogether: (writes: readonly ShardWrite[]) =>
        Promise.all(
          writes.map((write) => {
            const { verb, key, value } = write
            return verb === 'create' ? stub.create(key, value) : stub[verb](key, value, write.expected)
          }),
        ),
      async fetch(url: string, { body }: { readonly body: string }) {
        if (new URL(url).pathname === '/watch') return Object.assign(new Response(), { webSocket: silentSocket() })
        const { prefix, shape, ...query } = JSON.parse(body) as ListCall
        const lines = shape.as === 'events' ? {} : { shape }
        const answer = await reply(() => storage.list({ ...shard, prefix }, { ...(query as ListQuery), ...lines }))
        if ('error' in answer) return new Response(null, { headers: encodeHeader(answer) })
        const { values, ...header } = answer.value
        const frames = shape.as === 'events' ? values.pipeThrough(inFrames()) : values
        return new Response(frames, { headers: encodeHeader({ value: header }) })
      },
      occupied: (prefix: string, namespaces: readonly string[]) =>
        reply(() => storage.occupied({ ...shard, prefix }, namespaces)),
      several: (prefix: string, keys: readonly string[]) =>
        reply(async () => {
          const stored = await Promise.all(keys.map((key) => storage.get({ ...shard, prefix }, key)))
          return {
            looked: keys.length,
            found: stored.flatMap((one, index) => (one === undefined ? [] : [{ index, stored: one }])),
          }
        }),
      lockForRestore: (restore: RestoreId, unchangedSince?: Revision) =>
        done(() => storage.lock(shard, restore, unchangedSince)),
      lockedKeys: (prefix: string, restore: RestoreId) =>
        reply(() => storage.lockedKeys({ ...shard, prefix }, restore)),
      clearForRestore: (restore: RestoreId, first?: readonly RestoredValue[]) =>
        done(() => storage.clear(shard, restore, first)),
      restoreValues: (restore: RestoreId, values: readonly RestoredValue[]) =>
        done(async () => {
          for (const { key: whole, ...value } of values) {
            const [collection, key] = split(whole)
            await storage.restore(collection, restore, [{ ...value, key }])
            for (const work of value.value.outbox ?? []) deliver(work)
          }
        }),
      unlockRestored: (restore: RestoreId, cut: Revision) => done(() => storage.unlock(shard, restore, cut)),
      revision: async () => storage.revision({ ...shard, prefix: '' }),
      hold: (revision: Revision, milliseconds: number, holder = 'backup') =>
        done(() => storage.hold(shard, holder, revision, milliseconds)),
      retire: () =>
        done(async () => {
          const { changed } = await bare.changes(shard)
          const rows = writtenShardsOf(shard.tenant)
          const row = await bare.get(rows, shard.shard)
          if (row === undefined || changed.some(({ text }) => text !== undefined)) return
          await bare.delete(rows, shard.shard, writtenShardValue(shard.shard), row.revision)
        }),
      renew: () => Promise.resolve({ value: null }),
      async changes(since: Revision | undefined) {
        const answer = await reply(() => storage.changes(shard, since))
        return 'error' in answer ? answer : answer.value
      },
    }
    return stub
  }
  const namespace = { idFromName: (name: string) => name, get: stubOf }
  return { namespace: namespace as unknown as Env['SHARDS'], storage }
}

const done = (call: () => Promise<void>) =>
  reply(async () => {
    await call()
    return null
  })

async function reply<Value>(call: () => Promise<Value>) {
  try {
    return { value: await call() }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return { error: { code: error.code, revision: error.revision, current: error.current } }
  }
}
