/**
 * GET /debug/shards: each shard's account of itself, which shows what wakes it and what it costs. For members of
 * system:masters (authorization/privileged-paths). Asking wakes
 * a shard too, so `?shard=NAME` asks only one.
 */
import { notServed } from '../api/status.ts'
import { collectionOf } from '../registry/collections.ts'
import type { ServedResources } from '../registry/resources.ts'
import type { ApiRequest } from '../request/context.ts'
import { storageOf } from '../storage/environment-storage.ts'

export async function serveShardStats(request: ApiRequest, served: ServedResources): Promise<Response> {
  const { tenant, env, query } = request
  const kept = served.resources.filter(({ persisted }) => persisted)
  const names = [...new Set(kept.map(({ storage }) => collectionOf(tenant, storage).shard))].sort()
  const asked = query.get('shard')
  if (asked !== null && !names.includes(asked)) throw notServed()
  const storage = storageOf(env)
  const shards = await Promise.all(
    (asked === null ? names : [asked]).map((shard) => storage.stats({ tenant: tenant.uid, shard })),
  )
  return new Response(`${JSON.stringify({ shards }, null, 2)}\n`, { headers: { 'Content-Type': 'application/json' } })
}
