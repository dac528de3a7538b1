/**
 * Garbage collection by owner references (kube-controller-manager's garbage collector), driven by events: an owner
 * went, an owner waits for its dependents, an object names an owner. Dependents are looked for only in the resource
 * types that have named an owner of that kind (see owner-kinds.ts).
 */
import type { GroupResource } from '../api/group-version.ts'
import { parseApiVersion } from '../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import { StatusError } from '../api/status.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import { ApiClient } from './api-client.ts'
import type { Controller, ControllerContext } from './controller.ts'
import { FOREGROUND, ORPHAN, ownerKindOf } from './owner-kinds.ts'

/** An object as work names it. */
export interface ObjectKey extends GroupResource {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Owners that an object does not hold back any more. */
export interface FreedOwners {
  /** Of the object. */
  readonly namespace: string
  readonly owners: readonly OwnerReference[]
}

/** What an object that went leaves to be done. */
export interface Departed extends FreedOwners {
  readonly uid: string
  /** `Kind.group` */
  readonly ownerKind: string
}

interface Dependent extends ObjectKey {
  readonly object: KubeObject
}

/** Key: a Departed. Its dependents may go, and owners that waited for it may too. */
export const departedController: Controller = {
  async reconcile(key, context) {
    const departed = JSON.parse(key) as Departed
    for (const dependent of await dependentsOf(context, departed.ownerKind, departed.uid))
      await collectIfUnowned(context, dependent)
    await letGo(context, departed)
    return undefined
  },
}

/** Key: FreedOwners. References to them were taken off, or hold them back no longer. */
export const freedController: Controller = {
  async reconcile(key, context) {
    await letGo(context, JSON.parse(key) as FreedOwners)
    return undefined
  },
}

/** Those that waited for this dependent may go, if it was the last. */
async function letGo(context: ControllerContext, { namespace, owners }: FreedOwners): Promise<void> {
  for (const owner of owners) {
    const found = await findOwner(context, owner, namespace)
    if (found !== undefined && waitsForDependents(found.object)) await foreground(context, found)
  }
}

/** Key: an ObjectKey. An object that names owners may name none that exists. */
export const ownedController: Controller = {
  async reconcile(key, context) {
    const found = await findObject(context, JSON.parse(key) as ObjectKey)
    if (found !== undefined) await collectIfUnowned(context, found)
    return undefined
  },
}

/** Key: an ObjectKey. An object that is being deleted waits for its dependents or is to leave them behind. */
export const waitingController: Controller = {
  async reconcile(key, context) {
    const found = await findObject(context, JSON.parse(key) as ObjectKey)
    if (found?.object.metadata.deletionTimestamp === undefined) return undefined
    const finalizers = found.object.metadata.finalizers ?? []
    if (finalizers.includes(ORPHAN)) await orphan(context, found)
    else if (finalizers.includes(FOREGROUND)) await foreground(context, found)
    return undefined
  },
}

/** Deletes what it owns; when nothing is left that blocks it, lets it go. */
async function foreground(context: ControllerContext, owner: Dependent): Promise<void> {
  const dependents = await dependentsOf(context, kindOf(owner.object), owner.uid)
  const blocking = dependents.filter(({ object }) =>
    object.metadata.ownerReferences?.some(
      ({ uid, blockOwnerDeletion }) => uid === owner.uid && blockOwnerDeletion === true,
    ),
  )
  if (blocking.length === 0) await dropFinalizer(context, owner, FOREGROUND)
  for (const dependent of dependents) await collectIfUnowned(context, dependent)
}

async function orphan(context: ControllerContext, owner: Dependent): Promise<void> {
  for (const dependent of await dependentsOf(context, kindOf(owner.object), owner.uid))
    await dropOwners(context, dependent, new Set([owner.uid]))
  await dropFinalizer(context, owner, ORPHAN)
}

/** Deletes an object none of whose owners is there to stay; takes off the owners that are not. */
async function collectIfUnowned(context: ControllerContext, dependent: Dependent): Promise<void> {
  const { metadata } = dependent.object
  const owners = metadata.ownerReferences ?? []
  const deleting = metadata.deletionTimestamp !== undefined
  if (owners.length === 0 || (deleting && !waitsForDependents(dependent.object))) return
  const gone = new Set<string>()
  const waiting = new Set<string>()
  for (const owner of owners) {
    const found = await findOwner(context, owner, dependent.namespace)
    if (found === undefined) gone.add(owner.uid ?? '')
    else if (waitsForDependents(found.object)) waiting.add(owner.uid ?? '')
  }
  if (gone.size + waiting.size < new Set(owners.map(({ uid }) => uid)).size) {
    if (gone.size + waiting.size > 0) await dropOwners(context, dependent, new Set([...gone, ...waiting]))
    return
  }
  if (deleting) return
  const hasDependents =
    waiting.size > 0 && (await dependentsOf(context, kindOf(dependent.object), dependent.uid)).length > 0
  const propagationPolicy = hasDependents ? 'Foreground' : policyIn(metadata.finalizers ?? [])
  await clientOf(context, dependent)
    .delete(dependent.name, { propagationPolicy, preconditions: { uid: dependent.uid } })
    .catch(ignoreGoneOrOther)
}

const policyIn = (finalizers: readonly string[]): string =>
  finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'

const waitsForDependents = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(FOREGROUND)

async function dropOwners(context: ControllerContext, dependent: Dependent, uids: ReadonlySet<string>): Promise<void> {
  await clientOf(context, dependent)
    .update(dependent.name, ({ metadata }) => {
      const kept = (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid ?? ''))
      if (kept.length > 0) metadata.ownerReferences = kept
      else delete metadata.ownerReferences
    })
    .catch(ignoreGoneOrOther)
}

async function dropFinalizer(context: ControllerContext, key: ObjectKey, finalizer: string): Promise<void> {
  await clientOf(context, key)
    .update(key.name, ({ metadata }) => {
      const kept = (metadata.finalizers ?? []).filter((present) => present !== finalizer)
      if (kept.length > 0) metadata.finalizers = kept
      else delete metadata.finalizers
    })
    .catch(ignoreGoneOrOther)
}

async function dependentsOf(context: ControllerContext, ownerKind: string, uid: string): Promise<Dependent[]> {
  const found = await Promise.all(
    context.dependentsOf(ownerKind).map(async (resource) => {
      const objects = await new ApiClient(context, resource, '').list({ labels: [], fields: [], owner: uid })
      return objects.map((object) => keyed(resource, object))
    }),
  )
  return found.flat()
}

async function findObject(context: ControllerContext, key: ObjectKey): Promise<Dependent | undefined> {
  const object = await clientOf(context, key).get(key.name)
  return object === undefined || object.metadata.uid !== key.uid ? undefined : { ...key, object }
}

/** The owner as a dependent in `namespace` sees it: none in another namespace, none of another uid. */
async function findOwner(
  context: ControllerContext,
  owner: OwnerReference,
  namespace: string,
): Promise<Dependent | undefined> {
  const entry = entryOf(context, owner)
  if (entry === undefined || (entry.namespaced && namespace === '')) return undefined
  const { group, resource } = entry.storage
  return findObject(context, {
    group,
    resource,
    namespace: entry.namespaced ? namespace : '',
    name: owner.name ?? '',
    uid: owner.uid ?? '',
  })
}

function entryOf(
  { served }: ControllerContext,
  { apiVersion = '', kind = '' }: OwnerReference,
): ResourceEntry | undefined {
  const version = parseApiVersion(apiVersion)
  return version && served.findKind({ ...version, kind })
}

const keyed = ({ group, resource }: GroupResource, object: KubeObject): Dependent => ({
  group,
  resource,
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name ?? '',
  uid: object.metadata.uid ?? '',
  object,
})

const clientOf = (context: ControllerContext, key: ObjectKey) => new ApiClient(context, key, key.namespace)

const kindOf = ({ apiVersion = '', kind = '' }: KubeObject): string => ownerKindOf({ apiVersion, kind })

/** Gone, or another object of the name by now: nothing is left to do. */
function ignoreGoneOrOther(error: unknown): void {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
}
