/**
 * Finds the handler of a RequestInfo: whether the resource has this path, and which verb the method means there.
 * Verb, namespace and names come from the RequestInfo, which was authorized. The method can only lead to a refusal.
 */
import { badRequest, madeBy, notServed } from '../api/status.ts'
import type { ResourceEntry } from '../registry/served/resources.ts'
import type { Verb } from '../registry/served/serving.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { withoutEmptyNamespace } from '../request/request-info.ts'

/** Where a request leads. */
export interface Route {
  readonly entry: ResourceEntry
  /** '' for OPTIONS, which only a proxy answers. */
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
 * @returns undefined where the path does not exist and its group answers in plain text
 * @throws StatusError 400, 404, 405
 */
export function routeOf(entry: ResourceEntry, info: RequestInfo, method: string, builtIn: boolean): Route | undefined {
  const isBelowNone = builtIn && !info.inNamespace && withoutEmptyNamespace(info.path) !== info.path
  const verb = isBelowNone ? verbBelowNone(entry, info, method) : entry.serving.verbAt(entry, info, method)
  if (verb === undefined) {
    if (!builtIn) return undefined
    throw notServed()
  }
  const { pathName: name, subresource, deeper } = info
  return { entry, verb, namespace: entry.namespaced ? info.namespace : '', name, subresource, deeper }
}

/**
 * The verb below an empty namespace. A list and a watch are of all namespaces. The path of one object exists, but leads
 * to none. Of a cluster-scoped resource there is none.
 * @throws StatusError 400, 404, 405
 */
function verbBelowNone(entry: ResourceEntry, info: RequestInfo, method: string): Verb | '' | undefined {
  if (entry.namespaced && info.pathName === '' && info.subresource === '')
    return entry.serving.verbAt(entry, info, method)
  const verb = entry.serving.verbAt(entry, { ...info, inNamespace: true }, method)
  if (verb === undefined) throw notServed()
  if (verb === 'watch') return verb
  throw madeBy('handler', badRequest('Namespace parameter required.'))
}
