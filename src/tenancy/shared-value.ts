import { platformClock } from '../api/clock.ts'
import { SharedCall } from './shared-call.ts'

/**
 * A value that the first caller makes, and all other callers get. A plain shared promise would never settle where the
 * engine ends the request that makes it (its client hung up), and all later callers would wait for ever. Here they wait
 * for a while, and then one of them makes the value. After a failure the next caller tries again.
 */
export class SharedValue<Value> {
  private made: { readonly value: Value } | undefined
  private readonly call: SharedCall<Value>

  /** @param lostAfter milliseconds after which it counts as lost; making it takes less, or it may be made twice */
  constructor(
    private readonly lostAfter = 2_000,
    now = platformClock,
  ) {
    this.call = new SharedCall(now, lostAfter)
  }

  async get(make: () => Promise<Value>): Promise<Value> {
    if (this.made !== undefined) return this.made.value
    const { call } = this
    return call.answer(call.underWay(this.lostAfter) ?? call.next, async () => {
      const value = await make()
      this.made ??= { value }
      return this.made.value
    })
  }
}
