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
  find = findOwner,
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
  const found = await find(context, { ...placeOf(entry, namespace), name, uid })
  return found === undefined ? GONE : { state: 'present', owner: found }
}

const findOwner = async (context: ControllerContext, key: ObjectKey): Promise<Found | undefined> => {
  const found = await findObject(context, key)
  return found === undefined ? undefined : { ...found, object: headOf(found.object) }
}

/**
 * What the collector reads of an object, beside the owners that it names. It keeps no more: an object may have thousands of
 * owners and of dependents, each of a megabyte.
 */
export function headOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata
  const finalizers = metadata.finalizers?.filter((one) => one === FOREGROUND || one === ORPHAN)
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } }
}

const placeOf = ({ storage: { group, resource }, namespaced }: ResourceEntry, namespace: string) => ({
  group,
  resource,
  namespace: namespaced ? namespace : '',
})

/** The names of a type from which on one call asks for many of them. An object may name thousands of owners. */
const MANY = 16

/** The owners of one object. Each is read once, and many of one type together. */
export class OwnersOfOne {
  /** By place and name. Undefined: there is none. Bound: the owners of the object. */
  private readonly read = new Map<string, KubeObject | undefined>()

  constructor(
    private readonly context: ControllerContext,
    private readonly namespace: string,
  ) {}

  /** Looks for the owners whose state will be asked for. */
  async lookFor(owners: readonly OwnerReference[]): Promise<void> {
    if (owners.length < MANY) return
    const named = new Map<ResourceEntry, Set<string>>()
    for (const owner of owners) {
      const entry = await ownerEntry(this.context, owner)
      // an owner whose state is unknown decides alone
      if (entry === undefined) return
      const names = named.get(entry) ?? new Set<string>()
      named.set(entry, names.add(owner.name ?? ''))
    }
    for (const [entry, names] of named) {
      if (names.size < MANY || !entry.persisted || (entry.namespaced && this.namespace === '')) continue
      const place = placeOf(entry, this.namespace)
      const client = await managerClients(this.context).ifServed(place, place.namespace)
      const found = new Map<string, KubeObject>()
      for await (const object of client?.several([...names]) ?? [])
        found.set(object.metadata.name ?? '', headOf(object))
      // a read that fails leaves none of them absent
      for (const name of names) this.read.set(placeText(place, name), found.get(name))
    }
  }

  stateOf(owner: OwnerReference): Promise<OwnerState> {
    return stateOf(this.context, owner, this.namespace, (context, key) => this.find(context, key))
  }

  private async find(context: ControllerContext, key: ObjectKey): Promise<Found | undefined> {
    const text = placeText(key, key.name)
    if (!this.read.has(text)) {
      const found = await objectAt(context, key)
      this.read.set(text, found && headOf(found))
    }
    const object = this.read.get(text)
    return object === undefined || object.metadata.uid !== key.uid ? undefined : { ...key, object }
  }
}

const placeText = ({ group, resource, namespace }: Omit<ObjectKey, 'name' | 'uid'>, name: string): string =>
  JSON.stringify([group, resource, namespace, name])

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
  const object = await objectAt(context, key)
  return object === undefined || object.metadata.uid !== key.uid ? undefined : { ...key, object }
}

async function objectAt(context: ControllerContext, key: Omit<ObjectKey, 'uid'>): Promise<KubeObject | undefined> {
  const client = await managerClients(context).ifServed(key, key.namespace)
  return client?.get(key.name)
}

/** Whether an object in foreground deletion waits for its blocking dependents. */
export const waitsForDependents = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND)
