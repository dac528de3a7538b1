/**
 * How fast an isolate sends to the clients of WebSockets, all of them together. The engine takes each message at once
 * and does not tell when it is sent (it has no `bufferedAmount`), so a large change for many clients would wait in its
 * memory as many times. A local server's front takes what was sent, and ends clients that do not (src/cli/front).
 */
import type { Clock } from '../base/clock.ts'
import { platformClock } from '../base/clock.ts'

/** Octets in a millisecond: 40 MiB in a second. */
const RATE = (40 * 1024 * 1024) / 1000
/** Milliseconds by which senders may be ahead of the rate. */
const BURST_MS = 100

export class SocketPace {
  /** When all that was sent would have gone at the rate. Milliseconds since 1970. */
  private goneAt = 0
  private looked = 0

  constructor(private readonly now: Clock = platformClock) {}

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

/** That of this isolate. */
export const socketPace = new SocketPace()
