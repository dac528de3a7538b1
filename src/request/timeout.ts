/**
 * The query parameter `timeout`, which every request but the long-running ones may carry. Work here has limits of its
 * own, so only its form matters: text that is no duration is refused, at any path and for any user.
 */
import { badRequest } from '../api/status.ts'
import { parseDuration, TimeError } from '../schema/time.ts'
import type { ApiRequest } from './context.ts'
import type { RequestInfo } from './request-info.ts'

const longRunningVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** @throws StatusError 400 */
export function checkTimeout(request: Pick<ApiRequest, 'info' | 'query'>): void {
  timeoutOf(request)
}

/** Nanoseconds; undefined where none is asked for, or the request is long-running. @throws StatusError 400 */
export function timeoutOf({ info, query }: Pick<ApiRequest, 'info' | 'query'>): bigint | undefined {
  const text = query.get('timeout') ?? ''
  if (text === '' || isLongRunning(info)) return undefined
  try {
    return parseDuration(text)
  } catch (error) {
    if (!(error instanceof TimeError)) throw error
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`)
  }
}

/** By its form alone: whether there is such a resource, is not known yet. */
export function isLongRunning({ verb, isResourceRequest, subresource, path }: RequestInfo): boolean {
  if (longRunningVerbs.has(verb)) return true
  return isResourceRequest ? longRunningSubresources.has(subresource) : path.startsWith('/debug/pprof/')
}
