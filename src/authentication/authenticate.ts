/**
 * Step 2 of a request: authentication. Each authenticator recognizes the user, has no opinion, or rejects the
 * credentials. Bad credentials are 401 even where anonymous requests are allowed; a request without any is anonymous.
 */
import { settingsOf } from '../settings.ts'
import { append } from '../base/append.ts'
import { unauthorized } from '../api/status.ts'
import type { Env } from '../env.ts'
import type { ApiRequest } from '../request/context.ts'
import type { RequestHeaders } from '../request/request-headers.ts'
import { authenticationCounts } from './authentication-counts.ts'
import { bearerToken, socketOffer } from './bearer-token.ts'
import type { SocketOffer } from './bearer-token.ts'
import { mayBeAnonymous } from './issuers/issuers.ts'
import { clientAuthority } from './client-authority.ts'
import { KUBELET_CLIENT, presentedCertificate } from './client-certificate.ts'
import { requestHeaderUser, saysForWhom } from './request-header.ts'
import type { TokenAnswer } from './token-answer.ts'
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

/**
 * For a request whose step after authentication was the first of this isolate to see that all objects were replaced, as by
 * a restore: its credentials may be those of an account that is another one now.
 * @throws StatusError 401, also where they are now another user's
 */
export async function authenticateAgain(request: ApiRequest, before: UserInfo): Promise<void> {
  const { user } = await authenticate(request)
  if (textOf(user) !== textOf(before)) throw unauthorized()
}

const textOf = ({ name, uid, groups, extra }: UserInfo): string => JSON.stringify([name, uid, groups, extra])

async function whoAsks(request: ApiRequest): Promise<Finding> {
  let refused = false
  for (const ask of authenticators) {
    const asked = ask(request)
    // many authenticators answer at once, so only promises are awaited
    const finding = asked instanceof Promise ? await asked : asked
    if (typeof finding === 'object') return finding
    refused ||= finding === 'refused'
  }
  if (refused) return 'refused'
  return (await mayBeAnonymous(request)) ? { user: ANONYMOUS } : 'nothing'
}

/** The user, and the headers without the credentials that later steps must not see. */
type Finding = { readonly user: UserInfo; readonly headers?: RequestHeaders } | 'nothing' | 'refused'

/** The authenticators in their order. The first that recognizes a user decides. */
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
  const ofCertificate = (user: UserInfo | undefined): Finding =>
    user === undefined || user.name === KUBELET_CLIENT
      ? 'refused'
      : { user: readsUid(env) ? user : { ...user, uid: '' } }
  const authority = clientAuthority(settingsOf(env).clientAuthorities)
  const known = authority?.known(presented, now)
  if (known !== undefined) return ofCertificate(known)
  return authority === undefined ? 'refused' : authority.verify(presented, now).then(ofCertificate)
}

const readsUid = (env: Env) => settingsOf(env).gates.enabled('AllowParsingUserUIDFromCertAuth')

function byBearerToken(request: ApiRequest): Finding | Promise<Finding> {
  const token = bearerToken(request.headers.get('Authorization'), request.warnings)
  if (token === undefined) return 'nothing'
  const known = knownToken(request, token)
  return known === undefined ? byToken(request, token) : ofToken(request, known)
}

/** The token is itself one of the offered sub-protocols, so the answer names another one that the client offered. */
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
    return ofToken(request, await authenticateToken(request, token))
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error
    if (error.usedSecret !== undefined) request.usedSecrets.push(error.usedSecret)
    return 'refused'
  }
}

function ofToken(request: ApiRequest, { user, warnings, annotations = {}, usedSecret }: TokenAnswer): Finding {
  if (warnings !== undefined) append(request.warnings, warnings)
  for (const [key, value] of Object.entries(annotations)) request.record?.annotate(key, value)
  if (usedSecret !== undefined) request.usedSecrets.push(usedSecret)
  return { user }
}
