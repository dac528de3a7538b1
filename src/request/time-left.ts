/**
 * How long a request may take: what its query parameter `timeout` says, and a limit of the server. It counts from when
 * the request arrived. kube-apiserver sets the same deadline (WithRequestDeadline).
 */
import type { ApiCall } from './context.ts'
import { timeoutOf } from './timeout.ts'

/** As in kube-apiserver: --request-timeout. */
const REQUEST_MS = 60_000
const NANOSECONDS = 1_000_000

type Timed = Pick<ApiCall, 'now' | 'clock' | 'info' | 'query'>

/**
 * Milliseconds, negative where the time is over.
 * @param most the limit of the server
 */
export const timeLeft = (call: Timed, most: number = REQUEST_MS): number =>
  call.now.getTime() + Math.min(most, wanted(call)) - call.clock()

/** Zero is no limit, and so is more than the server's. */
function wanted({ info, query }: Timed): number {
  const timeout = info === undefined || query === undefined ? undefined : timeoutOf({ info, query })
  return timeout === undefined || timeout <= 0n ? Infinity : Number(timeout) / NANOSECONDS
}
