import { platformClock } from '../base/clock.ts'
import { SharedCall } from './shared-call.ts'

/**
 * A value that the first caller makes and all others share. A plain shared promise would never settle where the
 * engine ends the request that makes the value (its client hung up). So callers wait for a while, and then one of
 * them makes it. After a failure the next caller tries again.
 */
export class SharedValue<Value> {
  private made: { readonly value: Value } | undefined
  private readonly call: SharedCall<Value>

  /** @param lostAfter milliseconds after which the work counts as lost; slower work may be done twice */
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
