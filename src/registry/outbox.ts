/** Which writes are work for which controller: stored with the write, in one transaction. */
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { CustomResourceDefinition } from '../api/apiextensions/v1.ts'
import type { APIService } from '../api/apiregistration/v1.ts'
import type { ResourceQuota, Secret } from '../api/core/v1.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { APPROVED_BY, isProtectedGroup } from './apiextensions/approval.ts'
import { isEstablished, versionsOf } from './custom-resources/definition.ts'
import type { DeletedOwner, FreedOwners, ObjectKey, ServedKind } from './collector-work.ts'
import type { Topic } from './topic.ts'
import { FOREGROUND, ORPHAN, ownerKindOf } from './owner-kinds.ts'
import { protectedKey } from './protection-finalizers.ts'
import type { OutboxMessage } from '../storage/storage.ts'
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import { workloadWork } from './workload-work.ts'

export interface Change {
  readonly resource: GroupResource
  /** Absent: removed. */
  readonly object?: KubeObject
  /** Absent: created. */
  readonly old?: KubeObject
}

export const DEFAULT_SERVICE_ACCOUNT = 'default'
export const ROOT_CA = 'kube-root-ca.crt'

interface Work extends OutboxMessage {
  readonly topic: Topic
}

type Rule = (change: Change) => readonly Work[]

const work = (topic: Topic, payload: string | undefined): Work[] => (payload === undefined ? [] : [{ topic, payload }])

const rules: Readonly<Record<string, Rule>> = {
  'apiservices.apiregistration.k8s.io'({ object, old }) {
    const [service, before]: (APIService | undefined)[] = [object, old]
    const isSpecSame = before !== undefined && JSON.stringify(service?.spec) === JSON.stringify(before.spec)
    return object === undefined || isSpecSame ? [] : work('api-service-availability', object.metadata.name)
  },
  'customresourcedefinitions.apiextensions.k8s.io'({ object, old }) {
    return [...definitionWork(object, old), ...work('kind-served', newlyServedKind(object, old))]
  },
  namespaces({ object, old }) {
    if (object === undefined) return []
    const { name, deletionTimestamp } = object.metadata
    if (old === undefined) return [...work('service-account', name), ...work('root-ca-publisher', name)]
    return deletionTimestamp === undefined ? [] : work('namespace', name)
  },
  serviceaccounts: ({ object, old }) =>
    object === undefined && old !== undefined
      ? [
          ...(old.metadata.name === DEFAULT_SERVICE_ACCOUNT ? work('service-account', old.metadata.namespace) : []),
          ...work('service-account-departed', keyText(old)),
        ]
      : [],
  configmaps: ({ object, old }) => [
    ...(old?.metadata.name === ROOT_CA && (object === undefined || object.metadata.deletionTimestamp === undefined)
      ? work('root-ca-publisher', old.metadata.namespace)
      : []),
    // a new authority comes here with the server, and from here to all namespaces
    ...(old !== undefined && keyText(old) === SERVER_ROOT_CA ? work('root-ca-publisher', '') : []),
    ...(keyText(object ?? old) === CLUSTER_INFO ? work('bootstrap-signer', '') : []),
  ],
  secrets({ object, old }) {
    const secret: (KubeObject & Secret) | undefined = object ?? old
    switch (secret?.type) {
      case 'kubernetes.io/service-account-token':
        return object === undefined ? [] : work('service-account-secret', keyText(object))
      case 'bootstrap.kubernetes.io/token':
        if (secret.metadata.namespace !== 'kube-system') return []
        return [...work('token-cleaner', secret.metadata.name), ...work('bootstrap-signer', '')]
      default:
        return []
    }
  },
  'certificatesigningrequests.certificates.k8s.io': ({ object }) => work('certificate-request', object?.metadata.name),
  // a level's coming and going is news to the schemas that name it
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': ({ object, old }) => [
    ...(object === undefined || old === undefined ? work('flow-schema-status', '') : []),
    ...work('flow-object-written', ''),
  ],
  'flowschemas.flowcontrol.apiserver.k8s.io': ({ object }) => [
    ...(object === undefined ? [] : work('flow-schema-status', '')),
    ...work('flow-object-written', ''),
  ],
  'validatingadmissionpolicies.admissionregistration.k8s.io': ({ object, old }) =>
    object === undefined || object.metadata.generation === old?.metadata.generation
      ? []
      : work('validating-admission-policy-status', object.metadata.name),
  persistentvolumeclaims: (change) => [...protection(change), ...freedUsage(change)],
  pods: freedUsage,
  // its status is what the controller writes
  resourcequotas: ({ object, old }) =>
    object === undefined || sameHard(object, old) ? [] : work('resource-quota', object.metadata.namespace),
  services: freedUsage,
  persistentvolumes: protection,
  'volumeattributesclasses.storage.k8s.io': protection,
  'clusterroles.rbac.authorization.k8s.io': () => work('cluster-role-aggregation', ''),
}

function definitionWork(object: KubeObject | undefined, old: KubeObject | undefined): readonly Work[] {
  const { name, generation, deletionTimestamp } = (object ?? old)?.metadata ?? {}
  if (object !== undefined && deletionTimestamp !== undefined && old?.metadata.deletionTimestamp === undefined)
    return work('crd-finalizer', name)
  const isSpecSame = object !== undefined && old !== undefined && generation === old.metadata.generation
  const isApprovalSame = object?.metadata.annotations?.[APPROVED_BY] === old?.metadata.annotations?.[APPROVED_BY]
  if (isSpecSame) return isApprovalSame ? [] : work('crd-approval', name)
  const group = name?.slice(name.indexOf('.') + 1)
  const renewal = old === undefined ? [] : work('crd-renewal', name)
  const approved = object !== undefined && isProtectedGroup(group ?? '') ? work('crd-approval', name) : []
  return [...work('crd-names', name), ...work('crd-api-services', group), ...renewal, ...approved]
}

/** A ServedKind, when objects of the kind are served in other versions than before. */
function newlyServedKind(
  definition: (KubeObject & CustomResourceDefinition) | undefined,
  before: (KubeObject & CustomResourceDefinition) | undefined,
): string | undefined {
  const { group, names } = definition?.spec ?? {}
  const versions = definition === undefined ? '' : servedVersions(definition)
  if (versions === '' || (before !== undefined && versions === servedVersions(before))) return undefined
  const kind: ServedKind = { group: group ?? '', resource: names?.plural ?? '', kind: names?.kind ?? '' }
  return JSON.stringify(kind)
}

const servedVersions = (definition: CustomResourceDefinition): string =>
  isEstablished(definition)
    ? versionsOf(definition)
        .filter(({ served }) => served)
        .map(({ name }) => name)
        .join()
    : ''

/** What is protected goes once it is deleted and nobody uses it. */
function protection({ resource, object, old }: Change): Work[] {
  if (object === undefined || old?.metadata.deletionTimestamp !== undefined) return []
  return work('volume-protection', protectedKey(resource, object))
}

function sameHard(quota: KubeObject & ResourceQuota, old: (KubeObject & ResourceQuota) | undefined): boolean {
  const hardOf = ({ spec, status }: ResourceQuota): string => JSON.stringify([spec?.hard, status?.hard])
  return old !== undefined && hardOf(quota) === hardOf(old)
}

/** What an update stops using: quotas count it until their controller looks. (What is deleted is work anyhow.) */
function freedUsage({ resource, object, old }: Change): Work[] {
  if (object === undefined || old === undefined) return []
  const [now, before] = [object, old].map(({ spec, status }: KubeObject & Charged) =>
    JSON.stringify([
      resource.resource === 'pods' && (status?.phase === 'Succeeded' || status?.phase === 'Failed'),
      resource.resource === 'services' && [spec?.type, spec?.ports?.length],
      resource.resource === 'persistentvolumeclaims' && [spec?.resources, status?.allocatedResources],
    ]),
  )
  return now === before ? [] : work('resource-quota', object.metadata.namespace)
}

/** What of a Pod, a Service or a claim says what it uses. */
interface Charged {
  readonly spec?: { readonly type?: string; readonly ports?: readonly unknown[]; readonly resources?: unknown }
  readonly status?: { readonly phase?: string; readonly allocatedResources?: unknown }
}

const CLUSTER_INFO = 'kube-public/cluster-info'
const SERVER_ROOT_CA = `kube-system/${ROOT_CA}`

const keyText = (object: KubeObject | undefined): string | undefined => {
  if (object === undefined) return undefined
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** @param env says which controllers run */
export function workFor(change: Change, env: Env): readonly Work[] {
  const resource = groupResourceText(change.resource)
  const isServers = change.object === undefined && serverObjects.has(`${resource} ${keyText(change.old)}`)
  return [
    ...(ownValue(rules, resource)?.(change) ?? []),
    ...(isServers ? work('server-object-gone', resource === 'namespaces' ? change.old?.metadata.name : '') : []),
    ...collection(change),
    ...workloadWork(change, settingsOf(env)),
  ]
}

/** What the server needs itself. Its Lease can be missed, until it is written with the others. */
const serverObjects: ReadonlySet<string> = new Set([
  'services default/kubernetes',
  'endpoints default/kubernetes',
  'endpointslices.discovery.k8s.io default/kubernetes',
  'configmaps kube-system/extension-apiserver-authentication',
  'configmaps kube-system/kube-apiserver-legacy-service-account-token-tracking',
  'namespaces kube-node-lease',
])

/** What the garbage collector has to look at. */
function collection({ resource, object, old }: Change): readonly Work[] {
  if (object === undefined) {
    const deleted: DeletedOwner = {
      uid: old?.metadata.uid ?? '',
      ownerKind: ownerKindOf({ apiVersion: old?.apiVersion, kind: old?.kind }),
      namespace: old?.metadata.namespace ?? '',
      owners: old?.metadata.ownerReferences ?? [],
    }
    return mayOwn(resource) || deleted.owners.length > 0 ? work('departed', JSON.stringify(deleted)) : []
  }
  const { metadata } = object
  const { finalizers = [], ownerReferences = [] } = metadata
  const key = (): string => {
    const { namespace = '', name = '', uid = '' } = metadata
    return JSON.stringify({
      group: resource.group,
      resource: resource.resource,
      namespace,
      name,
      uid,
    } satisfies ObjectKey)
  }
  const waits =
    metadata.deletionTimestamp !== undefined && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN))
  const before = old?.metadata.ownerReferences ?? []
  const holding = new Set(ownerReferences.filter(holdsBack).map(({ uid }) => uid))
  const owners = before.filter((owner) => holdsBack(owner) && !holding.has(owner.uid))
  const freed: FreedOwners = { namespace: metadata.namespace ?? '', owners }
  const ownersChanged = JSON.stringify(ownerReferences) !== JSON.stringify(before)
  return [
    ...(owners.length > 0 ? work('owners-freed', JSON.stringify(freed)) : []),
    ...(waits ? work('waiting', key()) : []),
    ...(!waits && ownersChanged && ownerReferences.length > 0 ? work('owned', key()) : []),
  ]
}

/** Whether an owner that is deleted in the foreground waits for this. */
const holdsBack = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true

/** Events come and go in numbers and own nothing. */
const mayOwn = (resource: GroupResource): boolean => !owningNothing.has(groupResourceText(resource))
const owningNothing: ReadonlySet<string> = new Set(['events', 'leases.coordination.k8s.io'])
