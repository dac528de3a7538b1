/**
 * From a RequestInfo to what runs: whether the resource has this path, and answers this method there. The verb, the
 * namespace and the names are those of the RequestInfo, which were authorized; a method only ever refuses.
 */
import { ownValue } from '../api/own.ts'
import { badRequest, methodNotAllowed, methodNotSupported, notFound, notServed } from '../api/status.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import type { RequestInfo } from '../request/request-info.ts'

const verbs = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection'] as const
export type Verb = (typeof verbs)[number]

/** Where a request leads. */
export interface Route {
  readonly entry: ResourceEntry
  /** '' is that of OPTIONS, which only a proxy answers. */
  readonly verb: Verb | ''
  /** '' for a cluster-scoped resource and for all namespaces. */
  readonly namespace: string
  /** '' for a collection. */
  readonly name: string
  readonly subresource: string
  /** The path behind a proxy. */
  readonly deeper: readonly string[]
}

/**
 * Undefined: no such path, in a group where that is told as text.
 * @throws StatusError 400, 404, 405
 */
export function routeOf(entry: ResourceEntry, info: RequestInfo, method: string, builtIn: boolean): Route | undefined {
  const verb = entry.definition === undefined ? builtInVerb(entry, info, method) : customVerb(entry, info)
  if (verb === undefined) {
    if (!builtIn) return undefined
    throw notServed()
  }
  const { pathName: name, subresource, deeper } = info
  return { entry, verb, namespace: entry.namespaced ? info.namespace : '', name, subresource, deeper }
}

type Place = 'collection' | 'everywhere' | 'item' | 'subresource' | 'proxy' | 'watched' | 'nowhere'

/** `everywhere` is a namespaced resource across namespaces, `watched` what the deprecated prefix /watch/ leads to. */
function placeOf(entry: ResourceEntry, { prefix, inNamespace, pathName, subresource, deeper }: RequestInfo): Place {
  if (prefix === 'proxy' || (inNamespace && !entry.namespaced)) return 'nowhere'
  const isAcross = entry.namespaced && !inNamespace
  if (isAcross && pathName !== '') return 'nowhere'
  if (subresource === '') {
    if (prefix === 'watch') return 'watched'
    if (isAcross) return 'everywhere'
    return pathName === '' ? 'collection' : 'item'
  }
  if (prefix === 'watch' || !entry.subresources.some((known) => known.name === subresource)) return 'nowhere'
  if (subresource === 'proxy') return 'proxy'
  return deeper.length === 0 ? 'subresource' : 'nowhere'
}

const ofSubresources = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Which methods a place answers, each where discovery lists this verb for the resource. */
const methodsAt: Readonly<Record<Place, Readonly<Record<string, string>>>> = {
  collection: { GET: 'list', POST: 'create', DELETE: 'deletecollection' },
  everywhere: { GET: 'list' },
  item: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  subresource: ofSubresources,
  proxy: { ...ofSubresources, HEAD: 'get', OPTIONS: 'get' },
  watched: { GET: 'watch' },
  nowhere: {},
}

function builtInVerb(entry: ResourceEntry, info: RequestInfo, method: string): Verb | '' | undefined {
  const place = placeOf(entry, info)
  const methods = methodsAt[place]
  const listed = info.subresource === '' ? entry.verbs : subresourceVerbs(entry, info.subresource)
  const listedAs = ownValue(methods, method)
  if (listedAs === undefined || !listed.includes(listedAs)) {
    // a place that answers no method is no place at all
    // few: verbs
    if (Object.values(methods).some((verb) => listed.includes(verb))) throw methodNotAllowed()
    return undefined
  }
  const verb = verbOf(info)
  // ?watch=true of what can be listed alone
  if (verb === 'watch' && !listed.includes('watch')) throw methodNotSupported(entry, verb)
  return verb
}

const subresourceVerbs = (entry: ResourceEntry, name: string): readonly string[] =>
  entry.subresources.find((known) => known.name === name)?.verbs ?? []

const verbOf = ({ verb }: RequestInfo): Verb | '' => verbs.find((known) => known === verb) ?? ''

const customSubresourceVerbs: readonly string[] = ['get', 'update', 'patch'] satisfies Verb[]

/** Custom resources are served by verb, whatever the method, and refuse in words of their own (apiextensions' handler). */
function customVerb(entry: ResourceEntry, info: RequestInfo): Verb | undefined {
  const { namespace, pathName, subresource } = info
  const isAcross = info.verb === 'list' || info.verb === 'watch'
  if (entry.namespaced ? namespace === '' && !isAcross : namespace !== '') return undefined
  if (subresource !== '' && !entry.subresources.some((known) => known.name === subresource))
    throw notFound(entry, pathName)
  const verb = verbOf(info)
  if (verb === '' || (subresource !== '' && !customSubresourceVerbs.includes(verb)))
    throw methodNotSupported(entry, info.verb)
  if ((verb === 'update' || verb === 'patch') && pathName === '') throw badRequest('name must be provided')
  return verb
}
