/**
 * The state of an owner that an object names. The garbage collector deletes only objects that certainly have no owner.
 * So an owner whose kind cannot be read counts neither as present nor as gone.
 */
import { parseApiVersion } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import type { ObjectKey } from '../../registry/work/collector-work.ts'
import { managerClients } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { FOREGROUND, ORPHAN, ownerKindOf } from '../../registry/work/owner-kinds.ts'

/** An object that was read, and its key. */
export interface Found extends ObjectKey {
  readonly object: KubeObject
}

export type OwnerState =
  | { readonly state: 'present'; readonly owner: Found }
  | { readonly state: 'gone' }
  | { readonly state: 'unknown'; readonly why: 'its kind is not served' | 'a cluster-scoped object has no namespace' }

const GONE: OwnerState = { state: 'gone' }
const NOT_SERVED: OwnerState = { state: 'unknown', why: 'its kind is not served' }
const NO_NAMESPACE: OwnerState = { state: 'unknown', why: 'a cluster-scoped object has no namespace' }

/** The state of the owner for a dependent in `namespace`: gone where it is in another namespace, or has another uid. */
export async function stateOf(
  context: ControllerContext,
  owner: OwnerReference,
  namespace: string,
): Promise<OwnerState> {
  const { uid = '', name = '' } = owner
  const ownerKind = ownerKindOf(owner)
  const wasSeenToGo = (within: string) => context.absentOwners.has({ uid, ownerKind, namespace: within })
  if (wasSeenToGo('') || (namespace !== '' && wasSeenToGo(namespace))) return GONE
  const entry = await ownerEntry(context, owner)
  if (entry === undefined) return NOT_SERVED
  // the server stores no objects of such kinds: reviews, bindings
  if (!entry.persisted) return GONE
  if (entry.namespaced && namespace === '') return NO_NAMESPACE
  const { group, resource } = entry.storage
  const key = { group, resource, namespace: entry.namespaced ? namespace : '', name, uid }
  const found = await findObject(context, key)
  return found === undefined ? GONE : { state: 'present', owner: found }
}

/** Undefined for a kind or version that is not served. */
export async function ownerEntry(
  context: ControllerContext,
  { apiVersion = '', kind = '' }: OwnerReference,
): Promise<ResourceEntry | undefined> {
  const version = parseApiVersion(apiVersion)
  if (version === undefined) return undefined
  const gvk = { ...version, kind }
  const entry = context.served.findKind(gvk) ?? (await context.freshServed()).findKind(gvk)
  return entry
}

export async function findObject(context: ControllerContext, key: ObjectKey): Promise<Found | undefined> {
  const client = await managerClients(context).ifServed(key, key.namespace)
  const object = await client?.get(key.name)
  return object === undefined || object.metadata.uid !== key.uid ? undefined : { ...key, object }
}

/** Whether an object in foreground deletion waits for its blocking dependents. */
/** Whether the object goes only when the collector has dealt with its dependents. */
export const isAwaitingCollector = (object: KubeObject): boolean =>
  waitsForDependents(object) ||
  (object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(ORPHAN))

export const waitsForDependents = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND)
