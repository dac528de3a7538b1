import type { Env } from '../env.ts'
import { ANONYMOUS } from '../authentication/user-info.ts'
import { rootTenant } from '../tenancy/tenant.ts'
import type { ApiRequest } from './context.ts'
import { parseQuery } from './options.ts'
import { requestInfoOf } from './request-info.ts'

/**
 * Reads method, path and query; everything a step after this one needs. A path that is no text is 400. The path is cut
 * out of the URL as it came: parsing would tidy it up.
 */
export function receive(request: Request, env: Env, execution: ExecutionContext): ApiRequest | Response {
  const method = methodOf(request)
  const target = request.url.slice(request.url.indexOf('/', 'https://'.length))
  const mark = target.indexOf('?')
  const search = mark < 0 ? '' : target.slice(mark)
  let path: string
  try {
    path = decodeURIComponent(mark < 0 ? target : target.slice(0, mark))
  } catch {
    return new Response('400 Bad Request', { status: 400, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
  }
  const query = parseQuery(search)
  return {
    request,
    method,
    query,
    info: requestInfoOf(method, path, query),
    tenant: rootTenant(env.KEDGE_ROOT_TENANT),
    env,
    user: ANONYMOUS,
    now: new Date(),
    auditId: request.headers.get('Audit-Id') ?? crypto.randomUUID(),
    warnings: [],
    waitUntil: (work) => execution.waitUntil(work),
  }
}

/** The local engine cannot carry every method; its front then tells the real one beside the request. */
function methodOf({ method, cf }: Request): string {
  const told: unknown = cf?.method
  return typeof told === 'string' ? told : method
}
