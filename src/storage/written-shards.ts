/**
 * Which shards of a control plane were ever written to: the control shard has a row for each, and has it before the
 * first value is in the shard. A shard that is asked itself opens its database, and makes it where there is none.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { Collection, KeyedValue, NewValue } from './storage.ts'

export const CONTROL_SHARD = 'control'

/** No resource has this group. */
export const WRITTEN_SHARDS: GroupResource = { group: 'kedge', resource: 'writtenshards' }

export const writtenShardsOf = (tenant: string): Collection => ({
  tenant,
  shard: CONTROL_SHARD,
  prefix: groupResourceText(WRITTEN_SHARDS),
})

/**
 * @param shard the control shard's own row says that no other is missing: control planes of releases that wrote no rows
 * have none
 */
export const writtenShardRow = (tenant: string, shard: string): KeyedValue => ({
  key: `${writtenShardsOf(tenant).prefix}/${shard}`,
  value: writtenShardValue(shard),
})

/** Its key behind the prefix is the shard's name. */
export function writtenShardValue(shard: string): NewValue {
  const uid = crypto.randomUUID()
  const start = `{"metadata":{"name":${JSON.stringify(shard)},"uid":"${uid}","resourceVersion":"`
  return { text: `${start}"}}`, at: start.length, uid }
}
