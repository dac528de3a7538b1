/**
 * Where each resource type is kept. What every request needs to know (who may do what, which types there are, what
 * admission asks) lives together in the control shard, so that one call reads a consistent state of all of it; every
 * other type has a shard of its own.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { Collection } from '../storage/storage.ts'
import type { Tenant } from '../tenancy/tenant.ts'

export const CONTROL_SHARD = 'control'

const control = new Set([
  'namespaces',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
])

/** Resources that show the objects of another one. */
const shared: Readonly<Record<string, string>> = { 'events.events.k8s.io': 'events' }

export const isControlResource = (resource: GroupResource): boolean => control.has(groupResourceText(resource))

/** `resource` is the storage group and resource of a ResourceEntry. */
export function collectionOf(tenant: Tenant, resource: GroupResource): Collection {
  const text = groupResourceText(resource)
  const prefix = shared[text] ?? text
  return { tenant: tenant.uid, shard: shardOf(prefix), prefix }
}

const shardOf = (prefix: string): string => (control.has(prefix) ? CONTROL_SHARD : prefix)
