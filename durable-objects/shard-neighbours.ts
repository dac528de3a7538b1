/** The objects that a shard calls: the control shard and the controllers of its control plane. */
import type { Clock } from '../src/base/clock.ts'
import type { Env } from '../src/env.ts'
import type { CallDepth } from '../src/storage/shards/call-depth.ts'
import { shardStorageAt } from '../src/storage/shards/shard-client.ts'
import type { OutboxReceiver } from '../src/storage/shards/shard-protocol.ts'
import type { TakenPlace } from '../src/storage/revisions/revision-places.ts'
import { givePlaceBack, takePlace } from '../src/storage/revisions/revision-places.ts'
import type { Revision, ShardName, Storage } from '../src/storage/storage.ts'
import {
  CONTROL_SHARD,
  writtenShardRow,
  writtenShardsOf,
  writtenShardValue,
} from '../src/storage/shards/written-shards.ts'

/** The storage of the control shard, as a shard calls it that is itself called so deep. */
export const controlShardOf = (env: Env, now: Clock, depth: CallDepth): Storage =>
  shardStorageAt(env.SHARDS, now, depth)

/** @param name `TENANT/SHARD` */
export function shardNamed(name: string): ShardName {
  const slash = name.indexOf('/')
  return { tenant: name.slice(0, Math.max(0, slash)), shard: name.slice(slash + 1) }
}

export async function tellControlShard(control: Storage, { tenant, shard }: ShardName): Promise<void> {
  if (shard === CONTROL_SHARD) return
  await control.createMissing({ tenant, shard: CONTROL_SHARD }, [writtenShardRow(tenant, shard)])
}

export const takePlaceFor = (control: Storage, shard: ShardName): Promise<TakenPlace> => takePlace(control, shard)

/**
 * @param place of the shard, if it took one
 * @param last every revision of the shard is at or below it
 */
export async function forgetInControlShard(
  control: Storage,
  { tenant, shard }: ShardName,
  place: number | undefined,
  last: Revision,
): Promise<void> {
  if (place !== undefined) await givePlaceBack(control, { tenant, shard }, place, last)
  const row = await control.get(writtenShardsOf(tenant), shard)
  if (row !== undefined) await control.delete(writtenShardsOf(tenant), shard, writtenShardValue(shard), row.revision)
}

/** The controllers of a control plane are one object. Undefined where only storage runs. */
export function receiverOf(env: Env, { tenant }: ShardName): OutboxReceiver | undefined {
  const controllers = env.CONTROLLERS as DurableObjectNamespace | undefined
  if (tenant === '' || controllers === undefined) return undefined
  // A stub has the methods of its object; ControllerManager implements OutboxReceiver.
  return controllers.get(controllers.idFromName(tenant)) as unknown as OutboxReceiver
}
