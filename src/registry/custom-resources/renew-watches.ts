/**
 * Ends the watches of custom resources whose definition changed, because clients may see their objects in another form
 * now. The write of the definition ends them before it is answered, so no client sees the new form and goes on watching
 * in the old one. A controller does it once more, in case the write was interrupted.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { collectionOf, customStorageOf, groupResourceNamed } from '../../storage/collections.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import type { ControlPlane } from '../../tenancy/control-snapshot.ts'

/** Once for a state of the definition: its revision is comparable with those of its objects. */
export async function renewWatches({ env, tenant }: ControlPlane, definition: CustomResourceDefinition): Promise<void> {
  const { name = '', resourceVersion = '' } = definition.metadata
  const stored = customStorageOf(groupResourceNamed(name))
  await storageOf(env).renew(collectionOf(tenant, stored), Number(resourceVersion))
}
