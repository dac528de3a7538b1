/** Derives the controllers' work from a write. The shard stores work and object in one transaction. */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { WorkloadSwitches } from '../../settings.ts'
import type { DeletedOwner, FreedOwners, ObjectKey, OwnedObjects } from './collector-work.ts'
import { FOREGROUND, ORPHAN, ownerKindOf } from './owner-kinds.ts'
import { changesUsage } from '../quota/work.ts'
import { protectedKey } from '../protection-finalizers.ts'
import type { Change, Work, WorkRules } from './work.ts'
import { keyOf, work } from './work.ts'
import { isSwitchedOn } from './workload-controllers.ts'

/**
 * @param rules of the resource
 * @param switches of the control plane
 */
export function workFor(rules: WorkRules, change: Change, switches: WorkloadSwitches): readonly Work[] {
  return [
    ...(rules.work?.(change) ?? []),
    ...protectionWork(rules, change),
    ...changedUsage(rules, change),
    ...lostServerObject(rules, change),
    ...collection(rules, change),
    ...workloadWork(rules, change, switches),
  ]
}

/** Work for the workload controllers that are switched on. */
export function workloadWork(rules: WorkRules, change: Change, switches: WorkloadSwitches): readonly Work[] {
  const { workloads } = switches
  if (workloads === 'off' || rules.workloadWork === undefined) return []
  const found = rules.workloadWork
    .flatMap((rule) => rule(change, workloads))
    .filter(({ topic }) => isSwitchedOn(topic, switches))
  return found.length < 2 ? found : eachOnce(found)
}

export const eachOnce = (all: readonly Work[]): Work[] => [
  ...new Map(all.map((item) => [`${item.topic} ${item.payload}`, item])).values(),
]

/** After a deletion mark, the controller removes the finalizer of a protected object that no other object uses. */
function protectionWork({ protection }: WorkRules, { resource, object, old }: Change): Work[] {
  if (protection === undefined || object === undefined) return []
  if (old?.metadata.deletionTimestamp !== undefined) return []
  return work('volume-protection', protectedKey(resource, protection.finalizer, object))
}

/** Work for quotas after an update that changes usage. Quotas count the old usage until their controller runs. */
const changedUsage = ({ quota }: WorkRules, change: Change): Work[] =>
  quota !== undefined && quota !== 'uncounted' && changesUsage(quota, change)
    ? work('resource-quota', change.object?.metadata.namespace)
    : []

function lostServerObject({ serverObjects }: WorkRules, { object, old }: Change): Work[] {
  if (serverObjects === undefined || object !== undefined || old === undefined) return []
  // the controller recreates the namespace first; its objects cannot exist before
  const { namespace, name } = old.metadata
  return serverObjects.includes(keyOf(old)) ? work('server-object-gone', namespace === undefined ? name : '') : []
}

/** Work for the garbage collector. */
function collection({ ownsNothing }: WorkRules, { resource, object, old }: Change): readonly Work[] {
  if (object === undefined) {
    const deleted: DeletedOwner = {
      uid: old?.metadata.uid ?? '',
      ownerKind: ownerKindOf({ apiVersion: old?.apiVersion, kind: old?.kind }),
      namespace: old?.metadata.namespace ?? '',
      owners: old?.metadata.ownerReferences ?? [],
    }
    return ownsNothing !== true || deleted.owners.length > 0 ? work('departed', JSON.stringify(deleted)) : []
  }
  const { metadata } = object
  const { finalizers = [], ownerReferences = [] } = metadata
  const key = (): string => keyText(resource, object)
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
    ...(!waits && ownersChanged && ownerReferences.length > 0 ? work('owned', ownedText(resource, object)) : []),
  ]
}

function keyText({ group, resource }: GroupResource, { metadata }: KubeObject): string {
  const { namespace = '', name = '', uid = '' } = metadata
  return JSON.stringify({ group, resource, namespace, name, uid } satisfies ObjectKey)
}

function ownedText({ group, resource }: GroupResource, { metadata }: KubeObject): string {
  const { namespace = '', ownerReferences: owners = [] } = metadata
  return JSON.stringify({ group, resource, namespace, owners } satisfies OwnedObjects)
}

/** Whether an owner in foreground deletion waits for this dependent. */
const holdsBack = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true
