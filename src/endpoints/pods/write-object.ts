import type { KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { workFor } from '../../registry/outbox.ts'
import { readLive } from '../../registry/store.ts'
import { newValueOf } from '../../registry/stored-form.ts'
import { StorageError } from '../../storage/errors.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { keyOf, storedAs } from '../../registry/resource-scope.ts'
import { statusFor } from '../../storage/storage-status.ts'

const TRIES = 20

/**
 * A change that the server itself makes to an object: no owner of fields is kept of it, and nobody validates it.
 * @param change makes the new object of a copy; runs again when somebody else was faster
 * @returns the object as it was read, changed or not
 * @throws 404, and what `change` throws
 */
export async function changeObject<O extends KubeObject>(
  scope: RequestScope,
  name: string,
  dryRun: boolean,
  change: (object: O) => void,
): Promise<O> {
  for (let attempt = 1; ; attempt++) {
    const live = await readLive(scope, name)
    if (live === undefined) throw notFound(scope.resource, name)
    // the scope is of the resource whose objects are changed
    const object = structuredClone(live.object) as O
    change(object)
    if (dryRun) return object
    const outbox = workFor({ resource: storedAs(scope), object, old: live.object })
    const value = { ...newValueOf(scope.storageType, object, scope.strategy), outbox }
    try {
      const stored = await scope.storage.update(scope.collection, keyOf(scope, name), value, live.stored.revision)
      object.metadata.resourceVersion = String(stored.revision)
      return object
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (error.code !== 'Conflict' || attempt >= TRIES) throw statusFor(error, scope.resource, name)
    }
  }
}
