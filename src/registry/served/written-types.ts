/**
 * The resources that may have objects. A thousand definitions have a thousand databases. Code that walks over a whole
 * control plane asks here first, and opens no database without a write.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { Env } from '../../env.ts'
import { WRITTEN_SHARDS } from '../../storage/shards/written-shards.ts'
import type { ControlPlane, ControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { controlSnapshot, freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { Tenant } from '../../storage/tenant.ts'
import {
  builtInStorages,
  collectionOf,
  CONTROL_SHARD,
  customStorageOf,
  groupResourceNamed,
  isBuiltInStorage,
  storageInShard,
} from '../../storage/collections.ts'
import { CONTROL_PLANES } from '../../tenancy/control-plane-spec.ts'
import { DEFINITIONS } from '../custom-resources/definition.ts'
import type { ResourceEntry } from './resources.ts'
import { builtInServed } from './built-in-served.ts'
import { servedAt } from './served.ts'

/**
 * Older releases did not record the written shards. On a control plane of such a release, all shards count as written.
 */
const isKnown = (snapshot: ControlSnapshot): boolean => snapshot.get(WRITTEN_SHARDS, CONTROL_SHARD) !== undefined

const isWrittenAt = (snapshot: ControlSnapshot, shard: string): boolean =>
  shard === CONTROL_SHARD || !isKnown(snapshot) || snapshot.get(WRITTEN_SHARDS, shard) !== undefined

/** @param resource the name under which storage keeps its objects */
export async function wasWritten(plane: ControlPlane, resource: GroupResource): Promise<boolean> {
  return isWrittenAt(await freshControlSnapshot(plane), collectionOf(plane.tenant, resource).shard)
}

/** Answers from this isolate's snapshot, without a call. A first write of another isolate appears within a second. */
export async function mayHaveObjects(plane: ControlPlane, resource: GroupResource): Promise<boolean> {
  return isWrittenAt(await controlSnapshot(plane), collectionOf(plane.tenant, resource).shard)
}

/** All served and stored resources that may have objects. It reads no definitions of other groups. */
export function writtenEntries(env: Env, tenant: Tenant, snapshot: ControlSnapshot): ResourceEntry[] {
  const served = servedAt(env, snapshot)
  const entries = isKnown(snapshot)
    ? [
        ...builtInServed(env).resources.resources,
        // the server serves nothing of a definition in a built-in group
        ...writtenGroups(snapshot)
          .filter((group) => !served.isBuiltInGroup(group))
          .flatMap(served.inGroup),
      ]
    : served.resources
  return entries.filter(
    ({ persisted, storage }) => persisted && isWrittenAt(snapshot, collectionOf(tenant, storage).shard),
  )
}

/**
 * The storage names of all types that may have objects, served or not. A definition may have no served version, or may
 * be gone without its finalizer, and settings may switch off a built-in type. Each name comes once. Definitions come
 * first, because the server needs them to read their objects.
 * @param written names of shards
 */
export function storedResources(
  tenant: Tenant,
  snapshot: ControlSnapshot,
  written = writtenShards(snapshot),
): GroupResource[] {
  const names = new Set(written)
  const builtIn = builtInStorages().filter((one) => {
    const { shard } = collectionOf(tenant, one)
    return shard === CONTROL_SHARD || !isKnown(snapshot) || names.has(shard)
  })
  const custom = isKnown(snapshot)
    ? [...names].map(storageInShard).filter((one) => !isBuiltInStorage(one) && one.resource !== CONTROL_SHARD)
    : snapshot.list(DEFINITIONS).map(({ metadata }) => customStorageOf(groupResourceNamed(metadata.name ?? '')))
  // the control shard keeps ControlPlanes, so no shard has their name
  const described = snapshot.list(CONTROL_PLANES).length > 0 ? [customStorageOf(CONTROL_PLANES)] : []
  return [DEFINITIONS, ...builtIn.filter(({ resource }) => resource !== DEFINITIONS.resource), ...custom, ...described]
}

/** The groups in the names of shards, without repetition. */
function writtenGroups(snapshot: ControlSnapshot): string[] {
  const names = writtenShards(snapshot).filter((name) => name.includes('.'))
  return [...new Set(names.map((name) => name.slice(name.indexOf('.') + 1)))]
}

/** The names of the written shards, also of those whose definitions are gone. */
export const writtenShards = (snapshot: ControlSnapshot): string[] =>
  snapshot.list(WRITTEN_SHARDS).map(({ metadata }) => metadata.name ?? '')
