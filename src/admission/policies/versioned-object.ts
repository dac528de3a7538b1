/** Converts objects to the version that a policy or webhook needs, from whatever version they are stored in. */
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { asWritten } from '../../patch/object-forms.ts'
import type { ApiCall } from '../../request/context.ts'
import { walked } from '../../request/turns.ts'
import { readyResource, resourceOf } from '../../registry/resource-of.ts'
import type { ResourceEntry } from '../../registry/served/resources.ts'
import { typeOfKind } from '../../schema/built-in.ts'

/**
 * @param kind a kind of the resource; an object of another kind (Scale, Eviction) has one version and is not
 * converted
 * @throws StatusError where the conversion webhook fails
 */
export async function inKind(
  request: ApiCall,
  entry: ResourceEntry,
  kind: GroupVersionKind,
  object: KubeObject,
): Promise<KubeObject> {
  if (object.apiVersion === apiVersionOf(kind) || object.kind !== kind.kind) return object
  await readyResource(request, entry)
  return resourceOf(request, entry).inVersion(object, kind)
}

/**
 * The object as expressions see it. Fields that Go always writes are present, as zero or null where they are not set.
 * Custom objects do not change.
 */
export function asSeen(object: KubeObject): KubeObject {
  const version = parseApiVersion(object.apiVersion ?? '')
  const type = version === undefined ? undefined : typeOfKind({ ...version, kind: object.kind ?? '' })
  // API objects are JSON
  return type === undefined ? object : (asWritten(type, object as unknown as JsonObject) as unknown as KubeObject)
}

/** `asSeen` for an object of a request, which may be large. */
export const seenBy = (request: ApiCall, object: KubeObject): KubeObject | Promise<KubeObject> =>
  walked(request, () => asSeen(object))

/** Converts an object from storage to the entry's version. @throws StatusError where the conversion webhook fails */
export async function asServed(
  request: ApiCall,
  entry: ResourceEntry,
  objects: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  await readyResource(request, entry)
  const { converter, fromStorage } = resourceOf(request, entry)
  return converter === undefined ? objects.map(fromStorage) : converter.toServed(objects, 'stored')
}
