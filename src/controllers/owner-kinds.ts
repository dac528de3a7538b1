/**
 * Which resource types hold objects that name owners of a kind. The controllers' object keeps the list; a Worker tells
 * it of a pair before the first such write of its life, so that no dependent is ever missing from it.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupKindText, groupResourceText, parseApiVersion } from '../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import type { Env } from '../env.ts'
import type { Tenant } from '../tenancy/tenant.ts'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

/** Pairs that this isolate has told, by tenant. */
const told = new Set<string>()

/** `Deployment.apps`: versions of a kind are one. */
export function ownerKindOf({ apiVersion = '', kind = '' }: OwnerReference): string {
  return groupKindText({ group: parseApiVersion(apiVersion)?.group ?? '', kind })
}

export async function announceOwners(
  env: Env,
  tenant: Tenant,
  resource: GroupResource,
  { metadata }: KubeObject,
): Promise<void> {
  const kinds = new Set((metadata.ownerReferences ?? []).map(ownerKindOf))
  const news = [...kinds].filter((kind) => !told.has(pairOf(tenant, resource, kind)))
  if (news.length === 0) return
  await env.CONTROLLERS.getByName(tenant.uid).announceOwners(
    { group: resource.group, resource: resource.resource },
    news,
  )
  for (const kind of news) told.add(pairOf(tenant, resource, kind))
}

const pairOf = (tenant: Tenant, resource: GroupResource, kind: string) =>
  `${tenant.uid}\n${groupResourceText(resource)}\n${kind}`
