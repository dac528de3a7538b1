/**
 * Who a bearer token stands for: the administrator's token, ServiceAccounts' tokens, bootstrap tokens. Requests and
 * TokenReviews ask the same.
 */
import { settingsOf } from '../settings.ts'
import { append } from '../api/append.ts'
import { BoundedMap } from '../api/bounded-map.ts'
import type { Env } from '../env.ts'
import type { Tenant } from '../storage/tenant.ts'
import { authenticateBootstrapToken } from './bootstrap-token.ts'
import { lookUpOnce } from './refused-tokens.ts'
import { sameSecret } from './secret-comparison.ts'
import { authenticateServiceAccountToken } from './service-account.ts'
import { tokenIssuer } from './service-account-key.ts'
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS, authenticated } from '../request/user-info.ts'

export interface TokenAnswer {
  readonly user: UserInfo
  /** Those of the audiences asked for that the token is meant for. */
  readonly audiences: readonly string[]
}

/** The token is refused. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'

  /** What each authenticator had to say; none: it is no token that anybody knows. */
  constructor(readonly reasons: readonly string[]) {
    super(reasons.length === 0 ? INVALID : `[${[INVALID, ...reasons].join(', ')}]`)
  }
}

const INVALID = 'invalid bearer token'

const ADMINISTRATOR = authenticated({ name: 'kubernetes-admin', uid: 'admin-uid', groups: [SYSTEM_MASTERS] })

export interface TokenContext {
  readonly env: Env
  readonly tenant: Tenant
  readonly now: Date
}

/** How long a token that was good is taken without looking again, as kube-apiserver does. Milliseconds. */
const CACHED_FOR = 10_000

const cache = new BoundedMap<string, { readonly until: number; readonly answer: TokenAnswer }>({
  entries: 4_096,
  size: 8 * 1024 * 1024,
  sizeOf: ({ length }) => length,
})

/**
 * @param audiences whom the token must be meant for; default: this server
 * @throws TokenRefused
 */
export async function authenticateToken(
  context: TokenContext,
  token: string,
  audiences?: readonly string[],
): Promise<TokenAnswer> {
  const known = knownToken(context, token, audiences)
  if (known !== undefined) return known
  const { now } = context
  const wanted = audiencesOf(context, audiences)
  const key = cacheKey(context, token, wanted)
  const answer = await lookUpOnce(context.tenant, now, key, () => lookUp(context, token, wanted), isRefused)
  cache.set(key, { until: now.getTime() + CACHED_FOR, answer })
  return answer
}

/** The answer for a token that was good a moment ago. */
export function knownToken(
  context: TokenContext,
  token: string,
  audiences?: readonly string[],
): TokenAnswer | undefined {
  const known = cache.get(cacheKey(context, token, audiencesOf(context, audiences)))
  return known !== undefined && known.until > context.now.getTime() ? known.answer : undefined
}

const isRefused = (error: unknown): error is TokenRefused => error instanceof TokenRefused

const audiencesOf = ({ env }: TokenContext, audiences: readonly string[] = []): readonly string[] =>
  audiences.length > 0 ? audiences : [tokenIssuer(env)]

const cacheKey = ({ tenant }: TokenContext, token: string, audiences: readonly string[]): string =>
  JSON.stringify([tenant.uid, token, audiences])

async function lookUp(
  { env, tenant, now }: TokenContext,
  token: string,
  wanted: readonly string[],
): Promise<TokenAnswer> {
  const reasons: string[] = []
  /** Tokens that say nothing of audiences are meant for this server. */
  const forServer = (user: UserInfo): TokenAnswer | undefined => {
    const audiences = wanted.filter((audience) => audience === tokenIssuer(env))
    return audiences.length === 0 ? undefined : { user, audiences }
  }
  const { administratorToken } = settingsOf(env)
  const isAdministrator = administratorToken !== undefined && (await sameSecret(token, administratorToken))
  const answer =
    (isAdministrator ? forServer(ADMINISTRATOR) : undefined) ??
    (await authenticateServiceAccountToken({ env, tenant, now }, token, wanted).catch(refusal(reasons))) ??
    (await authenticateBootstrapToken({ env, tenant, now }, token).then((user) => user && forServer(user)))
  if (answer === undefined) throw new TokenRefused(reasons)
  return answer
}

const refusal =
  (reasons: string[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof TokenRefused)) throw error
    append(reasons, error.reasons)
  }
