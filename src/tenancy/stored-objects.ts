import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { linesOf } from '../storage/lines.ts'
import type { Env } from '../env.ts'
import { collectionOf } from '../registry/collections.ts'
import { liveOf } from '../registry/stored-form.ts'
import { everything } from '../storage/selection.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Tenant } from './tenant.ts'

/**
 * All objects of a resource as they are now, in its storage version.
 * @param namespace absent: of all namespaces
 */
export async function storedObjects<O>(
  { env, tenant }: { readonly env: Env; readonly tenant: Tenant },
  resource: GroupResource,
  namespace?: string,
): Promise<(O & KubeObject)[]> {
  const { isEmpty, values, revision } = await storageOf(env).list(collectionOf(tenant, resource), {
    selection: everything,
    at: { kind: 'latest' },
    ...(namespace === undefined ? {} : { namespace }),
  })
  const objects: (O & KubeObject)[] = []
  if (isEmpty) return objects
  // the caller names the type of what is kept under this resource, and nothing else is
  for await (const text of linesOf(values)) objects.push(liveOf({ revision, text }).object as O & KubeObject)
  return objects
}
