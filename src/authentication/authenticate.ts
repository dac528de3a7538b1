/**
 * Step 2 of a request: authentication. Each authenticator recognizes the user, has no opinion, or rejects the
 * credentials. Bad credentials are 401 even where anonymous requests are allowed; a request without any is anonymous.
 */
import { settingsOf } from '../settings.ts'
import { unauthorized } from '../api/status.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { authenticationCounts } from './authentication-counts.ts'
import { bearerToken, socketOffer } from './bearer-token.ts'
import type { SocketOffer } from './bearer-token.ts'
import { mayBeAnonymous } from './issuers/issuers.ts'
import { clientAuthority } from './client-authority.ts'
import { presentedCertificate } from './client-certificate.ts'
import { requestHeaderUser, saysForWhom } from './request-header.ts'
import { TokenRefused } from './token-answer.ts'
import { authenticateToken, knownToken } from './token-authenticator.ts'
import type { UserInfo } from '../request/user-info.ts'
import { ANONYMOUS } from '../request/user-info.ts'

/** @throws StatusError 401 */
export async function authenticate(request: ApiRequest): Promise<ApiRequest> {
  const began = request.clock()
  const found = await whoAsks(request)
  const result = typeof found === 'object' ? 'success' : found === 'refused' ? 'error' : 'failure'
  const { attempts, durations } = authenticationCounts(request.tenant)
  attempts.add({ result })
  durations.observe(result, (request.clock() - began) / 1000, () => ({ result }))
  if (typeof found !== 'object') throw unauthorized()
  return { ...request, ...found }
}

async function whoAsks(request: ApiRequest): Promise<Finding> {
  let refused = false
  for (const ask of authenticators) {
    const asked = ask(request)
    // many know at once: they need not wait for a turn
    const finding = asked instanceof Promise ? await asked : asked
    if (typeof finding === 'object') return finding
    refused ||= finding === 'refused'
  }
  if (refused) return 'refused'
  return (await mayBeAnonymous(request)) ? { user: ANONYMOUS } : 'nothing'
}

/** The user, and the headers without the credentials that would disturb the next steps. */
type Finding = { readonly user: UserInfo; readonly headers?: RequestHeaders } | 'nothing' | 'refused'

/** In the order of the calls: the first that recognizes a user decides. */
const authenticators: readonly ((request: ApiRequest) => Finding | Promise<Finding>)[] = [
  byRequestHeaders,
  byCertificate,
  byBearerToken,
  bySocketProtocol,
]

function byRequestHeaders(request: ApiRequest): Finding | Promise<Finding> {
  return saysForWhom(request)
    ? requestHeaderUser(request).then((user) => (user === undefined ? 'nothing' : { user }))
    : 'nothing'
}

function byCertificate(request: ApiRequest): Finding | Promise<Finding> {
  const presented = presentedCertificate(request)
  if (presented === undefined) return 'nothing'
  const { env, now } = request
  const authority = clientAuthority(settingsOf(env).authority)
  const known = authority?.known(presented, now)
  if (known !== undefined) return ofCertificate(known)
  return authority === undefined ? 'refused' : authority.verify(presented, now).then(ofCertificate)
}

const ofCertificate = (user: UserInfo | undefined): Finding => (user === undefined ? 'refused' : { user })

function byBearerToken(request: ApiRequest): Finding | Promise<Finding> {
  const token = bearerToken(request.headers.get('Authorization'), request.warnings)
  if (token === undefined) return 'nothing'
  const known = knownToken(request, token)
  return known === undefined ? byToken(request, token) : { user: known.user }
}

/** The token is no protocol that could be spoken, so the answer names one of the others that the client offered. */
async function bySocketProtocol(request: ApiRequest): Promise<Finding> {
  let offer: SocketOffer | undefined
  try {
    offer = socketOffer(request.headers)
  } catch {
    return 'refused'
  }
  if (offer === undefined) return 'nothing'
  const finding = await byToken(request, offer.token)
  if (typeof finding !== 'object') return finding
  return { ...finding, headers: request.headers.with('Sec-WebSocket-Protocol', offer.others.join(', ')) }
}

async function byToken(request: ApiRequest, token: string): Promise<Finding> {
  try {
    return { user: (await authenticateToken(request, token)).user }
  } catch (error) {
    if (error instanceof TokenRefused) return 'refused'
    throw error
  }
}
