/**
 * The end of every write: the object is encoded, the work that it brings is put beside it, and the shard compares and
 * swaps. No other file writes objects (test/check/one-write-path.ts), so no write can forget its work.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { turnOfOthers } from '../../api/slices.ts'
import type { Live } from '../../codec/stored-object.ts'
import { liveOf } from '../../codec/stored-object.ts'
import type { NewValue } from '../../storage/storage.ts'
import type { ApiCall } from '../../request/context.ts'
import { walked } from '../../request/turns.ts'
import { valueToStore } from '../converted.ts'
import { eachOnce, workFor } from '../outbox.ts'
import { announceOwners } from '../owner-kinds.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { keyOf, storedAs } from '../resource-scope.ts'
import { switchesOf } from '../../tenancy/workload-switches.ts'
import type { WorkloadSwitches } from '../../settings.ts'
import type { Change, Work, WorkRules } from '../work.ts'

/** An object, and what storage is to keep of it. */
export interface Encoded {
  readonly object: KubeObject
  readonly value: NewValue
}

/** @throws StatusError where a webhook that converts does not answer */
export const encode = async (scope: ResourceScope, object: KubeObject): Promise<Encoded> => ({
  object,
  value: await walked(scope.request, () => valueToStore(scope, object)),
})

/** @throws StorageError KeyExists */
export async function commitCreate(scope: ResourceScope, object: KubeObject): Promise<Live> {
  const { request, storage, collection } = scope
  await announceOwners(request.env, request.tenant, storedAs(scope), object, scope.resource.definitionUid)
  const value = withWork(scope, await encode(scope, object))
  if (request.isLarge) await turnOfOthers()
  return liveOf(await storage.create(collection, keyFor(scope, object), value))
}

/** @throws StorageError Conflict, KeyNotFound */
export async function commitUpdate(scope: ResourceScope, encoded: Encoded, live: Live): Promise<Live> {
  const { request, storage, collection } = scope
  const { object } = encoded
  await announceOwners(request.env, request.tenant, storedAs(scope), object, scope.resource.definitionUid)
  const value = withWork(scope, encoded, live.object)
  return liveOf(await storage.update(collection, keyFor(scope, object), value, live.stored.revision))
}

/**
 * @returns the deleted object, with the version of its deletion.
 * @throws StorageError Conflict, KeyNotFound
 */
export async function commitDelete(scope: ResourceScope, live: Live): Promise<Live> {
  const { storage, collection } = scope
  const { value } = await encode(scope, live.object)
  const last = { ...value, outbox: workOf(scope, { old: live.object }) }
  return liveOf(await storage.delete(collection, keyFor(scope, live.object), last, live.stored.revision))
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
 * The value of an object that a restore brings: its work is as if it had just been created, and deleted if it is being
 * deleted.
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
