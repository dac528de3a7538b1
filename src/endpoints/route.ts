/**
 * From a RequestInfo to its handler: whether the resource has this path, and which verb the method is there. The verb,
 * the namespace and the names are those of the RequestInfo, which were authorized; the method can only lead to a
 * refusal.
 */
import { notServed } from '../api/status.ts'
import type { ResourceEntry } from '../registry/resources.ts'
import type { Verb } from '../registry/serving.ts'
import type { RequestInfo } from '../request/request-info.ts'

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
 * @returns undefined for a path that does not exist, in a group that answers this with plain text
 * @throws StatusError 400, 404, 405
 */
export function routeOf(entry: ResourceEntry, info: RequestInfo, method: string, builtIn: boolean): Route | undefined {
  const verb = entry.serving.verbAt(entry, info, method)
  if (verb === undefined) {
    if (!builtIn) return undefined
    throw notServed()
  }
  const { pathName: name, subresource, deeper } = info
  return { entry, verb, namespace: entry.namespaced ? info.namespace : '', name, subresource, deeper }
}
