/** From a RequestInfo to a verb: which methods and paths a resource has, and who serves them. */
import { ownValue } from '../api/own.ts'
import { methodNotAllowed, notServed } from '../api/status.ts'
import type { ApiRequest } from '../request/context.ts'
import { parseListOptions } from '../request/options.ts'
import type { ResourceEntry, ServedResources } from '../registry/resources.ts'
import { checkNameParameter } from '../registry/store.ts'
import { freshServedResources } from '../registry/served.ts'
import { notFoundText } from './fixed-paths.ts'
import { isComponentStatuses, serveComponentStatuses } from './component-statuses.ts'
import { create } from './create.ts'
import { customVerb } from './custom-routes.ts'
import { deleteCollection, deleteOne } from './delete.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { resourceScope } from './scope.ts'
import { serveSubresource } from './subresources.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

/** @param served at the beginning of the request */
export async function serveResource(request: ApiRequest, served: ServedResources): Promise<Response> {
  const { info } = request
  let entry = served.find(info.apiGroup, info.apiVersion, info.resource)
  if (entry === undefined && !served.isBuiltInGroup(info.apiGroup)) {
    // a definition may have been established since
    served = await freshServedResources(request)
    entry = served.find(info.apiGroup, info.apiVersion, info.resource)
  }
  const builtIn = info.apiPrefix === 'api' || served.isBuiltInGroup(info.apiGroup)
  if (entry === undefined) {
    if (builtIn) throw notServed()
    return notFoundText()
  }
  const [, name = '', subresource = '', ...deeper] = info.parts
  const place = placeOf(entry, info.namespace, name, subresource, deeper)
  const allowed = subresource === '' ? entry.verbs : subresourceVerbs(entry, subresource)
  const verb = entry.definition === undefined ? verbAt(place, request.method, allowed) : customVerb(entry, info)
  if (verb === undefined) {
    if (!builtIn) return notFoundText()
    throw methods.some((method) => verbAt(place, method, allowed) !== undefined) ? methodNotAllowed() : notServed()
  }
  if (entry.deprecationWarning !== undefined) request.warnings.push(entry.deprecationWarning)
  const scope = resourceScope(request, entry, { name, subresource })
  if (name !== '') checkNameParameter(scope, name)
  if (subresource !== '') return serveSubresource(scope, verb, deeper)
  if (isComponentStatuses(entry)) return serveComponentStatuses(scope)
  switch (verb) {
    case 'create':
      return create(scope)
    case 'get':
      // the deprecated /watch/…/NAME is a watch of one object
      return info.legacyWatch ? watch(scope, parseListOptions(request.query, true)) : get(scope)
    case 'update':
      return update(scope)
    case 'patch':
      return patch(scope)
    case 'delete':
      return deleteOne(scope)
    case 'deletecollection':
      return deleteCollection(scope)
    case 'list': {
      const options = parseListOptions(request.query, info.legacyWatch)
      return options.watch ? watch(scope, options) : list(scope, options)
    }
  }
}

type Place = 'collection' | 'everywhere' | 'item' | 'subresource' | 'proxy' | 'nowhere'
export type Verb = 'create' | 'get' | 'list' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Where in the resource a path points to; `everywhere` is a namespaced resource across namespaces. */
function placeOf(
  entry: ResourceEntry,
  namespace: string,
  name: string,
  subresource: string,
  deeper: readonly string[],
): Place {
  if (!entry.namespaced && namespace !== '' && entry.resource !== 'namespaces') return 'nowhere'
  if (subresource !== '') {
    if (!entry.subresources.some((known) => known.name === subresource)) return 'nowhere'
    if (deeper.length > 0 && subresource !== 'proxy') return 'nowhere'
    if (entry.namespaced && namespace === '') return 'nowhere'
    return subresource === 'proxy' ? 'proxy' : 'subresource'
  }
  if (!entry.namespaced || namespace !== '') return name === '' ? 'collection' : 'item'
  return name === '' ? 'everywhere' : 'nowhere'
}

const ofSubresources = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const

const routes: Readonly<Record<Place, Readonly<Record<string, Verb>>>> = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  everywhere: { GET: 'list' },
  item: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: ofSubresources,
  proxy: { ...ofSubresources, HEAD: 'get', OPTIONS: 'get' },
  nowhere: {},
}
const methods = [...new Set(Object.values(routes).flatMap((route) => Object.keys(route)))]

/** A place that answers no method is no place at all. */
function verbAt(place: Place, method: string, allowed: readonly string[]): Verb | undefined {
  const verb = ownValue(routes[place], method)
  return verb !== undefined && allowed.includes(verb) ? verb : undefined
}

const subresourceVerbs = (entry: ResourceEntry, name: string): readonly string[] =>
  entry.subresources.find((known) => known.name === name)?.verbs ?? []
