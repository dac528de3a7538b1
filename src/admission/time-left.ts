/**
 * The time for a whole write. A server that decides about a request, and has no time left to answer, did not fail by
 * itself: its client may have sent the body slowly for that. No failurePolicy lets such a request through.
 */
import { requestTimeout } from '../api/status.ts'
import { timeLeft } from '../request/time-left.ts'
import type { Attributes } from './attributes.ts'

/** Of a write, as in kube-apiserver. */
const WRITE_MS = 34_000
/** A call may end this much before its time by the clock, because timers are not exact. */
const SLACK_MS = 100

/**
 * Milliseconds for one call.
 * @param most the limit of the call itself
 * @throws StatusError 504 where the request's time is over
 */
export function timeForCall(attributes: Attributes, most: number): number {
  checkTime(attributes)
  return Math.min(most, timeLeft(attributes.request, WRITE_MS))
}

/**
 * Called between steps of which a configuration may ask for any number.
 * @throws StatusError 504 where the request's time is over
 */
export function checkTime({ request }: Attributes): void {
  if (timeLeft(request, WRITE_MS) <= 0) throw requestTimeout()
}

/**
 * Called before a request goes on without a decision. Its time may be over, or its client gone.
 * @throws StatusError 504
 */
export function checkTimeLeft({ request }: Attributes): void {
  if (timeLeft(request, WRITE_MS) <= SLACK_MS || request.gone?.().aborted === true) throw requestTimeout()
}
