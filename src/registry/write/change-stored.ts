import { cloneJson } from '../../api/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { StorageError } from '../../storage/errors.ts'
import { statusFor } from '../../storage/storage-status.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { knownLive, readLive } from '../store.ts'
import { commitUpdate, encode } from './commit.ts'

const TRIES = 20

/**
 * Changes an object on behalf of the server, without the strategy of the resource (bindings, the condition of an
 * evicted pod). It records no field manager and validates nothing.
 * @param options `known`: the object as the caller read it; the write compares it with the stored one
 * @param change changes a copy of the object; runs again on conflict
 * @returns the object as this function read it, changed or not
 * @throws 404, and errors of `change`
 */
export async function changeStored<O extends KubeObject>(
  scope: ResourceScope,
  name: string,
  { dryRun, known }: { readonly dryRun: boolean; readonly known?: O | undefined },
  change: (object: O) => void,
): Promise<O> {
  for (let attempt = 1; ; attempt++) {
    const live = attempt === 1 && known !== undefined ? knownLive(known) : await readLive(scope, name)
    if (live === undefined) throw notFound(scope.resource.gvr, name)
    // the objects of this scope have this type
    const object = cloneJson(live.object) as O
    change(object)
    if (dryRun) return object
    try {
      const { stored } = await commitUpdate(scope, await encode(scope, object), live)
      object.metadata.resourceVersion = String(stored.revision)
      return object
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (error.code !== 'Conflict' || attempt >= TRIES) throw statusFor(error, scope.resource.gvr, name)
    }
  }
}
