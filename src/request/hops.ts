/**
 * Recognizes a request that this server sent itself. An APIService, a webhook or a Service may lead back here, and each
 * round would make another call. So each call to another server says how many servers have passed it on, and a request
 * that came by too many is refused. A client may state a number, and then a request of its own is refused sooner.
 */
import { StatusError } from '../api/status.ts'
import type { RequestHeaders } from './request-headers.ts'

export const HOPS_HEADER = 'Kedge-Hops'

/** A control plane may be behind an APIService of another, and call webhooks that ask a third one. */
const MOST_HOPS = 3

const LOOP = 508

/** A call, or a request that makes one. */
export interface Passed {
  /** How many servers passed the request on that led to the call; absent: none. */
  readonly hops?: number | undefined
}

/** An unreadable number is no way around the limit. */
export function hopsOf(headers: RequestHeaders): number {
  const text = headers.get(HOPS_HEADER) ?? '0'
  return /^\d$/.test(text) ? Number(text) : Infinity
}

/** @throws StatusError 508 */
export function checkHops({ hops = 0 }: Passed): void {
  if (hops > MOST_HOPS) throw loopDetected()
}

function loopDetected(): StatusError {
  const why = 'an APIService, a webhook or a Service leads back here'
  return new StatusError(LOOP, 'LoopDetected', `more than ${MOST_HOPS} servers have passed this request on: ${why}`)
}

/**
 * Refuses a request of which a webhook's answer says that it came too far, whatever the failure policy: a client that
 * states a number of its own must not get past a webhook. Where the request began here, the answer is the webhook's own.
 * @throws StatusError 508
 */
export function checkAnswered({ hops = 0 }: Passed, status: number): void {
  if (hops > 0 && status === LOOP) throw loopDetected()
}

/** The value of the header in a call. */
export const nextHop = ({ hops = 0 }: Passed): string => String(hops + 1)
