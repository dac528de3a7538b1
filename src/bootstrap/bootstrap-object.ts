/** The objects of a fresh control plane: their description, and the form in which they are stored. */
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
  /** The object depends on the server's settings: the server updates it when they change. */
  readonly follows?: boolean
  /** The server needs the object, and restores it after a delete. */
  readonly restored?: boolean
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
  const { apiVersion = '', kind = '', metadata } = object
  const groupVersion = parseApiVersion(apiVersion)
  const type = groupVersion && typeOfKind({ ...groupVersion, kind })
  if (type === undefined) throw new Error(`assertion failed: no type for ${apiVersion} ${kind}`)
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

const failed = (error: unknown): void => noteFault('managedFields', error)

function managedFieldsOf(
  { object, manager, applied }: BootstrapObject,
  type: Parameters<typeof trackUpdate>[0]['type'],
  now: Date,
): ManagedFieldsEntry[] | undefined {
  const { apiVersion = '' } = object
  const written =
    manager === undefined
      ? undefined
      : trackUpdate({ type, live: undefined, object, manager, apiVersion, subresource: '', now, failed })
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
