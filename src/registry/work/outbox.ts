/** Derives the controllers' work from a write. The shard stores work and object in one transaction. */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { WorkloadSwitches } from '../../settings.ts'
import type { DeletedOwner, FreedOwners, OwnedObjects } from './collector-work.ts'
import { objectKeyText } from './collector-work.ts'
import { awaitsCollector, ownerKindOf } from './owner-kinds.ts'
import { changesUsage } from '../quota/work.ts'
import { protectedKey } from '../protection-finalizers.ts'
import type { Change, Work, WorkRules } from './work.ts'
import { keyOf, work } from './work.ts'
import { isSwitchedOn } from './workload-controllers.ts'

/**
 * The most characters of a payload. Shards send hundreds of payloads in one call, and the controllers read as many at a
 * time. A longer one would name an object that cannot exist, because names are short; an owner reference, a claim or a
 * volume may name such an object.
 */
export const LONGEST_PAYLOAD = 16 * 1024

/** Objects with more owners are named by their work, and not found by their owners. Shards relate so many at most. */
const FEW_OWNERS = 16
/** The most characters of an owner reference that can lead to an object. */
const LONGEST_REFERENCE = 2 * 1024
/** Owner references of one payload have so many characters, and one reference more. */
const REFERENCES = 8 * 1024

/**
 * @param rules of the resource
 * @param switches of the control plane
 */
export function workFor(rules: WorkRules, change: Change, switches: WorkloadSwitches): readonly Work[] {
  return [
    ...(rules.work?.(change) ?? []),
    ...protectionWork(rules, change),
    ...changedUsage(rules, change),
    ...serverObjectWork(rules, change),
    ...collection(rules, change),
    ...workloadWork(rules, change, switches),
  ].filter(isShort)
}

const isShort = ({ payload }: Work): boolean => payload.length <= LONGEST_PAYLOAD

/** Work for the workload controllers that are switched on. */
export function workloadWork(rules: WorkRules, change: Change, switches: WorkloadSwitches): readonly Work[] {
  const { workloads } = switches
  if (workloads === 'off' || rules.workloadWork === undefined) return []
  const found = rules.workloadWork
    .flatMap((rule) => rule(change, workloads))
    .filter((one) => isSwitchedOn(one.topic, switches) && isShort(one))
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

/** Work for the server after the deletion of an object that it needs, or after an update of one that it puts right. */
function serverObjectWork({ serverObjects, mendsServerObjects }: WorkRules, { resource, object, old }: Change): Work[] {
  if (serverObjects === undefined || old === undefined) return []
  if (object !== undefined && mendsServerObjects !== true) return []
  // the controller recreates the namespace first; its objects cannot exist before
  const isNamespace = resource.group === '' && resource.resource === 'namespaces'
  return serverObjects.includes(keyOf(old)) ? work('server-object-gone', isNamespace ? old.metadata.name : '') : []
}

/** Work for the garbage collector. */
function collection({ ownsNothing }: WorkRules, { resource, object, old }: Change): readonly Work[] {
  if (object === undefined) return old === undefined ? [] : departed(old, ownsNothing)
  const { metadata } = object
  const { ownerReferences = [] } = metadata
  const waits = awaitsCollector(object)
  const before = old?.metadata.ownerReferences ?? []
  const holding = new Set(ownerReferences.filter(holdsBack).map(({ uid }) => uid))
  const owners = before.filter((owner) => holdsBack(owner) && !holding.has(owner.uid))
  const ownersChanged = JSON.stringify(ownerReferences) !== JSON.stringify(before)
  return [
    ...freed(metadata.namespace, shortLists(owners)),
    ...(waits ? work('waiting', objectKeyText(resource, object)) : []),
    ...(!waits && ownersChanged && ownerReferences.length > 0 ? owned(resource, object) : []),
  ]
}

/** An object was removed: its dependents may go, and so may owners that waited for it. */
function departed({ kind, apiVersion, metadata }: KubeObject, ownsNothing = false): Work[] {
  const { uid = '', namespace = '', ownerReferences = [] } = metadata
  const [owners = [], ...others] = shortLists(ownerReferences)
  if (ownsNothing && owners.length === 0) return []
  const deleted: DeletedOwner = { uid, ownerKind: ownerKindOf({ apiVersion, kind }), namespace, owners }
  return [...work('departed', JSON.stringify(deleted)), ...freed(namespace, others)]
}

const freed = (namespace = '', lists: readonly (readonly OwnerReference[])[]): Work[] =>
  lists.flatMap((owners) => work('owners-freed', JSON.stringify({ namespace, owners } satisfies FreedOwners)))

/** Owners in lists that are short enough for a payload, without those that cannot exist. */
function shortLists(owners: readonly OwnerReference[]): (readonly OwnerReference[])[] {
  const lists: OwnerReference[][] = []
  let left = 0
  for (const owner of owners) {
    const { length } = JSON.stringify(owner)
    if (length > LONGEST_REFERENCE) continue
    if (left <= 0) {
      lists.push([])
      left = REFERENCES
    }
    lists.at(-1)!.push(owner)
    left -= length
  }
  return lists
}

function owned(resource: GroupResource, object: KubeObject): Work[] {
  const { ownerReferences = [] } = object.metadata
  const byOwners = ownerReferences.length <= FEW_OWNERS ? work('owned', ownedText(resource, object)) : []
  return byOwners.some(isShort) ? byOwners : work('dependent', objectKeyText(resource, object))
}

function ownedText({ group, resource }: GroupResource, { metadata }: KubeObject): string {
  const { namespace = '', ownerReferences: owners = [] } = metadata
  return JSON.stringify({ group, resource, namespace, owners } satisfies OwnedObjects)
}

/** Whether an owner in foreground deletion waits for this dependent. */
const holdsBack = ({ blockOwnerDeletion }: OwnerReference): boolean => blockOwnerDeletion === true
