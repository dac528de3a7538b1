/**
 * Requests that browsers send for pages of other origins (kube-apiserver's --cors-allowed-origins; "CORS protocol" in the
 * Fetch standard). A browser shows a page only the answers that name the page's origin.
 */
import { setOwn } from '../base/own.ts'
import type { Env } from '../env.ts'
import type { ApiRequest } from '../request/context.ts'
import { settingsOf } from '../settings.ts'
import { goMatches, goPatternError, loadPatterns } from '../validation/go-pattern.ts'
import { BadConfiguration } from './configuration-text.ts'

/** UTF-16 units of an origin. A DNS name has at most 253. */
const LONGEST = 1_000

/** The values of kube-apiserver, which no flag changes. */
const ALLOWED = {
  'Access-Control-Allow-Methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'Access-Control-Allow-Headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'Access-Control-Expose-Headers': 'Date',
  'Access-Control-Allow-Credentials': 'true',
}

/** The origin of the page that sent the request; undefined where no page may read answers. */
export const originOf = ({ env, headers }: Pick<ApiRequest, 'env' | 'headers'>): string | undefined =>
  settingsOf(env).allowedOrigins === undefined ? undefined : headers.get('Origin') || undefined

/**
 * Lets the page read the answer, if its origin is allowed.
 * @returns the answer to a preflight request, which carries no credentials and asks nothing of the API
 */
export async function admitOrigin(request: ApiRequest, origin: string): Promise<Response | undefined> {
  if (!(await isAllowed(origin, settingsOf(request.env).allowedOrigins ?? []))) return undefined
  const headers = { 'Access-Control-Allow-Origin': origin, ...ALLOWED }
  for (const [name, value] of Object.entries(headers)) setOwn(request.answerHeaders, name, value)
  if (request.method !== 'OPTIONS') return undefined
  return new Response(null, {
    status: 204,
    headers: { ...request.answerHeaders, 'Cache-Control': 'no-cache, private' },
  })
}

async function isAllowed(origin: string, patterns: readonly string[]): Promise<boolean> {
  if (origin.length > LONGEST) return false
  await loadPatterns()
  return patterns.some((pattern) => goMatches(pattern, origin, patterns) === true)
}

/** @throws BadConfiguration */
export async function checkOrigins(env: Env): Promise<void> {
  const patterns = settingsOf(env).allowedOrigins ?? []
  if (patterns.length > 0) await loadPatterns()
  for (const pattern of patterns) {
    const error = goPatternError(pattern, patterns)
    if (error !== undefined) throw new BadConfiguration(error)
  }
}
