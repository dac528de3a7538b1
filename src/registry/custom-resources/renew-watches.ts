/**
 * Ends the watches of custom resources whose definition changed, and lets none begin before that: what they were sent
 * may look otherwise now. The write of the definition does it before it is answered, so that a client that sees the new
 * form cannot go on with the old one; a controller does it again, for the write may have ended in between.
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
