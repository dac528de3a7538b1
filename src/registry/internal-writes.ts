/** Objects that the server itself makes and removes beside what a request writes: addresses of Services. */
import { noteFault } from '../request/fault.ts'
import type { GroupResource, GroupVersionKind } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { workFor } from './outbox.ts'
import { trackUpdate } from '../patch/managed-fields.ts'
import { typeOfKind } from '../schema/built-in.ts'
import { StorageError } from '../storage/errors.ts'
import { collectionOf } from '../storage/collections.ts'
import { liveOf } from '../codec/stored-object.ts'
import { newValueOf } from './stored-form.ts'
import type { StrategyContext } from './strategy.ts'

const MANAGER = 'kube-apiserver'

/** A built-in resource in its storage version. */
export interface InternalResource {
  readonly resource: GroupResource
  readonly kind: GroupVersionKind
}

export const apiVersionOf = ({ kind: { group, version } }: InternalResource): string =>
  group === '' ? version : `${group}/${version}`

/** @throws StorageError KeyExists */
export async function createInternally(
  { tenant, storage, now }: StrategyContext,
  of: InternalResource,
  object: KubeObject,
): Promise<void> {
  const type = typeOf(of)
  const apiVersion = apiVersionOf(of)
  const whole: KubeObject = { kind: of.kind.kind, apiVersion, ...object }
  const managedFields = trackUpdate({
    type,
    live: undefined,
    object: whole,
    manager: MANAGER,
    apiVersion,
    subresource: '',
    now,
    failed: (error) => noteFault('managedFields', error),
  })
  const { name, ...metadata } = object.metadata
  const system = { uid: crypto.randomUUID(), creationTimestamp: `${now.toISOString().slice(0, 19)}Z` }
  whole.metadata = { name, ...metadata, ...system, ...(managedFields && { managedFields }) }
  await storage.create(collectionOf(tenant, of.resource), keyIn(whole), newValueOf(type, whole, {}))
}

export async function readInternally(
  { tenant, storage }: StrategyContext,
  { resource }: InternalResource,
  key: string,
): Promise<KubeObject | undefined> {
  const stored = await storage.get(collectionOf(tenant, resource), key)
  return stored && liveOf(stored).object
}

/** As a DELETE without options: what has finalizers is only marked. An absent one is fine. */
export async function deleteInternally(context: StrategyContext, of: InternalResource, key: string): Promise<void> {
  const { tenant, storage, now } = context
  const collection = collectionOf(tenant, of.resource)
  const type = typeOf(of)
  for (let attempt = 1; ; attempt++) {
    const stored = await storage.get(collection, key)
    if (stored === undefined) return
    const { object } = liveOf(stored)
    const isHeld = (object.metadata.finalizers ?? []).length > 0
    if (isHeld && object.metadata.deletionTimestamp !== undefined) return
    const metadata = {
      ...object.metadata,
      ...(isHeld && { deletionTimestamp: `${now.toISOString().slice(0, 19)}Z`, deletionGracePeriodSeconds: 0 }),
    }
    const next = { ...object, metadata }
    const outbox = workFor({ resource: of.resource, old: object, ...(isHeld && { object: next }) }, context.env)
    const value = { ...newValueOf(type, next, {}), outbox }
    try {
      if (isHeld) await storage.update(collection, key, value, stored.revision)
      else await storage.delete(collection, key, value, stored.revision)
      return
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'Conflict' || attempt === 5) throw error
    }
  }
}

const keyIn = ({ metadata: { namespace, name = '' } }: KubeObject) => (namespace ? `${namespace}/${name}` : name)

function typeOf({ kind }: InternalResource) {
  const type = typeOfKind(kind)
  if (type === undefined) throw new Error(`assertion failed: ${kind.kind} has no type`)
  return type
}
