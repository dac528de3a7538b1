/**
 * The query parameter `timeout`, which every request but the long-running ones may carry. Work here has limits of its
 * own, so that only its form matters: what is no duration is refused, whatever the path.
 */
import { badRequest } from '../api/status.ts'
import { parseDuration, TimeError } from '../schema/time.ts'
import type { ApiRequest } from './context.ts'
import { isTrue } from './request-info.ts'

const longRunning: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** @throws StatusError 400 */
export function checkTimeout({ info, query }: Pick<ApiRequest, 'info' | 'query'>): void {
  const text = query.get('timeout') ?? ''
  if (text === '' || info.verb === 'proxy' || longRunning.has(info.subresource)) return
  if (info.isResourceRequest && (info.verb === 'watch' || isTrue(query.get('watch') ?? '0'))) return
  try {
    parseDuration(text)
  } catch (error) {
    if (!(error instanceof TimeError)) throw error
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`)
  }
}
