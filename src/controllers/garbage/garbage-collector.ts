/**
 * Garbage collection by owner references (kube-controller-manager's garbage collector), driven by events: an owner is
 * gone, an owner waits for its dependents, an object names an owner. The collector lists dependents only in resource
 * types whose objects have named an owner of that kind (see owner-kinds.ts).
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { wasWritten } from '../../registry/served/written-types.ts'
import type { FreedOwners, ObjectKey, OwnedObjects } from '../../registry/work/collector-work.ts'
import {
  deletedOwnerIn,
  freedOwnersIn,
  objectKeyIn,
  objectKeyText,
  ownedIn,
  servedKindIn,
} from '../../registry/work/collector-work.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { forEachAnyway } from '../work/each-anyway.ts'
import { isCollecting } from './begin.ts'
import { reportForeignOwners } from './foreign-owners.ts'
import { countAgain } from '../resource-quota.ts'
import { lookAtNamespace } from '../namespaces/namespace.ts'
import { FOREGROUND, ORPHAN, ownerKindOf, ownerKindsOf } from '../../registry/work/owner-kinds.ts'
import type { Found, OwnerState } from './owners.ts'
import { findObject, headOf, OwnersOfOne, stateOf, waitsForDependents } from './owners.ts'

/** How often the collector judges an object that keeps changing, before the work waits. */
const TRIES = 5

/** Key: a DeletedOwner. Its dependents may be deleted now, and owners that waited for it too. */
export const deletedOwnerController: Controller = {
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    const deleted = deletedOwnerIn(key)
    const isOn = isCollecting(context)
    const dependents = isOn ? await dependentsOf(context, deleted.ownerKind, deleted) : []
    // a built-in kind stays served, so the collector can read whether an owner of it is gone
    if (dependents.length > 0 && !isBuiltIn(context, deleted.ownerKind)) context.absentOwners.add(deleted)
    if (deleted.namespace !== '') {
      await lookAtNamespace(context, deleted.namespace)
      await countAgain(context, deleted.namespace)
    }
    if (!isOn) return undefined
    await forEachAnyway(
      [() => letGo(context, deleted), () => collectUnowned(context, dependents)],
      context.now,
      (one) => one(),
    )
    return undefined
  },
}

/** Key: FreedOwners, owners that a dependent no longer names or no longer blocks. */
export const freedController: Controller = {
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    await letGo(context, freedOwnersIn(key))
    return undefined
  },
}

/** Finishes the deletion of owners that waited only for this dependent. */
async function letGo(context: ControllerContext, { namespace, owners }: FreedOwners): Promise<void> {
  await forEachAnyway(owners, context.now, async (reference) => {
    const found = await stateOnce(context, reference, namespace)
    if (found.state === 'present' && waitsForDependents(found.owner.object)) await foreground(context, found.owner)
  })
}

/** Key: OwnedObjects, or an ObjectKey. Deletes objects that name owners of which none exists. */
export const ownedController: Controller = {
  neverGivesUp: true,
  async reconcile(key, context) {
    const owned = ownedIn(key)
    if ('owners' in owned && (await areThere(context, owned.owners, owned.namespace))) return undefined
    const found = 'owners' in owned ? await naming(context, owned) : await findObject(context, owned)
    await forEachAnyway([found ?? []].flat(), context.now, async (one) => {
      const judged = 'isLong' in one ? await whole(context, one) : one
      if (judged === undefined) return
      await reportForeignOwners(context, judged)
      await collectIfUnowned(context, judged)
    })
    return undefined
  },
}

/**
 * Key: the ObjectKey of an object that may have many owners. Each of them is read, so this does not hold back the controllers of
 * other objects.
 */
export const dependentController: Controller = {
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    const found = await findObject(context, objectKeyIn(key))
    if (found === undefined) return undefined
    await reportForeignOwners(context, found)
    await collectIfUnowned(context, found)
    return undefined
  },
}

/** The objects that name one of the owners, without duplicates. */
async function naming(
  context: ControllerContext,
  { namespace, owners, ...resource }: OwnedObjects,
): Promise<Dependent[]> {
  const client = await managerClients(context).ifServed(resource, namespace)
  const found = new Map<string, Dependent>()
  for (const uid of new Set(owners.flatMap((owner) => owner.uid ?? [])))
    for await (const object of client?.each({ owner: uid }) ?? [])
      found.set(object.metadata.uid ?? '', keyed(resource, object, uid))
  return [...found.values()]
}

/** The state of an owner, read once for a batch: many dependents are created and deleted together. */
const stateOnce = (context: ControllerContext, owner: OwnerReference, namespace: string): Promise<OwnerState> =>
  context.once(JSON.stringify([owner, namespace]), () => stateOf(context, owner, namespace))

/**
 * Whether all owners exist and stay. Then the collector has nothing to do: a write that names other owners makes work
 * of its own.
 */
async function areThere(
  context: ControllerContext,
  owners: readonly OwnerReference[],
  namespace: string,
): Promise<boolean> {
  for (const owner of owners) {
    const found = await stateOnce(context, owner, namespace)
    if (found.state !== 'present' || waitsForDependents(found.owner.object)) return false
  }
  return true
}

/**
 * Key: a ServedKind. While the kind was not served, the collector could judge neither its objects nor objects with
 * owners of that kind, so it does that now.
 */
export const servedKindController: Controller = {
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    const { kind, ...type } = servedKindIn(key)
    const ownerKind = ownerKindOf({ apiVersion: `${type.group}/v1`, kind })
    const types = new Map(
      [...context.dependentsOf(ownerKind), type].map((one) => [`${one.resource}.${one.group}`, one]),
    )
    for (const one of types.values()) {
      if (!(await wasWritten(context, one))) continue
      const isOfKind = one.group === type.group && one.resource === type.resource
      const client = await managerClients(context).ifServed(one)
      for await (const object of client?.each() ?? []) {
        const owners = object.metadata.ownerReferences ?? []
        // the collector forgot which owners the objects of this kind name when the old definition went
        if (isOfKind && owners.length > 0) context.addDependents(one, ownerKindsOf(object))
        if (isOfKind ? owners.length > 0 : owners.some((owner) => ownerKindOf(owner) === ownerKind))
          context.later('dependent', objectKeyText(one, object), 0)
      }
    }
    return undefined
  },
}

/** Key: an ObjectKey. An object that is being deleted has to wait for its dependents, or to orphan them. */
export const waitingController: Controller = {
  neverGivesUp: true,
  queue: 'garbage',
  async reconcile(key, context) {
    const found = await findObject(context, objectKeyIn(key))
    if (found?.object.metadata.deletionTimestamp === undefined) return undefined
    const finalizers = found.object.metadata.finalizers ?? []
    if (finalizers.includes(ORPHAN)) await orphan(context, found)
    else if (finalizers.includes(FOREGROUND)) await foreground(context, found)
    return undefined
  },
}

/** Deletes the dependents of an owner. Removes the owner's finalizer when no blocking dependent is left. */
async function foreground(context: ControllerContext, owner: Found): Promise<void> {
  const dependents = await dependentsOf(context, kindOf(owner.object), owner)
  // an object that owns itself does not wait for itself
  const blocking = dependents.filter(({ uid, blocks }) => uid !== owner.uid && blocks)
  try {
    // Before the finalizer goes: another finalizer may keep the owner, which then looks like one that stays.
    await collectUnowned(context, dependents)
  } finally {
    if (blocking.length === 0) await dropFinalizer(context, owner, FOREGROUND)
  }
}

async function orphan(context: ControllerContext, owner: Found): Promise<void> {
  const dependents = await dependentsOf(context, kindOf(owner.object), owner)
  await forEachAnyway(dependents, context.now, (dependent) => dropOwners(context, dependent, new Set([owner.uid])))
  await dropFinalizer(context, owner, ORPHAN)
}

const collectUnowned = (context: ControllerContext, dependents: readonly Dependent[]): Promise<void> =>
  forEachAnyway(dependents, context.now, async (dependent) => {
    const found = await whole(context, dependent)
    if (found !== undefined) await collectIfUnowned(context, found)
  })

/** The dependent with all its owners; undefined where it is gone. */
const whole = async (context: ControllerContext, dependent: Dependent): Promise<Found | undefined> =>
  dependent.isLong ? findObject(context, dependent) : dependent

/** Deletes an object if no owner of it stays. Otherwise removes the references to owners that do not stay. */
async function collectIfUnowned(context: ControllerContext, dependent: Found): Promise<void> {
  let found: Found | undefined = dependent
  for (let attempt = 1; found !== undefined; attempt++) {
    try {
      return await collectOnce(context, found)
    } catch (error) {
      if (!isStatus(error, 409) || attempt === TRIES) throw error
      // the object was written meanwhile, and may have other owners
      found = await findObject(context, found)
    }
  }
}

type Verdict =
  /** The object stays: it has no owner references, or an owner whose state is unknown. */
  | { readonly is: 'kept' }
  /** The object has an owner that stays, and others that are gone or are going. */
  | { readonly is: 'owned'; readonly leaving: ReadonlySet<string> }
  | { readonly is: 'unowned'; readonly isAwaited: boolean }

async function judge(context: ControllerContext, { object, namespace }: Found): Promise<Verdict> {
  const leaving = new Set<string>()
  let isOwned = false
  let isAwaited = false
  const references = object.metadata.ownerReferences ?? []
  const owners = new OwnersOfOne(context, namespace)
  await owners.lookFor(references)
  for (const reference of references) {
    const found = await owners.stateOf(reference)
    switch (found.state) {
      case 'unknown':
        return { is: 'kept' }
      case 'gone':
        leaving.add(reference.uid ?? '')
        break
      case 'present':
        if (waitsForDependents(found.owner.object)) {
          isAwaited = true
          leaving.add(reference.uid ?? '')
        } else isOwned = true
    }
  }
  if (!isOwned) return leaving.size === 0 ? { is: 'kept' } : { is: 'unowned', isAwaited }
  return leaving.size === 0 ? { is: 'kept' } : { is: 'owned', leaving }
}

/** @throws StatusError 409 where the object was written meanwhile */
async function collectOnce(context: ControllerContext, dependent: Found): Promise<void> {
  const { metadata } = dependent.object
  const isDeleted = metadata.deletionTimestamp !== undefined
  if (isDeleted && !waitsForDependents(dependent.object)) return
  const verdict = await judge(context, dependent)
  if (verdict.is === 'kept') return
  if (verdict.is === 'owned') return dropOwners(context, dependent, verdict.leaving)
  if (isDeleted) return
  const its = verdict.isAwaited ? await dependentsOf(context, kindOf(dependent.object), dependent) : []
  let resourceVersion = metadata.resourceVersion
  // A dependent that waits for its own dependents may be part of a circle, in which no object would ever go.
  if (its.some(({ object }) => waitsForDependents(object))) resourceVersion = await unblockOwners(context, dependent)
  await clientOf(context, dependent)
    .delete(dependent.object, {
      propagationPolicy: its.length > 0 ? 'Foreground' : policyIn(metadata.finalizers ?? []),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    })
    .catch(unlessGone(context, dependent))
}

const policyIn = (finalizers: readonly string[]): string =>
  finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'

/** Clears blockOwnerDeletion in the owner references of a dependent. @returns its new resourceVersion */
async function unblockOwners(context: ControllerContext, { uid, name, ...at }: Found): Promise<string | undefined> {
  const written = await clientOf(context, at).updateWithRetries({ metadata: { name, uid } }, ({ metadata }) => {
    for (const owner of metadata.ownerReferences ?? [])
      if (owner.blockOwnerDeletion === true) owner.blockOwnerDeletion = false
  })
  return written.metadata.resourceVersion
}

async function dropOwners(context: ControllerContext, dependent: Found, uids: ReadonlySet<string>): Promise<void> {
  await clientOf(context, dependent)
    .updateWithRetries({ metadata: dependent }, ({ metadata }) => {
      const kept = (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.has(uid ?? ''))
      if (kept.length > 0) metadata.ownerReferences = kept
      else delete metadata.ownerReferences
    })
    .catch(unlessGone(context, dependent))
}

async function dropFinalizer(context: ControllerContext, key: ObjectKey, finalizer: string): Promise<void> {
  await clientOf(context, key)
    .updateWithRetries({ metadata: key }, ({ metadata }) => {
      const kept = (metadata.finalizers ?? []).filter((present) => present !== finalizer)
      if (kept.length > 0) metadata.finalizers = kept
      else delete metadata.finalizers
    })
    .catch(unlessGone(context, key))
}

/**
 * The dependents in all served types. A type whose definition is gone has no objects. A namespaced owner has dependents
 * in its own namespace alone: nobody elsewhere keeps it from going, or makes its deletion long.
 */
async function dependentsOf(
  context: ControllerContext,
  ownerKind: string,
  { uid, namespace }: Pick<Found, 'uid' | 'namespace'>,
): Promise<Dependent[]> {
  const found = await Promise.all(
    context.dependentsOf(ownerKind).map(async (resource) => {
      const client = await managerClients(context).ifServed(resource, namespace)
      const ofType: Dependent[] = []
      for await (const object of client?.each({ owner: uid }) ?? []) ofType.push(keyed(resource, object, uid))
      return ofType
    }),
  )
  // a list of a cluster-scoped type is of all its objects
  return found.flat().filter((one) => namespace === '' || one.namespace === namespace)
}

const isBuiltIn = ({ served }: ControllerContext, ownerKind: string): boolean =>
  served.isBuiltInGroup(ownerKind.includes('.') ? ownerKind.slice(ownerKind.indexOf('.') + 1) : '')

/** A dependent that was listed with others. */
interface Dependent extends Found {
  /** It waits for none of the owners beside: its reference blocks their deletion. */
  readonly blocks: boolean
  /** It names more owners than are kept, so it is read again before it is judged. */
  readonly isLong: boolean
}

/** The most owners that are kept of a dependent: there may be twenty thousand of these. */
const MOST_KEPT = 16

function keyed({ group, resource }: GroupResource, object: KubeObject, owner: string): Dependent {
  const { namespace = '', name = '', uid = '', ownerReferences = [] } = object.metadata
  const isLong = ownerReferences.length > MOST_KEPT
  const head = headOf(object)
  return {
    group,
    resource,
    namespace,
    name,
    uid,
    object: isLong ? head : { ...head, metadata: { ...head.metadata, ownerReferences } },
    blocks: ownerReferences.some((reference) => reference.uid === owner && reference.blockOwnerDeletion === true),
    isLong,
  }
}

const clientOf = (context: ControllerContext, key: Pick<ObjectKey, 'group' | 'resource' | 'namespace'>) =>
  managerClients(context).resource(key, key.namespace)

const kindOf = ({ apiVersion = '', kind = '' }: KubeObject): string => ownerKindOf({ apiVersion, kind })

const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code

/** Ignores 404 where the object is gone. A webhook may refuse with the same code. */
const unlessGone =
  (context: ControllerContext, key: ObjectKey) =>
  async (error: unknown): Promise<void> => {
    if (!isStatus(error, 404) || (await findObject(context, key)) !== undefined) throw error
  }
