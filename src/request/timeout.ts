/**
 * The query parameter `timeout`, which all requests but long-running ones may have (time-left.ts). A text that is no
 * duration is refused, at any path and for any user.
 */
import { badRequest } from '../api/status.ts'
import { parseDuration, TimeError } from '../schema/time.ts'
import type { ApiRequest } from './context.ts'
import type { RequestInfo } from './request-info.ts'

const longRunningVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
/** These take as long as there are objects. kube-apiserver does not have them. */
const longRunningPaths: ReadonlySet<string> = new Set(['/backup', '/restore'])
const longRunningSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** @throws StatusError 400 */
export function checkTimeout(request: Pick<ApiRequest, 'info' | 'query'>): void {
  const timeout = durationOf(request)
  if (timeout instanceof TimeError)
    throw badRequest(`invalid timeout specified in the request URL - ${timeout.message}`)
}

/** Nanoseconds; undefined without the parameter, and for long-running requests. */
export function durationOf({ info, query }: Pick<ApiRequest, 'info' | 'query'>): bigint | TimeError | undefined {
  const text = query.get('timeout') ?? ''
  if (text === '' || isLongRunning(info)) return undefined
  try {
    return parseDuration(text)
  } catch (error) {
    if (error instanceof TimeError) return error
    throw error
  }
}

/** Decides by the form of the request alone, because it is not yet known whether the resource exists. */
export function isLongRunning({ verb, isResourceRequest, subresource, path }: RequestInfo): boolean {
  if (longRunningVerbs.has(verb)) return true
  if (isResourceRequest) return longRunningSubresources.has(subresource)
  return path.startsWith('/debug/pprof/') || longRunningPaths.has(path)
}
