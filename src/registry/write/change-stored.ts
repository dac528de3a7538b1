import { cloneJson } from '../../json/clone-json.ts'
import type { KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { knownLive, readLive } from '../store.ts'
import { commitUpdate, encode } from './commit.ts'
import { untilWritten } from './until-written.ts'

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
  return untilWritten(scope, name, async (isFirst) => {
    const live = isFirst && known !== undefined ? knownLive(known) : await readLive(scope, name)
    if (live === undefined) throw notFound(scope.resource.gvr, name)
    // the objects of this scope have this type
    const object = cloneJson(live.object) as O
    change(object)
    if (dryRun) return object
    const { stored } = await commitUpdate(scope, await encode(scope, object), live)
    object.metadata.resourceVersion = String(stored.revision)
    return object
  })
}
