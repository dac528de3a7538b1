/**
 * How fast an isolate sends to the WebSockets of a user, all of them together. The engine takes each message at once
 * and does not tell when it is sent (it has no `bufferedAmount`), so a large change for many clients would wait in its
 * memory as many times. A local server's front takes what was sent, and ends clients that do not (src/cli/front).
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { Clock } from '../base/clock.ts'
import type { ApiRequest } from '../request/context.ts'
import { countedAs } from '../request/user-info.ts'
import { perTenant } from '../tenancy/tenant-state.ts'

/** Octets in a millisecond: 40 MiB in a second. */
const RATE = (40 * 1024 * 1024) / 1000
/** Milliseconds by which senders may be ahead of the rate. */
const BURST_MS = 100

export class SocketPace {
  /** When all that was sent would have gone at the rate. Milliseconds since 1970. */
  private goneAt = 0
  private looked = 0

  constructor(private readonly now: Clock) {}

  /**
   * Waits for a turn to send so many octets.
   * @returns undefined where they may be sent at once
   */
  take(octets: number): Promise<void> | undefined {
    const now = this.now()
    // the clock may have been set back
    if (now < this.looked || this.goneAt < now) this.goneAt = now
    this.looked = now
    const wait = this.goneAt - BURST_MS - now
    this.goneAt += octets / RATE
    return wait <= 0 ? undefined : new Promise((resolve) => setTimeout(resolve, wait))
  }
}

/** By user. A user whose pace is forgotten begins a new one. */
const paces = perTenant(
  'is of requests under way',
  () => new BoundedMap<string, SocketPace>({ entries: 1_000, size: 1024 * 1024, sizeOf: (user) => user.length }),
)

export const socketPaceOf = ({ tenant, user, clock }: Pick<ApiRequest, 'tenant' | 'user' | 'clock'>): SocketPace =>
  paces(tenant).getOrMake(countedAs(user), () => new SocketPace(clock))
