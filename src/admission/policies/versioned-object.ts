/** Objects in the version in which somebody looks at them, whatever they are kept in. */
import type { GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf, parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { asWritten } from '../../patch/object-forms.ts'
import type { ApiCall } from '../../request/context.ts'
import { resourceOf } from '../../registry/resource-of.ts'
import type { ResourceEntry } from '../../registry/resources.ts'
import { typeOfKind } from '../../schema/built-in.ts'

/**
 * @param kind one that the resource has; an object of another kind (Scale, Eviction) has one version and stays as it is
 * @throws StatusError where the webhook that converts it does not
 */
export async function inKind(
  request: ApiCall,
  entry: ResourceEntry,
  kind: GroupVersionKind,
  object: KubeObject,
): Promise<KubeObject> {
  if (object.apiVersion === apiVersionOf(kind) || object.kind !== kind.kind) return object
  return resourceOf(request, entry).inVersion(object, kind)
}

/**
 * As expressions see it: what Go always writes is there, zero or null where nothing was said of it. Objects of custom
 * kinds are as they are.
 */
export function asSeen(object: KubeObject): KubeObject {
  const version = parseApiVersion(object.apiVersion ?? '')
  const type = version === undefined ? undefined : typeOfKind({ ...version, kind: object.kind ?? '' })
  // API objects are JSON
  return type === undefined ? object : (asWritten(type, object as unknown as JsonObject) as unknown as KubeObject)
}

/**
 * What was read from storage, as the version of the entry shows it.
 * @throws StatusError where the webhook that converts does not
 */
export async function asServed(
  request: ApiCall,
  entry: ResourceEntry,
  objects: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const { converter, fromStorage } = resourceOf(request, entry)
  return converter === undefined ? objects.map(fromStorage) : converter.toServed(objects, 'stored')
}
