/** The storage of a Worker: its shards, and encryption by its settings. */
import { platformClock } from '../base/clock.ts'
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import { encrypted } from './encryption/encrypted.ts'
import { Sealer } from './encryption/sealing.ts'
import type { Storage } from './storage.ts'
import type { ObjectBudgets, ShardStorage } from './shards/shard-client.ts'
import { objectStorage, shardStorage } from './shards/shard-client.ts'

/** One for each environment of the isolate. It holds nothing of a request. */
const storages = new WeakMap<Env, ShardStorage>()

export function storageOf(env: Env): ShardStorage {
  let storage = storages.get(env)
  if (storage === undefined) storages.set(env, (storage = sealing(env, shardStorage(env.SHARDS, platformClock))))
  return storage
}

/** The storage of a call: that of the Durable Object that makes it, else that of the environment. */
export const storageFor = ({ env, storage }: { readonly env: Env; readonly storage?: Storage }): Storage =>
  storage ?? storageOf(env)

/** The storage of one Durable Object instance: see objectStorage. */
export const storageOfObject = (env: Env, budgets: ObjectBudgets): ShardStorage =>
  sealing(env, objectStorage(env.SHARDS, platformClock, budgets))

const sealing = (env: Env, storage: ShardStorage): ShardStorage =>
  encrypted(storage, new Sealer(settingsOf(env).encryption))
