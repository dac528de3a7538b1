import { env } from 'cloudflare:workers'
import { evictDurableObject } from 'cloudflare:test'
import { platformClock } from '../../src/base/clock.ts'
import type { Env } from '../../src/env.ts'
import { objectStorage } from '../../src/storage/shards/shard-client.ts'
import { TurnBudget } from '../../src/storage/shards/turn-budget.ts'
import type { ShardName } from '../../src/storage/storage.ts'
import { storageSuite } from '../storage-suite.ts'
import { inShard } from './in-shard.ts'

const { SHARDS } = env as unknown as Env
const stubOf = ({ tenant, shard }: ShardName) => SHARDS.getByName(`${tenant}/${shard}`)

storageSuite('a shard that an object writes to', async () => ({
  storage: objectStorage(SHARDS, platformClock, { turns: new TurnBudget(platformClock) }),
  compact: (collection, floor) =>
    inShard(stubOf(collection), async ({ parts: { compactor } }) => void (await compactor.run(floor))),
  restart: (collection) => evictDurableObject(stubOf(collection)),
}))
