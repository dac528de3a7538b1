import type { Clock } from '../base/clock.ts'
import { settingsOf } from '../settings.ts'
import type { Env } from '../env.ts'
import { ANONYMOUS } from './user-info.ts'
import { rootTenant } from '../storage/tenant.ts'
import type { ApiRequest } from './context.ts'
import { hopsOf } from './hops.ts'
import { RequestRecord } from './record.ts'
import { parseQuery } from './query-parameters.ts'
import { RequestHeaders } from './request-headers.ts'
import { requestInfoOf } from './request-info.ts'
import { targetOf } from './target.ts'

/**
 * Reads method, path and query for the later steps. For any user, a path that is not text gets 400, and a path with a
 * verb but no resource gets 500. The path is cut out of the raw URL, because parsing would normalize it.
 * @param isBuiltInGroup whether this server serves built-in resources of an API group
 * @param isAttested the request has a valid statement of the local front
 */
export function receive(
  request: Request,
  env: Env,
  execution: ExecutionContext,
  clock: Clock,
  isBuiltInGroup: (group: string) => boolean,
  isAttested = false,
): ApiRequest | Response {
  const settings = settingsOf(env)
  // without a statement `cf` says nothing that came from a front, and reading it costs time
  const cf = settings.frontKey === undefined || isAttested ? request.cf : undefined
  const method = methodOf(request, cf)
  const target = targetOf(request)
  const mark = target.indexOf('?')
  const search = mark < 0 ? '' : target.slice(mark)
  let path: string
  try {
    path = decodeURIComponent(mark < 0 ? target : target.slice(0, mark))
  } catch {
    return new Response('400 Bad Request', { status: 400, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
  }
  const query = parseQuery(search)
  const info = requestInfoOf(method, path, query)
  const headers = RequestHeaders.of(request.headers)
  const auditId = headers.get('Audit-Id') ?? crypto.randomUUID()
  if (info.apiPrefix !== '' && !info.isResourceRequest) return unclear(target, auditId)
  return {
    request,
    cf,
    headers,
    method,
    query,
    info,
    tenant: rootTenant(settings),
    env,
    definitionsMayLag: info.isResourceRequest && isBuiltInGroup(info.apiGroup),
    user: ANONYMOUS,
    auditId,
    now: new Date(clock()),
    clock,
    stage: { maker: 'router' },
    answerHeaders: { 'Audit-Id': auditId },
    warnings: [],
    usedSecrets: [],
    record: settings.recordsRequests ? new RequestRecord() : undefined,
    waitUntil: (work) => execution.waitUntil(work),
    hops: hopsOf(headers),
    gone: () => request.signal,
  }
}

/** The answer to `/api/v1/watch` and the like: a verb without a resource. */
function unclear(target: string, auditId: string): Response {
  const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${target}`
  return internalErrorText(target, why, { 'Audit-Id': auditId })
}

/** kube-apiserver's answer to an internal error outside of the API. */
export function internalErrorText(target: string, why: string, more: Readonly<Record<string, string>> = {}): Response {
  const text = `Internal Server Error: ${JSON.stringify(target)}: ${why}\n`
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }
  return new Response(escaped, { status: 500, headers: { ...headers, ...more } })
}

/** The local engine cannot carry every method, so its front sends the real one in `cf`. */
function methodOf({ method }: Request, cf: Request['cf']): string {
  const carried: unknown = cf?.method
  return typeof carried === 'string' ? carried : method
}
