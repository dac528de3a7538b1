/**
 * How long a request may take: what its query parameter `timeout` says, but no longer than --request-timeout. It counts
 * from when the request arrived. kube-apiserver sets the same deadline (WithRequestDeadline).
 */
import { settingsOf } from '../settings.ts'
import type { ApiCall } from './context.ts'
import { durationOf } from './timeout.ts'

const NANOSECONDS = 1_000_000

type Timed = Pick<ApiCall, 'now' | 'clock' | 'env' | 'info' | 'query'>

/**
 * Milliseconds, negative where the time is over.
 * @param most a limit beside that of the request
 */
export const timeLeft = (call: Timed, most = Infinity): number =>
  call.now.getTime() + Math.min(most, wholeTime(call)) - call.clock()

/** Milliseconds. Zero in the query is no limit, and a text that is no duration is refused elsewhere. */
export function wholeTime({ env, info, query }: Omit<Timed, 'now' | 'clock'>): number {
  const { requestTime } = settingsOf(env)
  const timeout = info === undefined || query === undefined ? undefined : durationOf({ info, query })
  return typeof timeout !== 'bigint' || timeout <= 0n
    ? requestTime
    : Math.min(requestTime, Number(timeout) / NANOSECONDS)
}
