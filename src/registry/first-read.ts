/**
 * Without a cached snapshot, a request makes two calls at once: for the snapshot, and for the object that it names. It
 * drops the object if authorization denies the request, or if the snapshot shows that the request is about another
 * object.
 */
import type { ApiCall, ApiRequest } from '../request/context.ts'
import { ANONYMOUS } from '../request/user-info.ts'
import { collectionOf } from '../storage/collections.ts'
import { storageOf } from '../storage/environment-storage.ts'
import type { Collection, StoredValue } from '../storage/storage.ts'
import { builtInServed } from './served/built-in-served.ts'

/** Verbs whose first step reads the object. */
const VERBS: ReadonlySet<string> = new Set(['get', 'update', 'patch'])
/** Subresources that read the object itself. Other subresources have another kind, or no object at all. */
const SUBRESOURCES: ReadonlySet<string> = new Set(['', 'status'])

const placeOf = ({ shard, prefix }: Collection, key: string): string => `${shard} ${prefix}/${key}`

export function beginFirstRead(request: ApiRequest): void {
  const { info, env, tenant, user } = request
  // authorization will likely deny an anonymous request, so it does not wake the shard
  if (user.name === ANONYMOUS.name) return
  const { verb, apiGroup, apiVersion, resource, namespace, pathName, subresource, deeper } = info
  if (!info.isResourceRequest || !VERBS.has(verb) || !SUBRESOURCES.has(subresource)) return
  if (pathName === '' || deeper.length > 0 || request.query.get('resourceVersion')) return
  const entry = builtInServed(env).resources.find(apiGroup, apiVersion, resource)
  if (entry === undefined || !entry.persisted || entry.namespaced !== (namespace !== '')) return
  const collection = collectionOf(tenant, { group: entry.storage.group, resource: entry.storage.resource })
  const key = entry.namespaced ? `${namespace}/${pathName}` : pathName
  const stored = storageOf(env).get(collection, key)
  // the verb that takes the object throws the error
  stored.catch(() => {})
  request.firstRead = { place: placeOf(collection, key), stored }
}

/**
 * Takes the object that the request read together with the snapshot, once. Undefined if the request read no object, or
 * another one. Undefined too if the object was absent: the call for the snapshot may have written the first objects of
 * a fresh control plane meanwhile.
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
