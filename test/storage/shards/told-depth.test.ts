import { expect, test } from 'vitest'
import { CallDepth } from '../../../src/storage/shards/call-depth.ts'
import type { ShardCalls } from '../../../src/storage/shards/object-calls.ts'
import type { ShardStorage } from '../../../src/storage/shards/shard-client.ts'
import { objectStorage, shardStorage } from '../../../src/storage/shards/shard-client.ts'
import { TurnBudget } from '../../../src/storage/shards/turn-budget.ts'
import { everything } from '../../../src/storage/selectors/selection.ts'

const things = { tenant: 'root', shard: 'things', prefix: 'things' }
const value = { text: '{}', labels: {}, fields: {} } as never

/** The calls that controllers and shards make. */
const calls: Partial<Record<keyof ShardStorage, (storage: ShardStorage) => Promise<unknown>>> = {
  get: (storage) => storage.get(things, 'a'),
  create: (storage) => storage.create(things, 'a', value),
  createMissing: (storage) => storage.createMissing(things, []),
  update: (storage) => storage.update(things, 'a', value, 1),
  delete: (storage) => storage.delete(things, 'a', value, 1),
  list: (storage) => storage.list(things, { selection: everything, at: { kind: 'latest' } }),
  occupied: (storage) => storage.occupied(things, ['default']),
  several: (storage) => Array.fromAsync(storage.several(things, ['a'])),
  renew: (storage) => storage.renew(things),
  retire: (storage) => storage.retire(things),
  revision: (storage) => storage.revision(things),
  changes: (storage) => storage.changes(things),
}
/** Those that requests alone make: a Worker is at most 1 deep. */
const ofRequests: readonly (keyof ShardStorage)[] = [
  'watch',
  'lock',
  'lockedKeys',
  'clear',
  'restore',
  'unlock',
  'hold',
  'failing',
  'stats',
]

/** A shard that keeps the depth it was told. */
function listening() {
  const told: unknown[] = []
  const answer = { value: { revision: 2 } }
  const stub = new Proxy(
    {},
    {
      get:
        (_, method) =>
        async (...all: unknown[]) => {
          const body = method === 'fetch' ? (JSON.parse((all[1] as { body: string }).body) as { depth?: unknown }) : {}
          const last = all.at(-1)
          // keys, revisions and bodies are no depths of these tests
          told.push(method === 'fetch' ? body.depth : last === DEPTH + 1 ? last : undefined)
          return method === 'writeTogether' ? [answer] : method === 'fetch' ? new Response() : answer
        },
    },
  )
  const shards = { idFromName: (name: string) => name, get: () => stub }
  return { told, shards: shards as unknown as DurableObjectNamespace<ShardCalls> }
}

const DEPTH = 6

test.each(Object.keys(calls) as (keyof typeof calls)[])(
  'an object tells a shard how deep its call is: %s',
  async (name) => {
    const { told, shards } = listening()
    const depth = new CallDepth(true)
    depth.called(DEPTH)
    await calls[name]!(objectStorage(shards, () => 0, { turns: new TurnBudget(() => 0), depth })).catch(() => {})
    expect(told).toEqual([DEPTH + 1])
  },
)

test.each(Object.keys(calls) as (keyof typeof calls)[])('a Worker tells none: %s', async (name) => {
  const { told, shards } = listening()
  await calls[name]!(shardStorage(shards, () => 0)).catch(() => {})
  expect(told).toEqual([undefined])
})

test('these are all calls', () => {
  const all = Object.keys(shardStorage(listening().shards, () => 0))
  expect([...Object.keys(calls), ...ofRequests].sort()).toEqual(all.sort())
})
