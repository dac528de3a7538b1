/**
 * Answers a request whose time is over, whatever step it is at, as kube-apiserver does
 * (WithTimeoutForNonLongRunningRequests). Its steps go on to their end, because they may hold places for which others
 * wait.
 */
import type { ApiRequest } from './context.ts'
import { timeLeft, wholeTime } from './time-left.ts'
import { isLongRunning } from './timeout.ts'

/** Milliseconds. No step waits as long by itself, and a timer for each request would cost time. */
const USUAL = 60_000

/** @param late the answer of a request whose time is over */
export function inTime(request: ApiRequest, answer: Promise<Response>, late: () => Response): Promise<Response> {
  if (wholeTime(request) >= USUAL || isLongRunning(request.info)) return answer
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      request.waitUntil(answer.then((unread) => unread.body?.cancel()))
      resolve(late())
    }, timeLeft(request))
    answer.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
