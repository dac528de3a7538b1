import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { parseStoredObject } from '../codec/stored-object.ts'
import type { Env } from '../env.ts'
import { collectionOf } from '../storage/collections.ts'
import { storageFor } from '../storage/environment-storage.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tenant } from '../storage/tenant.ts'

interface Plane {
  readonly env: Env
  readonly tenant: Tenant
  /** As in ApiCall. */
  readonly storage?: Storage
}

/**
 * An object as it is now, in its storage version.
 * @param key NAME, or NAMESPACE/NAME
 */
export async function storedObject<O>(
  plane: Plane,
  resource: GroupResource,
  key: string,
): Promise<(O & KubeObject) | undefined> {
  const stored = await storageFor(plane).get(collectionOf(plane.tenant, resource), key)
  // the caller knows the type, and a resource has only one
  return stored === undefined ? undefined : (parseStoredObject(stored.text) as O & KubeObject)
}
