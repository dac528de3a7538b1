// A shard notices how deep each call is. The calls stand in src/storage/shards/object-calls.ts.
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import type { Env } from '../../src/env.ts'
import type { ShardStub } from '../../src/storage/shards/shard-client.ts'
import { objectStorage } from '../../src/storage/shards/shard-client.ts'
import { CallDepth } from '../../src/storage/shards/call-depth.ts'
import { TurnBudget } from '../../src/storage/shards/turn-budget.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { valueOf } from '../storage-suite.ts'

const { SHARDS } = env as unknown as Env
const DEPTH = 7

const calls: Readonly<Record<string, (shard: ShardStub) => Promise<unknown>>> = {
  get: async (shard) => await shard.get('things/a', 0, true, true, DEPTH),
  occupied: async (shard) => await shard.occupied('things', ['default'], DEPTH),
  several: async (shard) => await shard.several('things', ['a'], DEPTH),
  create: async (shard) => await shard.create('things/a', valueOf('a', '1'), 'first', undefined, DEPTH),
  createMissing: async (shard) =>
    await shard.createMissing([{ key: 'things/a', value: valueOf('a', '1') }], 'first', DEPTH),
  update: async (shard) => await shard.update('things/a', valueOf('a', '1'), 1, 'first', undefined, DEPTH),
  delete: async (shard) => await shard.delete('things/a', valueOf('a', '1'), 1, 'first', undefined, DEPTH),
  writeTogether: async (shard) =>
    await shard.writeTogether([{ verb: 'create', key: 'things/a', value: valueOf('a', '1') }], 'first', DEPTH),
  renew: async (shard) => await shard.renew(undefined, DEPTH),
  retire: async (shard) => await shard.retire(DEPTH),
  revision: async (shard) => await shard.revision(DEPTH),
  changes: async (shard) => await shard.changes(undefined, undefined, true, DEPTH),
}

it.each(Object.keys(calls))('%s', async (name) => {
  const shard = SHARDS.get(SHARDS.idFromName(`depth-${name}/things`))
  await calls[name]!(shard)
  expect((await shard.stats()).deepest).toBe(DEPTH)
})

it('list', async () => {
  const depth = new CallDepth(true)
  depth.called(DEPTH - 1)
  const storage = objectStorage(SHARDS, platformClock, { turns: new TurnBudget(platformClock), depth })
  const things = { tenant: 'depth-list', shard: 'things', prefix: 'things' }
  await (await storage.list(things, { selection: everything, at: { kind: 'latest' } })).values.cancel()
  expect((await SHARDS.get(SHARDS.idFromName('depth-list/things')).stats()).deepest).toBe(DEPTH)
})
