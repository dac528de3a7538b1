/** The objects of a fresh control plane: their description, and the form in which they are stored. */
import { nextInt64 } from '../go/int.ts'
import { noteFault } from '../request/fault.ts'
import type { GroupResource } from '../api/group-version.ts'
import { parseApiVersion } from '../api/group-version.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../api/object.ts'
import { ownValue, setOwn } from '../base/own.ts'
import { trackUpdate } from '../patch/managed-fields.ts'
import { collectionOf } from '../storage/collections.ts'
import { newValueOf } from '../registry/stored-form.ts'
import { definitionOf } from '../registry/definitions.ts'
import { typeOfKind } from '../schema/built-in.ts'
import type { StructType } from '../schema/structural.ts'
import type { Collection, NewValue } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'

export interface BootstrapObject {
  readonly resource: string
  /** The fields that a user would write: no uid, creationTimestamp or managedFields. */
  readonly object: KubeObject & JsonObject
  /** The field manager; without one the object has no managedFields. */
  readonly manager?: string
  /** Fields that the server defaulted or that were applied. Only the entry `applied` may own them. */
  readonly added?: JsonObject
  readonly applied?: Pick<ManagedFieldsEntry, 'manager' | 'fieldsV1' | 'subresource'>
  /** Whether the server changes the stored object to this one where they differ. Without it the stored one stays. */
  readonly follows?: (stored: KubeObject) => boolean
  /** The server needs the object, and restores it after a delete. */
  readonly restored?: boolean
  /** The object is Service `kubernetes` or its address: nothing writes it while there is such a Service. */
  readonly withService?: boolean
}

export interface StoredBootstrapObject {
  readonly collection: Collection
  /** The key in the collection, without its prefix. */
  readonly key: string
  readonly object: KubeObject
  readonly value: NewValue
}

export const resourceOf = ({ resource, object }: BootstrapObject): GroupResource => ({
  group: parseApiVersion(object.apiVersion ?? '')?.group ?? '',
  resource,
})

export function storedForm(
  tenant: Tenant,
  one: BootstrapObject,
  { uid, creationTimestamp, now }: { readonly uid: string; readonly creationTimestamp: string; readonly now: Date },
): StoredBootstrapObject {
  const { object, added = {} } = one
  const { metadata } = object
  const type = typeOf(one)
  const managedFields = managedFieldsOf(one, type, now)
  const whole: KubeObject = {
    ...merged(object, added),
    metadata: { ...metadata, uid, creationTimestamp, ...(managedFields && { managedFields }) },
  }
  const resource = resourceOf(one)
  const { namespace, name } = metadata
  return {
    collection: collectionOf(tenant, resource),
    key: namespace === undefined ? (name ?? '') : `${namespace}/${name}`,
    object: whole,
    value: newValueOf(type, whole, definitionOf(resource)),
  }
}

/**
 * The stored object with the fields of `wanted`, which is the stored form of `one`. It keeps its status, and what others
 * wrote into its metadata.
 */
export function followedForm(one: BootstrapObject, wanted: KubeObject, stored: KubeObject, now: Date): KubeObject {
  const { labels, annotations, generation } = stored.metadata
  const own = one.object.metadata
  const metadata = {
    ...stored.metadata,
    ...(own.labels && { labels: { ...labels, ...own.labels } }),
    ...(own.annotations && { annotations: { ...annotations, ...own.annotations } }),
    ...(generation === undefined ? {} : { generation: nextInt64(generation) }),
  }
  const { status } = stored as { readonly status?: JsonObject }
  const object = { ...wanted, ...(status && { status }), metadata }
  const managedFields = ownedAfter(one, typeOf(one), now, object, stored)
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } }
}

function typeOf({ object: { apiVersion = '', kind = '' } }: BootstrapObject): StructType {
  const groupVersion = parseApiVersion(apiVersion)
  const type = groupVersion && typeOfKind({ ...groupVersion, kind })
  if (type === undefined) throw new Error(`assertion failed: no type for ${apiVersion} ${kind}`)
  return type
}

const failed = (error: unknown): void => noteFault('managedFields', error)

function managedFieldsOf(one: BootstrapObject, type: StructType, now: Date): ManagedFieldsEntry[] | undefined {
  const { object, applied } = one
  const { apiVersion = '' } = object
  const written = ownedAfter(one, type, now, object, undefined)
  if (applied === undefined) return written
  const entry: ManagedFieldsEntry = {
    manager: applied.manager,
    operation: 'Apply',
    apiVersion,
    time: `${now.toISOString().slice(0, 19)}Z`,
    fieldsType: 'FieldsV1',
    fieldsV1: applied.fieldsV1,
    ...(applied.subresource === undefined ? {} : { subresource: applied.subresource }),
  }
  return [entry, ...(written ?? [])]
}

const ownedAfter = (
  { object: { apiVersion = '' }, manager }: BootstrapObject,
  type: StructType,
  now: Date,
  object: KubeObject,
  live: KubeObject | undefined,
): ManagedFieldsEntry[] | undefined =>
  manager === undefined
    ? undefined
    : trackUpdate({ type, live, object, manager, apiVersion, subresource: '', now, failed })

/** Merges members, one level deep: `spec` gets the added members. */
function merged(object: JsonObject, added: JsonObject): JsonObject {
  const whole = { ...object }
  for (const [name, value] of Object.entries(added)) {
    const there = ownValue(whole, name)
    setOwn(whole, name, isPlain(there) && isPlain(value) ? { ...there, ...value } : value)
  }
  return whole
}

const isPlain = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
