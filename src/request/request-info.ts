/**
 * The attributes of a request, read from its method, path and query (apiserver's pkg/endpoints/request RequestInfo).
 * Only this file decides verb, resource, subresource, namespace and name. Authorization checks them, and dispatch
 * (endpoints/route.ts) serves them or answers 404.
 */
import { ownValue } from '../base/own.ts'
import { parseInt64 } from '../go/int.ts'
import { parseFieldSelector } from '../storage/selectors/field-selector.ts'
import { parseLabelSelector } from '../storage/selectors/label-selector.ts'
import type { QueryParameters } from './query-parameters.ts'

export interface RequestInfo {
  readonly isResourceRequest: boolean
  /** The path, percent-decoded, without the query. */
  readonly path: string
  /**
   * get, list, watch, create, update, patch, delete, deletecollection or proxy for resources; else the lower-case
   * method.
   */
  readonly verb: string
  /** `api` or `apis`. */
  readonly apiPrefix: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  /** The name in the path, or the one that the field selector of a list or watch names. */
  readonly name: string
  /** The name in the path; '' for a collection. */
  readonly pathName: string
  /** The resource stands below /namespaces/NAMESPACE/. A Namespace's own path does not. */
  readonly inNamespace: boolean
  /** The parts of the path behind the subresource. */
  readonly deeper: readonly string[]
  /** The deprecated prefix before the resource. */
  readonly prefix: '' | 'watch' | 'proxy'
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

/** `/api/v1/namespaces//pods` is `/api/v1/pods`: a client that leaves the namespace empty lists in all namespaces. */
export const withoutEmptyNamespace = (path: string): string =>
  path.replace(
    /^(\/(?:api|apis\/[^/]+)\/[^/]+\/(?:watch\/)?)namespaces\/\/(?=[^/])(?!(?:namespaces|watch|proxy)\/|(?:status|finalize)(?:\/|$))/,
    '$1',
  )

/** kube-apiserver's router takes an empty part for the name of a namespace, or of the object before a subresource. */
export const withoutEmptyNames = (path: string): string =>
  withoutEmptyNamespace(path).replace(
    /^(\/(?:api|apis\/[^/]+)\/[^/]+\/(?!watch\/|proxy\/)(?:namespaces\/[^/]+\/)?[^/]+\/)\/(?=[^/])/,
    '$1-/',
  )

/** @param path percent-decoded, like Go's `URL.Path`: an encoded slash separates parts like a plain one */
export function requestInfoOf(method: string, path: string, query: QueryParameters): RequestInfo {
  const segments = segmentsOf(path)
  const apiPrefix = segments[0]
  if ((apiPrefix !== 'api' && apiPrefix !== 'apis') || segments.length < (apiPrefix === 'api' ? 3 : 4))
    return otherPath(method, path)

  let rest = segments.slice(1)
  let apiGroup = ''
  if (apiPrefix === 'apis') [apiGroup = '', ...rest] = rest
  const [apiVersion = '', ...tail] = rest
  rest = tail

  let verb = ownValue(methodVerbs, method) ?? ''
  let prefix: RequestInfo['prefix'] = ''
  if (rest[0] === 'watch' || rest[0] === 'proxy') {
    if (rest.length < 2) return { ...otherPath(method, path), apiPrefix, apiGroup, apiVersion }
    verb = prefix = rest[0]
    rest = rest.slice(1)
  }
  let namespace = ''
  let inNamespace = false
  if (rest[0] === 'namespaces') {
    if (rest.length > 1) {
      namespace = rest[1]!
      // /namespaces/NAME/status and /finalize are subresources of the namespace itself
      const leadsInto = rest.length > 2 && !namespaceSubresources.has(rest[2]!)
      if (leadsInto) rest = rest.slice(2)
      // an empty namespace stands for all
      inNamespace = leadsInto && namespace !== ''
    }
  }
  const [resource = '', pathName = '', third = '', ...deeper] = rest
  const subresource = prefix === 'proxy' ? '' : third
  let name = pathName
  if (pathName === '' && verb === 'get') {
    const watching = query.get('watch')
    verb = watching !== null && isTrue(watching) ? 'watch' : 'list'
    name = selectedName(query)
  }
  if (pathName === '' && verb === 'delete') verb = 'deletecollection'
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
    name,
    pathName,
    inNamespace,
    deeper,
    prefix,
  }
}

/**
 * Slashes at both ends separate nothing. An empty part inside is a part, as in every other server to which the path
 * may be passed on: `namespaces//pods` names no namespace.
 */
function segmentsOf(path: string): string[] {
  const parts = path.split('/')
  let from = 0
  let to = parts.length
  while (from < to && parts[from] === '') from++
  while (from < to && parts[to - 1] === '') to--
  return parts.slice(from, to)
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
  pathName: '',
  inNamespace: false,
  deeper: [],
  prefix: '',
})

/** The value of a boolean query parameter: true unless `0` or `false` in any case. */
export const isTrue = (text: string): boolean => text !== '0' && text.toLowerCase() !== 'false'

/**
 * The name that a field selector of a list or watch requires. The authorizer then sees a request for that name. Where
 * an option cannot be read it is '', as for a list of everything, and the verb refuses the request.
 */
function selectedName(query: QueryParameters): string {
  const selector = query.get('fieldSelector') ?? ''
  if (selector === '') return ''
  try {
    const named = parseFieldSelector(selector).find(
      ({ field, operator }) => field === 'metadata.name' && operator === '=',
    )
    const name = named?.value ?? ''
    if (!/^[^/%]+$/.test(name) || name === '.' || name === '..') return ''
    parseLabelSelector(query.get('labelSelector') ?? '')
    return wholeNumbers.every((option) => isAbsentOrWhole(query.get(option))) ? name : ''
  } catch {
    return ''
  }
}

/** Options of a list that must be whole numbers. */
const wholeNumbers = ['timeoutSeconds', 'limit']

const isAbsentOrWhole = (text: string | null): boolean => text === null || parseInt64(text) !== undefined
