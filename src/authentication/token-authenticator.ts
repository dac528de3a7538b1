/**
 * Authenticates a bearer token. The authenticators run in this order: the administrator's token, static tokens,
 * ServiceAccount tokens, bootstrap tokens, tokens of other issuers, the token webhook. Requests and TokenReviews use
 * the same ones.
 */
import { settingsOf } from '../settings.ts'
import { logError } from '../log/log.ts'
import { append } from '../base/append.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Expiring } from '../base/expiring.ts'
import { expiring, unexpired } from '../base/expiring.ts'
import { authenticateBootstrapToken } from './bootstrap-token.ts'
import { authenticateIssuedToken } from './issuers/issuers.ts'
import { lookUpOnce } from './refused-tokens.ts'
import { sameSecret } from './secret-comparison.ts'
import { authenticateServiceAccountToken } from './service-account.ts'
import { authenticateStaticToken } from './static-token.ts'
import { authenticateByWebhook } from './token-webhook.ts'
import { serverAudiences } from './service-account-key.ts'
import { credentialEpoch } from '../tenancy/credential-writes.ts'
import type { TokenAnswer, TokenContext } from './token-answer.ts'
import { TokenRefused } from './token-answer.ts'
import type { UsedSecret } from '../request/used-secret.ts'
import type { UserInfo } from '../request/user-info.ts'
import { SYSTEM_MASTERS, authenticated } from '../request/user-info.ts'

const ADMINISTRATOR = authenticated({ name: 'kubernetes-admin', uid: 'admin-uid', groups: [SYSTEM_MASTERS] })

/** Milliseconds for which a valid token is accepted without another check, as in kube-apiserver. */
const CACHED_FOR = 10_000

/** UTF-16 units of a token. No header brings a longer one; a TokenReview would have megabytes parsed at once. */
const LONGEST_TOKEN = 128 * 1024

const cache = new BoundedMap<string, Expiring<TokenAnswer>>({
  entries: 4_096,
  size: 8 * 1024 * 1024,
})

/**
 * @param audiences of which the token must have one; default: this server's
 * @throws TokenRefused
 */
export async function authenticateToken(
  context: TokenContext,
  token: string,
  audiences: readonly string[] = [],
): Promise<TokenAnswer> {
  if (token.length > LONGEST_TOKEN) throw new TokenRefused([`the token is longer than ${LONGEST_TOKEN} characters`])
  const known = knownToken(context, token, audiences)
  if (known !== undefined) return known
  const { now } = context
  const wanted = audiences.length > 0 ? audiences : serverAudiences(context.env)
  const key = cacheKey(context, token, audiences)
  const found = await lookUpOnce(context, key, () => lookUp(context, token, wanted), isRefused)
  // of the checks that run at once, the first one's Secret is marked
  const { usedSecret = found.usedSecret } = knownToken(context, token, audiences) ?? {}
  const answer: TokenAnswer = usedSecret === undefined ? found : { ...found, usedSecret }
  cache.set(key, expiring(answer, now.getTime(), CACHED_FOR))
  return answer
}

/** The cached answer for a token that was valid a moment ago. */
export function knownToken(
  context: TokenContext,
  token: string,
  audiences: readonly string[] = [],
): TokenAnswer | undefined {
  return unexpired(cache.get(cacheKey(context, token, audiences)), context.now.getTime())
}

const isRefused = (error: unknown): error is TokenRefused => error instanceof TokenRefused

/**
 * The part before the token contains no NUL: the uid has none, and JSON escapes it. A restore changes the key,
 * because its accounts have other uids.
 */
const cacheKey = ({ tenant }: TokenContext, token: string, audiences: readonly string[]): string =>
  `${tenant.uid}\0${credentialEpoch(tenant)}\0${audiences.length === 0 ? OWN : JSON.stringify(audiences)}\0${token}`

/** The uid of no control plane: the settings determine these authenticators, and an isolate has one set of settings. */
const OWN = ''

async function lookUp(context: TokenContext, token: string, wanted: readonly string[]): Promise<TokenAnswer> {
  const reasons: string[] = []
  let usedSecret: UsedSecret | undefined
  const refusal = (error: unknown): undefined => {
    if (!(error instanceof TokenRefused)) throw error
    append(reasons, error.reasons)
    usedSecret ??= error.usedSecret
  }
  const own = serverAudiences(context.env)
  /** A token without audiences is for this server. */
  const forServer = (user: UserInfo): TokenAnswer | undefined => {
    // few: of the server's own setting
    const audiences = wanted.filter((audience) => own.includes(audience))
    return audiences.length === 0 ? undefined : { user, audiences }
  }
  const ask = async (found: Promise<UserInfo | undefined>): Promise<TokenAnswer | undefined> => {
    const user = await found.catch(refusal)
    return user && forServer(user)
  }
  const { administratorToken, tokenFile, tokenWebhook } = settingsOf(context.env)
  const isAdministrator = administratorToken !== undefined && (await sameSecret(token, administratorToken))
  const answer =
    (isAdministrator ? forServer(ADMINISTRATOR) : undefined) ??
    (tokenFile === undefined ? undefined : await ask(authenticateStaticToken(tokenFile, token))) ??
    (await authenticateServiceAccountToken(context, token, wanted).catch(refusal)) ??
    (await ask(authenticateBootstrapToken(context, token))) ??
    (await ask(authenticateIssuedToken(context, token))) ??
    (tokenWebhook === undefined
      ? undefined
      : await authenticateByWebhook(context, tokenWebhook, token, wanted).catch(refusal))
  if (answer !== undefined) return usedSecret === undefined ? answer : { ...answer, usedSecret }
  const refused = new TokenRefused(reasons, usedSecret)
  // unknown tokens get no log line, because anybody can make them up
  if (reasons.length > 0) logError('Unable to authenticate the request', { error: refused.message })
  throw refused
}
