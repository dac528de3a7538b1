/**
 * Ends remaining watches of custom resources whose definition changed or is gone. For a definition that is gone, the
 * control shard forgets the shard of its objects if it is empty, and the garbage collector forgets its dependents. A
 * kind without writes and watches has no database, and this controller makes none. Key: the definition's name.
 */
import type { KubeObject } from '../../api/object.ts'
import { DEFINITIONS } from '../../registry/custom-resources/definition.ts'
import { renewWatches } from '../../registry/custom-resources/renew-watches.ts'
import { wasWritten } from '../../registry/served/written-types.ts'
import { collectionOf, customStorageOf, groupResourceNamed } from '../../storage/collections.ts'
import { storageOf } from '../../storage/environment-storage.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { Controller } from '../controller.ts'

export const crdRenewalController: Controller = {
  async reconcile(name, context) {
    const { env, tenant, watchedKinds } = context
    const definition = (await freshControlSnapshot(context)).get<KubeObject>(DEFINITIONS, name)
    const stored = customStorageOf(groupResourceNamed(name))
    const collection = collectionOf(tenant, stored)
    // before any wait: a definition of the name that is newer than the snapshot cannot have objects yet
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
