/**
 * A call whose answer serves every request that asked before it began: at most one is under way and one is waited for. Who asks
 * while it is under way may have written since it began, and needs the next.
 *
 * Requests wait for one another's calls: the engine goes on in each with what another one settled (its compatibility
 * date is later than handle_cross_request_promise_resolution). But what is under way ends with the request that made it,
 * unsettled, unless that keeps it with `waitUntil`; so everybody waits with a timer of his own.
 */

import { settledByOthers } from '../api/settled-by-others.ts'

/** Milliseconds after which a call counts as lost: the engine ends the calls of a client that went away. */
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

  /** The number of the first call that begins after this moment. */
  get next(): number {
    return this.begun + 1
  }

  /** The call that is under way, if it began less than so many milliseconds ago. */
  underWay(within: number): number | undefined {
    return this.running !== undefined && this.now() - this.running.began < within ? this.running.number : undefined
  }

  /**
   * The answer of call `wanted` or of a later one. A failure rejects the callers that may use that answer; the others wait on.
   * @param call is made here if nobody else makes it
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
   * Whether it ended, with or without an error, before it counts as lost. The end of another request's call only
   * settles a promise here: the engine runs such code in the context of that request.
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
