/**
 * The place of each resource type in storage. Objects that every request needs (RBAC, definitions, admission
 * configuration) are together in the control shard, so that one call reads a consistent state of all of them. Every
 * other type has a shard of its own.
 */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../base/own.ts'
import type { Collection } from './storage.ts'
import { StorageNames } from './storage-names.ts'
import { CONTROL_SHARD } from './shards/written-shards.ts'
import type { Tenant } from './tenant.ts'

export { CONTROL_SHARD }

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
  // each write needs to know which controllers run
  'controlplanes.kedge.dev',
])

/** Resources that show the objects of another resource. */
const shared: Readonly<Record<string, string>> = { 'events.events.k8s.io': 'events' }

export const isControlResource = (resource: GroupResource): boolean => isControlText(groupResourceText(resource))

/** @param text `roles.rbac.authorization.k8s.io` */
export const isControlText = (text: string): boolean => control.has(text)

/** Built-in types of the first release that had definitions. No name is ever added: see `laterNames`. */
const ownNames: ReadonlySet<string> = new Set(
  `
  configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods
  podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services
  mutatingadmissionpolicies.admissionregistration.k8s.io
  mutatingadmissionpolicybindings.admissionregistration.k8s.io
  mutatingwebhookconfigurations.admissionregistration.k8s.io
  validatingadmissionpolicies.admissionregistration.k8s.io
  validatingadmissionpolicybindings.admissionregistration.k8s.io
  validatingwebhookconfigurations.admissionregistration.k8s.io customresourcedefinitions.apiextensions.k8s.io
  apiservices.apiregistration.k8s.io controllerrevisions.apps daemonsets.apps deployments.apps replicasets.apps
  statefulsets.apps horizontalpodautoscalers.autoscaling cronjobs.batch jobs.batch
  certificatesigningrequests.certificates.k8s.io clustertrustbundles.certificates.k8s.io
  podcertificaterequests.certificates.k8s.io leasecandidates.coordination.k8s.io leases.coordination.k8s.io
  endpointslices.discovery.k8s.io events.events.k8s.io flowschemas.flowcontrol.apiserver.k8s.io
  prioritylevelconfigurations.flowcontrol.apiserver.k8s.io storageversions.internal.apiserver.k8s.io
  ingressclasses.networking.k8s.io ingresses.networking.k8s.io ipaddresses.networking.k8s.io
  networkpolicies.networking.k8s.io servicecidrs.networking.k8s.io runtimeclasses.node.k8s.io
  poddisruptionbudgets.policy clusterrolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
  rolebindings.rbac.authorization.k8s.io roles.rbac.authorization.k8s.io deviceclasses.resource.k8s.io
  devicetaintrules.resource.k8s.io resourceclaims.resource.k8s.io resourceclaimtemplates.resource.k8s.io
  resourcepoolstatusrequests.resource.k8s.io resourceslices.resource.k8s.io podgroups.scheduling.k8s.io
  priorityclasses.scheduling.k8s.io workloads.scheduling.k8s.io csidrivers.storage.k8s.io csinodes.storage.k8s.io
  csistoragecapacities.storage.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io
  volumeattributesclasses.storage.k8s.io storageversionmigrations.storagemigration.k8s.io`
    .trim()
    .split(/\s+/),
)

/** Types that Kubernetes added since: `RESOURCE.GROUP`, each with its release. */
const laterNames: ReadonlySet<string> = new Set<string>([])

const names = new StorageNames(ownNames, laterNames)

/** The storage names of built-in types, also of disabled ones, without duplicates. */
export const builtInStorages = (): GroupResource[] =>
  names.builtIn.filter((text) => ownValue(shared, text) === undefined).map(groupResourceNamed)

export const isBuiltInStorage = (resource: GroupResource): boolean => names.isBuiltIn(groupResourceText(resource))

/** Parses the text of `groupResourceText`, or the name of a definition or a shard: `RESOURCE.GROUP`. */
export function groupResourceNamed(text: string): GroupResource {
  const dot = text.indexOf('.')
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) }
}

/**
 * The storage name of a definition's objects. It is used in `storage` of its entries, in work for controllers and in
 * the names of collections. No built-in type ever has the same one.
 */
export const customStorageOf = (resource: GroupResource): GroupResource => names.ofCustom(resource)

/**
 * @param shard its name
 * @returns the storage name of its objects
 */
export const storageInShard = (shard: string): GroupResource => groupResourceNamed(names.ofPrefix(shard))

/** @param resource the storage group and resource of a ResourceEntry */
export function collectionOf(tenant: Tenant, resource: GroupResource): Collection {
  const text = groupResourceText(resource)
  const prefix = ownValue(shared, text) ?? names.prefixOf(text)
  return { tenant: tenant.uid, shard: shardOf(prefix), prefix }
}

const shardOf = (prefix: string): string => (control.has(prefix) ? CONTROL_SHARD : prefix)
