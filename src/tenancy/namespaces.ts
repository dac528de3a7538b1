import type { Namespace } from '../api/core/v1.ts'
import { collectionOf } from '../registry/collections.ts'
import type { ApiRequest } from '../request/context.ts'
import { shardStorage } from '../storage/shard-client.ts'
import { parseStored } from '../codec/json.ts'

/** A namespace as it is now. */
export async function namespaceOf(
  { env, tenant }: Pick<ApiRequest, 'env' | 'tenant'>,
  name: string,
): Promise<Namespace | undefined> {
  const namespaces = collectionOf(tenant, { group: '', resource: 'namespaces' })
  const stored = await shardStorage(env.SHARDS).get(namespaces, name)
  // storage holds under this prefix only what was decoded as a Namespace
  return stored === undefined ? undefined : (parseStored(stored.text) as unknown as Namespace)
}
