/**
 * The shards of a control plane that were ever written to. The control shard has a row for each, before the first
 * value is in the shard. Asking the shard itself would open its database, and create a missing one.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { groupResourceText } from '../../api/group-version.ts'
import type { Collection, KeyedValue, NewValue } from '../storage.ts'

export const CONTROL_SHARD = 'control'

/** No resource has this group. */
export const WRITTEN_SHARDS: GroupResource = { group: 'kedge', resource: 'writtenshards' }

export const writtenShardsOf = (tenant: string): Collection => ({
  tenant,
  shard: CONTROL_SHARD,
  prefix: groupResourceText(WRITTEN_SHARDS),
})

/**
 * @param shard the control shard's own row says that the list is complete: control planes of early releases have no
 * rows
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
