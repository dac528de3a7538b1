/**
 * A call whose answer serves every request that asked before the call began. At most one call is in progress and one
 * is waiting. A request that asks during a call may have written since it began, so it needs the next one. Requests
 * can await each other's calls, because the engine resumes each of them when another one settles a promise
 * (compatibility date after handle_cross_request_promise_resolution). But a call ends unsettled with the request that
 * made it, unless that request keeps it with `waitUntil`. So every waiter has a timer of its own.
 */

import { isRecent } from '../base/clock.ts'
import { settledByOthers } from '../base/settled-by-others.ts'

/** Milliseconds after which a call counts as lost: the engine ends the calls of a client that has gone. */
const LOST_AFTER = 2_000

interface Running<Value> {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly began: number
  /** Settles: callers give it up after LOST_AFTER. */
  readonly answer: Promise<Value>
}

export class SharedCall<Value> {
  /** How many calls began. */
  private begun = 0
  private running: Running<Value> | undefined

  constructor(
    private readonly now: () => number,
    private readonly lostAfter = LOST_AFTER,
  ) {}

  /** The number of the first call that will begin from now on. */
  get next(): number {
    return this.begun + 1
  }

  /** The call in progress, where it began less than `within` milliseconds ago. */
  underWay(within: number): number | undefined {
    const { running } = this
    return running !== undefined && isRecent(running.began, this.now(), within) ? running.number : undefined
  }

  /**
   * The answer of call `wanted` or a later one. A failure rejects the callers that may use that answer; others wait
   * on.
   * @param call is made here where no other request makes it
   */
  async answer(wanted: number, call: (number: number) => Promise<Value>): Promise<Value> {
    for (;;) {
      if (this.running === undefined) return this.begin(call)
      const { running } = this
      if (running.number < wanted) {
        await this.settled(running.answer)
      } else if (await this.settled(running.answer)) {
        return running.answer
      }
      if (this.running === running) this.running = undefined
    }
  }

  private begin(call: (number: number) => Promise<Value>): Promise<Value> {
    const number = ++this.begun
    const answer = call(number)
    const running = { number, began: this.now(), answer }
    this.running = running
    const over = () => {
      if (this.running === running) this.running = undefined
    }
    void answer.then(over, over)
    return answer
  }

  /**
   * Whether the call ended, with or without an error, before it counts as lost. The end of another request's call
   * only settles a promise here, because the engine runs such code in the context of that request.
   */
  private async settled(answer: Promise<unknown>): Promise<boolean> {
    const { promise, resolve } = settledByOthers<boolean>()
    const timer = setTimeout(() => resolve(false), this.lostAfter)
    const done = () => resolve(true)
    answer.then(done, done)
    const isSettled = await promise
    clearTimeout(timer)
    return isSettled
  }
}
