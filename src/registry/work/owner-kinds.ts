/**
 * For each kind of owner, the resources whose objects name such owners. The garbage collector looks for dependents
 * there. ControllerManager keeps the list. An isolate announces each pair of owner kind and resource before its first
 * such write, so the list is always complete.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { groupKindText, groupResourceText, parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { Env } from '../../env.ts'
import { perTenant } from '../../tenancy/tenant-state.ts'
import type { Tenant } from '../../storage/tenant.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** Whether an object that is being deleted goes only when the collector has dealt with its dependents. */
export const awaitsCollector = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean =>
  deletionTimestamp !== undefined && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN))

/** Pairs that this isolate has announced. It announces an evicted pair again. */
const announcedOf = perTenant(
  'forgotten',
  () => new BoundedMap<string, true>({ entries: 10_000, size: 1024 * 1024, sizeOf: ({ length }) => length }),
)

/** Returns `Deployment.apps`, without the version, because all versions of a kind have the same objects. */
export function ownerKindOf({ apiVersion = '', kind = '' }: OwnerReference): string {
  return groupKindText({ group: parseApiVersion(apiVersion)?.group ?? '', kind })
}

/** @param definition the UID of the resource's definition; a new definition of the same name has another UID */
export async function announceOwners(
  env: Env,
  tenant: Tenant,
  resource: GroupResource,
  { metadata }: KubeObject,
  definition = '',
): Promise<void> {
  if (metadata.ownerReferences === undefined) return
  const announced = announcedOf(tenant)
  const news = ownerKindsOf({ metadata }).filter((kind) => !announced.has(pairOf(resource, kind, definition)))
  if (news.length === 0) return
  await env.CONTROLLERS.getByName(tenant.uid).announceOwners(
    { group: resource.group, resource: resource.resource },
    news,
  )
  for (const kind of news) announced.set(pairOf(resource, kind, definition), true)
}

/** The kinds of the owners that the object names, without repetition. */
export const ownerKindsOf = ({ metadata: { ownerReferences = [] } }: Pick<KubeObject, 'metadata'>): string[] => [
  ...new Set(ownerReferences.map(ownerKindOf).filter(mayBeServed)),
]

const pairOf = (resource: GroupResource, kind: string, definition: string) =>
  `${groupResourceText(resource)}\n${kind}\n${definition}`

/** A kind is a DNS label and a group is a subdomain, so no valid text is longer. */
const mayBeServed = (kind: string): boolean => kind.length <= 63 + 1 + 253
