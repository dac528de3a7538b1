/**
 * Recognizes a request that this server sent itself. An APIService, a webhook or a Service may lead back here, and each
 * round would make another call. So each call to another server says how many servers have passed it on, and a request
 * that came by too many is refused. A client that states a number harms no request but its own: what this server
 * sends has a number that is one higher, and never the client's.
 */
import { StatusError } from '../api/status.ts'
import type { RequestHeaders } from './request-headers.ts'

export const HOPS_HEADER = 'Kedge-Hops'

/** A control plane may be behind an APIService of another, and call webhooks that ask a third one. */
const MOST_HOPS = 3

/** A call, or whatever makes one. */
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
  if (hops <= MOST_HOPS) return
  const why = 'an APIService, a webhook or a Service leads back here'
  throw new StatusError(508, 'LoopDetected', `more than ${MOST_HOPS} servers have passed this request on: ${why}`)
}

/** The value of the header in a call. */
export const nextHop = ({ hops = 0 }: Passed): string => String(hops + 1)
