/**
 * Ends the watches of custom resources whose definition changed or went, where that is not done yet. For a definition
 * that went, the control shard forgets the objects' shard if it is empty, and the garbage collector forgets its
 * dependents. A kind without writes and watches has no database, and gets none. Key: the definition's name.
 */
import type { KubeObject } from '../api/object.ts'
import { DEFINITIONS } from '../registry/custom-resources/definition.ts'
import { renewWatches } from '../registry/custom-resources/renew-watches.ts'
import { wasWritten } from '../registry/written-types.ts'
import { collectionOf, customStorageOf, groupResourceNamed } from '../storage/collections.ts'
import { storageOf } from '../storage/environment-storage.ts'
import { freshControlSnapshot } from '../tenancy/control-snapshot.ts'
import type { Controller } from './controller.ts'

export const crdRenewalController: Controller = {
  async reconcile(name, context) {
    const { env, tenant, watchedKinds } = context
    const definition = (await freshControlSnapshot(context)).get<KubeObject>(DEFINITIONS, name)
    const stored = customStorageOf(groupResourceNamed(name))
    const collection = collectionOf(tenant, stored)
    // at once: a definition of the name that is younger than the snapshot cannot have objects yet
    if (definition === undefined) context.forgetDependents(stored)
    if (watchedKinds.has(name) || (await wasWritten(context, stored))) {
      if (definition !== undefined) await renewWatches(context, definition)
      else {
        await storageOf(env).renew(collection)
        await storageOf(env).retire(collection)
      }
    }
    watchedKinds.forgetOthers(name, definition?.metadata.uid ?? '')
    return undefined
  },
}
