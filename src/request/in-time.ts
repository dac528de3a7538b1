/**
 * Answers a request whose time is over, whatever step it is at, as kube-apiserver does
 * (WithTimeoutForNonLongRunningRequests). Its steps go on to their end, because they may hold places for which others
 * wait.
 */
import type { ApiRequest } from './context.ts'
import { timeLeft, wholeTime } from './time-left.ts'
import { isLongRunning } from './timeout.ts'

/** Milliseconds. A timer for each request would cost time, and no step of the server's own waits as long by itself. */
const USUAL = 60_000

/**
 * A request with the usual time gets a timer when it first waits for somebody else: each server that it asks may take
 * its time, and there may be many.
 * @param begin the request's steps
 * @param late the answer of a request whose time is over
 */
export function inTime(request: ApiRequest, begin: () => Promise<Response>, late: () => Response): Promise<Response> {
  if (isLongRunning(request.info)) return begin()
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isAnswered = false
    const limit = (): void => {
      if (isAnswered) return
      timer ??= setTimeout(() => {
        request.waitUntil(answer.then((unread) => unread.body?.cancel()))
        resolve(late())
      }, timeLeft(request))
    }
    const { gone } = request
    if (wholeTime(request) < USUAL) limit()
    else if (gone !== undefined)
      request.gone = () => {
        limit()
        return gone()
      }
    const answer = begin()
    const ended = (): void => {
      isAnswered = true
      if (timer !== undefined) clearTimeout(timer)
    }
    answer.finally(ended).then(resolve, reject)
  })
}
