/**
 * The end of every write. It encodes the object and adds the controllers' work, and the shard compares and swaps. No
 * other file writes objects (test/check/one-write-path.ts), so no write can omit its work.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { turnOfOthers } from '../../base/slices.ts'
import type { Live } from '../../codec/stored-object.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { StorageError } from '../../storage/errors.ts'
import type { NewValue } from '../../storage/storage.ts'
import { isTooLarge } from '../../storage/streams/value-text.ts'
import type { ApiCall } from '../../request/context.ts'
import { walked } from '../../request/turns.ts'
import { valueToStore } from '../converted.ts'
import { eachOnce, workFor } from '../work/outbox.ts'
import { announceOwners } from '../work/owner-kinds.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { keyOf, storedAs } from '../resource-scope.ts'
import { checkRoom } from './control-room.ts'
import type { FinalObject } from '../stored-form.ts'
import { newValueOf } from '../stored-form.ts'
import { checkSameEpoch } from '../../tenancy/same-epoch.ts'
import { checkStillServed } from './still-served.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import type { WorkloadSwitches } from '../../settings.ts'
import type { Change, Work, WorkRules } from '../work/work.ts'

/** An object, and the value that storage keeps of it. */
export interface Encoded {
  readonly object: KubeObject
  readonly value: NewValue
}

/** @throws StatusError if a conversion webhook does not answer */
export const encode = async (scope: ResourceScope, object: KubeObject, final?: FinalObject): Promise<Encoded> => ({
  object,
  value: final?.value() ?? (await walked(scope.request, () => valueToStore(scope, object))),
})

/** @throws StorageError KeyExists, StatusError 403 where its namespace has no room for it, 404 where its type is gone */
export async function commitCreate(scope: ResourceScope, object: KubeObject, final?: FinalObject): Promise<Live> {
  const { request, storage, collection } = scope
  await announceOwners(request.env, request.tenant, storedAs(scope), object, scope.resource.definitionUid)
  const value = withWork(scope, await encode(scope, object, final))
  const room = checkRoom(scope, object.metadata.name, value.text.length)
  if (room !== undefined) await room
  if (request.isLarge) await turnOfOthers()
  const looking = checkStillServed(scope, object.metadata.name ?? '')
  if (looking !== undefined) await looking
  const checking = checkSameEpoch(request)
  if (checking !== undefined) await checking
  return liveOf(await storage.create(collection, keyFor(scope, object), value))
}

/** @throws StorageError Conflict, KeyNotFound, StatusError 403 where its namespace has no room for it */
export async function commitUpdate(scope: ResourceScope, encoded: Encoded, live: Live): Promise<Live> {
  const { request, storage, collection } = scope
  const { object } = encoded
  await announceOwners(request.env, request.tenant, storedAs(scope), object, scope.resource.definitionUid)
  const value = withWork(scope, encoded, live.object)
  const room = checkRoom(scope, object.metadata.name, value.text.length, live.stored.text.length)
  if (room !== undefined) await room
  const checking = checkSameEpoch(request)
  if (checking !== undefined) await checking
  return liveOf(await storage.update(collection, keyFor(scope, object), value, live.stored.revision))
}

/**
 * @returns the deleted object, with the resourceVersion of its deletion
 * @throws StorageError Conflict, KeyNotFound
 */
export async function commitDelete(scope: ResourceScope, live: Live): Promise<Live> {
  const { request, storage, collection } = scope
  const last = { ...(await lastValue(scope, live)), outbox: workOf(scope, { old: live.object }) }
  const checking = checkSameEpoch(request)
  if (checking !== undefined) await checking
  return liveOf(await storage.delete(collection, keyFor(scope, live.object), last, live.stored.revision))
}

/**
 * The last state of an object. Its definition may have got defaults after the write, and with them the object may be
 * larger than storage allows. Then the last state is the stored one.
 * @throws StorageError KeyNotFound
 */
async function lastValue(scope: ResourceScope, live: Live): Promise<NewValue> {
  const { request, storage, collection, resource } = scope
  const { value } = await encode(scope, live.object)
  if (!isTooLarge(value.text)) return value
  const stored = live.stored.text === '' ? await storage.get(collection, keyFor(scope, live.object)) : live.stored
  if (stored === undefined) throw new StorageError('KeyNotFound')
  const written = liveOf(stored)
  const { storageType, strategy } = resource.converter?.stored ?? resource
  return walked(request, () => newValueOf(storageType, written.object, strategy))
}

const withWork = (scope: ResourceScope, { object, value }: Encoded, old?: KubeObject): NewValue => ({
  ...value,
  outbox: workOf(scope, { object, ...(old && { old }) }),
})

const workOf = (scope: ResourceScope, change: Pick<Change, 'object' | 'old'>): readonly Work[] =>
  workFor(
    scope.resource.workRules,
    { ...change, resource: storedAs(scope), now: scope.request.now.getTime() },
    switchesOf(scope.request),
  )

const keyFor = (scope: ResourceScope, { metadata: { name = '', namespace } }: KubeObject): string =>
  keyOf(scope, name, namespace)

/**
 * The value of an object that a restore writes. Its work is that of a new object. If the object has a
 * deletionTimestamp, the work of a deletion is added.
 */
export const restoredValue = (
  rules: WorkRules,
  resource: GroupResource,
  { object, value }: Encoded,
  { now, ...plane }: Pick<ApiCall, 'env' | 'tenant' | 'now'>,
): NewValue => ({
  ...value,
  outbox: workForRestored(rules, { resource, object, now: now.getTime() }, switchesOf(plane)),
})

function workForRestored(
  rules: WorkRules,
  change: Change & { readonly object: KubeObject },
  switches: WorkloadSwitches,
): readonly Work[] {
  const { object } = change
  const created = workFor(rules, change, switches)
  const { deletionTimestamp, ...before } = object.metadata
  if (deletionTimestamp === undefined) return created
  const deleted = workFor(rules, { ...change, old: { ...object, metadata: before } }, switches)
  return eachOnce([...created, ...deleted])
}
