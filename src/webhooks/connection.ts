/**
 * Calls a server that reviews tokens or access, with the address and credentials of a kubeconfig. As in
 * kube-apiserver, a failed call is repeated after a pause where that may help.
 */
import type { Env } from '../env.ts'
import { goQuote } from '../go/quote.ts'
import type { Clock } from '../base/clock.ts'
import { WebhookCallError } from './call-webhook.ts'
import type { WebhookConnection } from './webhook-connection.ts'
import { isPlain } from './webhook-connection.ts'
import type { OutgoingAnswer } from './outgoing-call.ts'
import { CallFailed } from './outgoing-call.ts'
import { outgoingOf } from './way-out.ts'

/** The most calls, and the pauses between them in milliseconds: each is half as long again as the one before. */
const CALLS = 5
const FIRST_PAUSE = 500
const FACTOR = 1.5
/** Milliseconds for all calls of one review. */
const BUDGET = 34_000

export interface ReviewCall {
  readonly timeoutMs: number
  /** As Go writes the timeout: `30s`. */
  readonly timeout: string
  readonly clock: Clock
  /** Aborted when the client of the request has hung up. */
  readonly gone?: AbortSignal | undefined
  readonly pause?: (milliseconds: number) => Promise<void>
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/**
 * Posts a review.
 * @throws WebhookCallError where no call gets an answer
 */
export async function postReview(
  env: Env,
  connection: WebhookConnection,
  review: object,
  { timeoutMs, timeout, clock, gone, pause = sleep }: ReviewCall,
): Promise<OutgoingAnswer> {
  const ends = clock() + BUDGET
  const url = new URL(connection.url)
  url.searchParams.set('timeout', timeout)
  const body = JSON.stringify(review)
  for (let call = 1, wait = FIRST_PAUSE; ; call++, wait = Math.round(wait * FACTOR)) {
    const answer = await callConnection(env, connection, url.href, body, Math.min(timeoutMs, ends - clock()), gone)
    const isLast = call === CALLS || gone?.aborted === true || clock() + wait >= ends
    if (isLast || !mayHelp(answer)) {
      if (answer instanceof CallFailed) throw new WebhookCallError(`Post ${goQuote(url.href)}: ${answer.message}`)
      return answer
    }
    await pause(wait)
  }
}

/** Posts JSON once. */
export async function callConnection(
  env: Env,
  connection: WebhookConnection,
  url: string,
  body: string,
  timeoutMs: number,
  gone?: AbortSignal,
): Promise<OutgoingAnswer | CallFailed> {
  const plain = isPlain(connection)
  const shown: WebhookConnection = plain ? { url } : connection
  const { certificateAuthority, tlsServerName, clientCertificate, clientKey, token, username, password } = shown
  const authorization =
    token !== undefined
      ? `Bearer ${token}`
      : username !== undefined
        ? `Basic ${btoa(`${username}:${password ?? ''}`)}`
        : undefined
  try {
    return await outgoingOf(env)(
      {
        url,
        ...(plain && { isPlain: true }),
        headers: {
          Accept: 'application/json, */*',
          'Content-Type': 'application/json',
          'User-Agent': 'kedge',
          ...(authorization === undefined ? {} : { Authorization: authorization }),
        },
        timeoutMs,
        caBundle: certificateAuthority,
        serverName: tlsServerName,
        ...(clientCertificate === undefined || clientKey === undefined
          ? {}
          : { clientCertificate: { certificate: clientCertificate, key: clientKey } }),
      },
      body,
      gone,
    )
  } catch (error) {
    if (error instanceof CallFailed) return error
    throw error
  }
}

/**
 * Whether another call may help, as apiserver's DefaultShouldRetry decides: the connection broke, the server is too
 * busy, or it sent Retry-After.
 */
function mayHelp(answer: OutgoingAnswer | CallFailed): boolean {
  if (answer instanceof CallFailed) return /connection reset by peer|^EOF$/.test(answer.message)
  const { status, retryAfter = '' } = answer
  return status === 429 || status === 500 || status === 504 || (status >= 500 && retryAfter !== '')
}
