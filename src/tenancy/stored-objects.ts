import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { linesOf } from '../storage/lines.ts'
import type { Env } from '../env.ts'
import { collectionOf } from '../storage/collections.ts'
import { liveOf } from '../codec/stored-object.ts'
import type { Selection } from '../storage/selection.ts'
import { everything } from '../storage/selection.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Tenant } from '../storage/tenant.ts'

interface Plane {
  readonly env: Env
  readonly tenant: Tenant
}

/**
 * All objects of a resource as they are now, in its storage version.
 * @param namespace absent: all namespaces
 */
export async function storedObjects<O>(
  plane: Plane,
  resource: GroupResource,
  namespace?: string,
): Promise<(O & KubeObject)[]> {
  const objects: (O & KubeObject)[] = []
  for await (const object of eachStoredObject<O>(plane, resource, namespace)) objects.push(object)
  return objects
}

/** The objects of a list, or of a selection, one after the other: for lists that may not fit into memory. */
export async function* eachStoredObject<O>(
  { env, tenant }: Plane,
  resource: GroupResource,
  namespace?: string,
  selection: Selection = everything,
): AsyncGenerator<O & KubeObject> {
  const { isEmpty, values, revision } = await storageOf(env).list(collectionOf(tenant, resource), {
    selection,
    at: { kind: 'latest' },
    ...(namespace === undefined ? {} : { namespace }),
  })
  if (isEmpty) return
  // the caller knows the type, and a resource has only one
  for await (const text of linesOf(values)) yield liveOf({ revision, text }).object as O & KubeObject
}
