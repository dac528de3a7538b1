/** What a request is about, read from its method and path (apiserver's pkg/endpoints/request RequestInfo). */
import { ownValue } from '../api/own.ts'
import type { QueryParameters } from './query-parameters.ts'

export interface RequestInfo {
  readonly isResourceRequest: boolean
  /** The path, percent-decoded, without the query. */
  readonly path: string
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy; the lower-case method elsewhere. */
  readonly verb: string
  /** `api` or `apis`. */
  readonly apiPrefix: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The path behind the version, from the resource on. */
  readonly parts: readonly string[]
  /** The deprecated /watch/ path prefix was used. */
  readonly legacyWatch: boolean
}

const namespaceSubresources = new Set(['status', 'finalize'])
const methodVerbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/**
 * `path` is already percent-decoded, as Go's `URL.Path` is: an encoded slash separates parts like a plain one.
 */
export function requestInfoOf(method: string, path: string, query: QueryParameters): RequestInfo {
  const segments = path.split('/').filter((part) => part !== '')
  const apiPrefix = segments[0]
  if ((apiPrefix !== 'api' && apiPrefix !== 'apis') || segments.length < (apiPrefix === 'api' ? 3 : 4))
    return otherPath(method, path)

  let rest = segments.slice(1)
  let apiGroup = ''
  if (apiPrefix === 'apis') [apiGroup = '', ...rest] = rest
  const [apiVersion = '', ...tail] = rest
  rest = tail

  let verb = ownValue(methodVerbs, method) ?? ''
  let legacyWatch = false
  if (rest[0] === 'watch' || rest[0] === 'proxy') {
    if (rest.length < 2) return { ...otherPath(method, path), apiPrefix, apiGroup, apiVersion }
    verb = rest[0]!
    legacyWatch = verb === 'watch'
    rest = rest.slice(1)
  }
  let namespace = ''
  if (rest[0] === 'namespaces') {
    if (rest.length > 1) {
      namespace = rest[1]!
      // /namespaces/NAME/status and /finalize are subresources of the namespace itself
      if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2)
    }
  }
  const [resource = '', name = '', ...deeper] = rest
  const subresource = deeper[0] ?? ''
  if (name === '' && verb === 'get') {
    const watching = query.get('watch')
    verb = watching !== null && isTrue(watching) ? 'watch' : 'list'
  }
  let selectedName = name
  if (name === '' && (verb === 'list' || verb === 'watch'))
    selectedName = nameOfFieldSelector(query.get('fieldSelector'))
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name: selectedName,
    parts: rest,
    legacyWatch,
  }
}

const otherPath = (method: string, path: string): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: method.toLowerCase(),
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  legacyWatch: false,
})

/** Boolean query parameters: true unless `0` or `false` in any case. */
export const isTrue = (text: string): boolean => text !== '0' && text.toLowerCase() !== 'false'

/** A selector that names exactly one object makes list and watch requests of that name for the authorizer. */
function nameOfFieldSelector(selector: string | null): string {
  const name = /^metadata\.name=(?:=)?([^,]+)$/.exec(selector ?? '')?.[1] ?? ''
  return /^[^/%]+$/.test(name) && name !== '.' && name !== '..' ? name : ''
}
