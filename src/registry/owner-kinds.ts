/**
 * The resource types whose objects name owners of a kind. The garbage collector looks for dependents there.
 * ControllerManager keeps the list. An isolate announces each pair of owner kind and resource before its first such
 * write, so that the list is never missing one.
 */
import { BoundedMap } from '../api/bounded-map.ts'
import type { GroupResource } from '../api/group-version.ts'
import { groupKindText, groupResourceText, parseApiVersion } from '../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import type { Env } from '../env.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** Pairs that this isolate has announced. One that was forgotten is announced again. */
const announcedOf = perTenant(
  () => new BoundedMap<string, true>({ entries: 10_000, size: 1024 * 1024, sizeOf: ({ length }) => length }),
)

/** `Deployment.apps`: without the version, since all versions of a kind have the same objects. */
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

/** The kinds of the owners that the object names, each once. */
export const ownerKindsOf = ({ metadata: { ownerReferences = [] } }: Pick<KubeObject, 'metadata'>): string[] => [
  ...new Set(ownerReferences.map(ownerKindOf).filter(mayBeServed)),
]

const pairOf = (resource: GroupResource, kind: string, definition: string) =>
  `${groupResourceText(resource)}\n${kind}\n${definition}`

/** A kind is a DNS label and a group a subdomain, so no kind has a longer name. */
const mayBeServed = (kind: string): boolean => kind.length <= 63 + 1 + 253
