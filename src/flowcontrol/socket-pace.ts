/**
 * How fast an isolate sends to the WebSockets of a user, all of them together, and to those of all users. The engine
 * takes each message at once and does not tell when it is sent (it has no `bufferedAmount`), so a large change for many
 * clients would wait in its memory as many times. A local server's front takes what was sent, and ends clients that do
 * not (src/cli/front).
 */
import { BoundedMap } from '../base/bounded-map.ts'
import type { Clock } from '../base/clock.ts'
import type { ApiRequest } from '../request/context.ts'
import { countedAs } from '../request/user-info.ts'
import { perTenant } from '../tenancy/tenant-state.ts'

/** Octets in a millisecond: 40 MiB in a second. */
const RATE = (40 * 1024 * 1024) / 1000
/** Those of all users. Of more than three who are ahead of their pace each has a part of it. */
const RATE_OF_ALL = 3 * RATE
/** Milliseconds by which the senders of a user may be ahead of the rate. */
const BURST_MS = 100
/** All of them: each user sends one message at once, however long it is. */
const BURST_OF_ALL_MS = 500

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

class Pace {
  /** When all that was sent would have gone at the rate. Milliseconds since 1970. */
  private goneAt = 0
  private looked = 0

  /** @returns milliseconds until so many octets may be sent; zero or less: now */
  wait(octets: number, rate: number, burst: number, now: number): number {
    // the clock may have been set back
    if (now < this.looked || this.goneAt < now) this.goneAt = now
    this.looked = now
    const wait = this.goneAt - burst - now
    this.goneAt += octets / rate
    return wait
  }

  isAhead(now: number): boolean {
    return now >= this.looked && this.goneAt > now
  }
}

/** Of an isolate, because its memory is. */
export class AllSockets {
  private readonly pace = new Pace()
  /** The paces of users that are ahead. Bound: the users who sent something that has yet to go at their rate. */
  private readonly ahead = new Set<Pace>()
  private looked = 0

  /** The rate of a user who sends: as much as is left beside the others. */
  rateOf(pace: Pace, now: number): number {
    if (now !== this.looked) for (const one of this.ahead) if (!one.isAhead(now)) this.ahead.delete(one)
    this.looked = now
    this.ahead.add(pace)
    return Math.min(RATE, RATE_OF_ALL / this.ahead.size)
  }

  take(octets: number, now: number): Promise<void> | undefined {
    const wait = this.pace.wait(octets, RATE_OF_ALL, BURST_OF_ALL_MS, now)
    return wait <= 0 ? undefined : after(wait)
  }
}

const sockets = new AllSockets()

export class SocketPace {
  private readonly pace = new Pace()

  constructor(
    private readonly now: Clock,
    private readonly all = sockets,
  ) {}

  /**
   * Waits for a turn to send so many octets.
   * @returns undefined where they may be sent at once
   */
  take(octets: number): Promise<void> | undefined {
    const now = this.now()
    const wait = this.pace.wait(octets, this.all.rateOf(this.pace, now), BURST_MS, now)
    if (wait <= 0) return this.all.take(octets, now)
    // it counts for all when it is sent: nobody waits for messages of others that wait for their own pace
    return after(wait).then(() => this.all.take(octets, this.now()))
  }
}

/** By user. A user whose pace is forgotten begins a new one. */
const paces = perTenant(
  'is of requests under way',
  () => new BoundedMap<string, SocketPace>({ entries: 1_000, size: 1024 * 1024, sizeOf: (user) => user.length }),
)

export const socketPaceOf = ({ tenant, user, clock }: Pick<ApiRequest, 'tenant' | 'user' | 'clock'>): SocketPace =>
  paces(tenant).getOrMake(countedAs(user), () => new SocketPace(clock))
