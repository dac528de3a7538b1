/**
 * Tokens that another server reviews (TokenReview of authentication.k8s.io, v1 and v1beta1). An accepted token is
 * cached for a while, a refusal is not.
 */
import type { TokenReviewStatus } from '../api/authentication/v1.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Expiring } from '../base/expiring.ts'
import { expiring, unexpired } from '../base/expiring.ts'
import { WaitingPlaces } from '../base/waiting-places.ts'
import { logError } from '../log/log.ts'
import type { UserInfo } from '../request/user-info.ts'
import { authenticated } from '../request/user-info.ts'
import type { TokenWebhookSetting } from '../settings/tokens.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { WebhookCallError } from '../webhooks/call-webhook.ts'
import { postReview } from '../webhooks/connection.ts'
import { webhookConnection } from '../webhooks/webhook-connection.ts'
import { reviewIn } from '../webhooks/review-reply.ts'
import { BadConfiguration } from './configuration-text.ts'
import { serverAudiences } from './service-account-key.ts'
import type { TokenAnswer, TokenContext } from './token-answer.ts'
import { TokenRefused } from './token-answer.ts'

/** Milliseconds for one call. */
const TIMEOUT = 30_000
/**
 * The most requests of one control plane that wait for answers, so that a server that hangs leaves room for other
 * tokens.
 */
export const MOST_WAITING_FOR_WEBHOOK = 60

const placesOf = perTenant(
  'is of requests under way',
  () => new WaitingPlaces(MOST_WAITING_FOR_WEBHOOK, TIMEOUT + 5_000),
)

const known = new BoundedMap<string, Expiring<TokenAnswer>>({
  entries: 4_096,
  size: 8 * 1024 * 1024,
})

/** @throws BadConfiguration */
export function checkTokenWebhook({ connection }: TokenWebhookSetting): void {
  const result = webhookConnection.safeParse(connection)
  if (!result.success)
    throw new BadConfiguration(
      result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(', '),
    )
}

/**
 * Undefined where the webhook does not know the token, or not for these audiences.
 * @throws TokenRefused, StatusError 429
 */
export async function authenticateByWebhook(
  context: TokenContext,
  setting: TokenWebhookSetting,
  token: string,
  wanted: readonly string[],
): Promise<TokenAnswer | undefined> {
  const key = JSON.stringify([context.tenant.uid, token, wanted])
  const now = context.now.getTime()
  const kept = unexpired(known.get(key), now)
  if (kept !== undefined) return kept
  return placesOf(context.tenant).hold(context, async () => {
    const answer = answerOf(await reviewed(context, setting, token, wanted), wanted, serverAudiences(context.env))
    if (answer !== undefined) known.set(key, expiring(answer, now, setting.cacheSeconds * 1000))
    return answer
  })
}

async function reviewed(
  context: TokenContext,
  { connection, version }: TokenWebhookSetting,
  token: string,
  audiences: readonly string[],
): Promise<TokenReviewStatus> {
  const gvk = { group: 'authentication.k8s.io', version, kind: 'TokenReview' }
  const review = {
    kind: 'TokenReview',
    apiVersion: `authentication.k8s.io/${version}`,
    metadata: {},
    spec: { token, audiences },
    status: { user: {} },
  }
  try {
    // checked together with the settings
    const to = webhookConnection.parse(connection)
    const answer = await postReview(context.env, to, review, {
      timeoutMs: TIMEOUT,
      timeout: '30s',
      clock: context.clock,
      gone: context.gone?.(),
    })
    // decoded as a TokenReview
    const { status = {} } = (await reviewIn(answer, gvk)) as { status?: TokenReviewStatus }
    return status
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    logError('Failed to make webhook authenticator request', { error: error.message })
    throw new TokenRefused([error.message])
  }
}

function answerOf(
  { authenticated: isKnown = false, audiences = [], error = '', user = {} }: TokenReviewStatus,
  wanted: readonly string[],
  own: readonly string[],
): TokenAnswer | undefined {
  // few: the operator's, or of a review that is read once
  const meantFor = (audiences.length > 0 ? audiences : own).filter((audience) => wanted.includes(audience))
  if (meantFor.length === 0) return undefined
  if (!isKnown) {
    if (error !== '') throw new TokenRefused([error])
    return undefined
  }
  const { username: name = '', uid = '', groups = [], extra = {} } = user
  // without a name it could be any user whose name was lost
  if (name === '') throw new TokenRefused(['the webhook authenticator gave a user without a name'])
  const made: UserInfo = authenticated({ name, uid, groups, extra })
  return { user: made, audiences: meantFor }
}
