import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject } from 'cloudflare:test'
import type { Env } from '../../src/env.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { ShardName } from '../../src/storage/storage.ts'
import { storageSuite } from '../storage-suite.ts'
import { inShard } from './in-shard.ts'

const { SHARDS } = env as unknown as Env
const stubOf = ({ tenant, shard }: ShardName) => SHARDS.getByName(`${tenant}/${shard}`)

storageSuite('a shard', async () => ({
  storage: shardStorage(SHARDS, platformClock),
  compact: (collection, floor) =>
    inShard(stubOf(collection), async ({ parts: { compactor } }) => void (await compactor.run(floor))),
  restart: (collection) => evictDurableObject(stubOf(collection)),
}))
