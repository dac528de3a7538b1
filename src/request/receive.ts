import type { Env } from '../env.ts'
import { ANONYMOUS } from '../authentication/user-info.ts'
import { rootTenant } from '../tenancy/tenant.ts'
import type { ApiRequest } from './context.ts'
import { parseQuery } from './options.ts'
import { requestInfoOf } from './request-info.ts'

/** The TLS front hands over the request target exactly as the client sent it: URL parsers tidy paths up. */
export const TARGET_HEADER = 'x-kedge-target'

/** Reads method, path and query; everything a step after this one needs. A path that is no text is 400. */
export function receive(request: Request, env: Env, execution: ExecutionContext): ApiRequest | Response {
  const target = request.headers.get(TARGET_HEADER) ?? request.url.slice(new URL(request.url).origin.length)
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
    method: request.method,
    query,
    info: requestInfoOf(request.method, path, query),
    tenant: rootTenant(env.KEDGE_ROOT_TENANT),
    env,
    user: ANONYMOUS,
    now: new Date(),
    auditId: request.headers.get('Audit-Id') ?? crypto.randomUUID(),
    warnings: [],
    waitUntil: (work) => execution.waitUntil(work),
  }
}
