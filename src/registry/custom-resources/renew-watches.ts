/**
 * Ends the watches of custom resources after their definition changed, because clients may now see objects in another
 * form. The write of the definition ends them before its answer, so no client reads the new form and still watches the
 * old one. A controller repeats this, in case the write was interrupted.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { collectionOf, customStorageOf, groupResourceNamed } from '../../storage/collections.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import type { ControlPlane } from '../../tenancy/control-snapshot.ts'

/** Runs once for each state of a definition. The revision of that state is comparable with those of its objects. */
export async function renewWatches({ env, tenant }: ControlPlane, definition: CustomResourceDefinition): Promise<void> {
  const { name = '', resourceVersion = '' } = definition.metadata
  const stored = customStorageOf(groupResourceNamed(name))
  await storageOf(env).renew(collectionOf(tenant, stored), Number(resourceVersion))
}
