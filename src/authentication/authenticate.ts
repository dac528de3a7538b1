/**
 * Step 2 of a request: who makes it. Each authenticator says who it is, that it has nothing to say, or that what it was
 * given is bad. One who is known goes on; bad credentials are 401 even where nobody need be known; without any the
 * request is anonymous.
 */
import { unauthorized } from '../api/status.ts'
import type { ApiRequest } from '../request/context.ts'
import { bearerToken, webSocketToken } from './bearer-token.ts'
import { certificateUser, presentedCertificate } from './client-certificate.ts'
import { requestHeaderUser } from './request-header.ts'
import { TokenRefused, authenticateToken } from './token-authenticator.ts'
import type { UserInfo } from './user-info.ts'
import { ANONYMOUS } from './user-info.ts'

/** @throws StatusError 401 */
export async function authenticate(request: ApiRequest): Promise<ApiRequest> {
  return { ...request, user: await userOf(request) }
}

type Finding = UserInfo | 'nothing' | 'refused'

/** In the order in which they are asked: the first who knows somebody decides. */
const authenticators: readonly ((request: ApiRequest) => Finding | Promise<Finding>)[] = [
  byRequestHeaders,
  byCertificate,
  byToken,
]

async function userOf(request: ApiRequest): Promise<UserInfo> {
  let refused = false
  for (const ask of authenticators) {
    const finding = await ask(request)
    if (typeof finding === 'object') return finding
    refused ||= finding === 'refused'
  }
  if (refused) throw unauthorized()
  return ANONYMOUS
}

async function byRequestHeaders({ request, env }: ApiRequest): Promise<Finding> {
  return (await requestHeaderUser(request, env)) ?? 'nothing'
}

function byCertificate({ request }: ApiRequest): Finding {
  const certificate = presentedCertificate(request)
  return certificate === undefined ? 'nothing' : (certificateUser(certificate) ?? 'refused')
}

async function byToken({ request, env, tenant, now, warnings }: ApiRequest): Promise<Finding> {
  let token: string | undefined
  try {
    token = bearerToken(request.headers, warnings) ?? webSocketToken(request.headers)
  } catch {
    return 'refused'
  }
  if (token === undefined) return 'nothing'
  try {
    return (await authenticateToken({ env, tenant, now }, token)).user
  } catch (error) {
    if (error instanceof TokenRefused) return 'refused'
    throw error
  }
}
