/**
 * GET /debug/shards (for members of system:masters: authorization/privileged-paths): each shard's statistics, which
 * show what wakes it and what that costs. This request wakes shards too. `?shard=NAME` asks one shard, and of custom
 * resources only shards that were ever written to are asked.
 */
import type { GroupResource } from '../../api/group-version.ts'
import { notServed } from '../../api/status.ts'
import { collectionOf } from '../../storage/collections.ts'
import type { ServedResources } from '../../registry/served/resources.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { storedResources } from '../../registry/served/written-types.ts'
import type { ApiRequest } from '../../request/context.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { forEachShard } from '../../storage/shards/for-each-shard.ts'
import type { ShardStats } from '../../storage/shards/shard-protocol.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'

export async function serveShardStats(request: ApiRequest, served: ServedResources): Promise<Response> {
  const { tenant, env, query } = request
  const shardsOf = (types: readonly GroupResource[]) => new Set(types.map((type) => collectionOf(tenant, type).shard))
  const asked = query.get('shard')
  const persisted = served.resources.filter((entry) => entry.persisted)
  if (asked !== null && !shardsOf(persisted.map(({ storage }) => storage)).has(asked)) throw notServed()
  const all = async () => [
    ...builtInServed(env)
      .resources.resources.filter((entry) => entry.persisted)
      .map(({ storage }) => storage),
    ...storedResources(tenant, await controlSnapshot(request)),
  ]
  const names = asked === null ? shardsOf(await all()) : [asked]
  const shards: ShardStats[] = []
  await forEachShard([...names].sort(), async (shard) => {
    shards.push(await storageOf(env).stats({ tenant: tenant.uid, shard }))
  })
  shards.sort((a, b) => (a.name < b.name ? -1 : 1))
  return new Response(`${JSON.stringify({ shards }, null, 2)}\n`, { headers: { 'Content-Type': 'application/json' } })
}
