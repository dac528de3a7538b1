import type { GroupVersionKind } from '../api/group-version.ts'
import { converterBetween } from '../registry/conversion.ts'
import { collectionOf } from '../registry/collections.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import { builtInServed } from '../registry/served.ts'
import { strategyOf } from '../registry/strategies.ts'
import type { ApiRequest } from '../request/context.ts'
import { builtInType, typeOfKind } from '../schema/built-in.ts'
import { shardStorage } from '../storage/shard-client.ts'
import { noticingControlWrites } from '../tenancy/control-snapshot.ts'
import { scaleView } from './scale.ts'
import type { ResourceScope } from './resource-scope.ts'

/** Puts together what the verbs need to know of a resource and of the place in it that the request is about. */
export function resourceScope(
  request: ApiRequest,
  entry: ResourceEntry,
  { name, subresource, namespace = request.info.namespace }: { name: string; subresource: string; namespace?: string },
): ResourceScope {
  const { group, version, resource } = entry
  const kind: GroupVersionKind = { group, version, kind: entry.kind }
  const storageKind: GroupVersionKind = { group: entry.storage.group, version: entry.storage.version, kind: entry.kind }
  const type = builtInType(entry.type)
  const storageType = typeOfKind(storageKind) ?? type
  const converter = converterBetween(kind, storageKind)
  const storage = noticingControlWrites(shardStorage(request.env.SHARDS))
  const { gates } = builtInServed(request.env)
  return {
    request,
    entry,
    resource: { group, version, resource },
    kind,
    subresource,
    namespaced: entry.namespaced,
    namespace: entry.namespaced ? namespace : '',
    name,
    custom: entry.origin === 'custom',
    type,
    storageKind,
    storageType,
    ...(subresource === 'scale' ? { view: scaleView } : {}),
    toStorage: converter.toStorage,
    fromStorage: converter.fromStorage,
    collection: collectionOf(request.tenant, { group: entry.storage.group, resource: entry.storage.resource }),
    storage,
    strategy: strategyOf({ group: entry.storage.group, resource: entry.storage.resource }),
    strategyContext: (dryRun) => ({
      user: request.user,
      now: request.now,
      namespace,
      dryRun,
      tenant: request.tenant,
      env: request.env,
      storage,
      enabled: (gate) => gates.enabled(gate),
    }),
  }
}
