/**
 * A request without a snapshot at hand makes two calls side by side: one for the snapshot, one for the object that it
 * names. It drops the object if it is denied, or if it turns out to be about something else.
 */
import type { ApiCall, ApiRequest } from '../request/context.ts'
import { ANONYMOUS } from '../request/user-info.ts'
import { collectionOf } from '../storage/collections.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Collection, StoredValue } from '../storage/storage.ts'
import { builtInServed } from './built-in-served.ts'

/** Verbs that read the object first. */
const VERBS: ReadonlySet<string> = new Set(['get', 'update', 'patch'])
/** Subresources that are read from the object itself. Others are of another kind, or no object at all. */
const SUBRESOURCES: ReadonlySet<string> = new Set(['', 'status'])

const placeOf = ({ shard, prefix }: Collection, key: string): string => `${shard} ${prefix}/${key}`

export function beginFirstRead(request: ApiRequest): void {
  const { info, env, tenant, user } = request
  // an anonymous request will likely be denied, so it does not wake the shard
  if (user.name === ANONYMOUS.name) return
  const { verb, apiGroup, apiVersion, resource, namespace, pathName, subresource, deeper } = info
  if (!info.isResourceRequest || !VERBS.has(verb) || !SUBRESOURCES.has(subresource)) return
  if (pathName === '' || deeper.length > 0 || request.query.get('resourceVersion')) return
  const entry = builtInServed(env).resources.find(apiGroup, apiVersion, resource)
  if (entry === undefined || !entry.persisted || entry.namespaced !== (namespace !== '')) return
  const collection = collectionOf(tenant, { group: entry.storage.group, resource: entry.storage.resource })
  const key = entry.namespaced ? `${namespace}/${pathName}` : pathName
  const stored = storageOf(env).get(collection, key)
  // its error is that of the verb which takes it
  stored.catch(() => {})
  request.firstRead = { place: placeOf(collection, key), stored }
}

/**
 * Takes the object that was read beside the snapshot, once. Undefined where no read was begun, or that of another
 * object. Also where the object was not there: the call for the snapshot may have written the first objects of a fresh
 * control plane meanwhile.
 */
export function takeFirstRead(
  request: ApiCall & Pick<ApiRequest, 'firstRead'>,
  collection: Collection,
  key: string,
): Promise<StoredValue | undefined> | undefined {
  const { firstRead } = request
  if (firstRead === undefined) return undefined
  delete request.firstRead
  return firstRead.place === placeOf(collection, key) ? firstRead.stored : undefined
}
