/**
 * Limits how many requests wait for another service at the same time. Further requests get 429. If a client hangs
 * up, the engine ends its request in the middle of an `await` and runs nothing after it, not even `finally`. So the
 * work runs to its end under `waitUntil`. If a place is lost in spite of this, it becomes free after a while.
 */
import { platformClock } from './clock.ts'
import { tooManyRequests } from '../api/status.ts'

export interface Waiting {
  /** Absent in a Durable Object, where no client can hang up. */
  waitUntil?(work: Promise<unknown>): void
}

interface Place {
  /** Milliseconds since 1970. */
  readonly since: number
}

export class WaitingPlaces {
  /** The places in use, oldest first. Bound: `most`. */
  private readonly taken = new Set<Place>()

  /**
   * @param most how many requests may wait at the same time
   * @param lostAfter milliseconds after which a place counts as lost; no work takes that long
   */
  constructor(
    private readonly most: number,
    private readonly lostAfter: number,
    private readonly now = platformClock,
  ) {}

  /** @throws StatusError 429 if no place is free; any error of `work` */
  async hold<Done>(waiting: Waiting, work: () => Promise<Done>): Promise<Done> {
    const place = this.take()
    const done = this.leaving(place, work)
    waiting.waitUntil?.(done.catch(() => {}))
    return done
  }

  private take(): Place {
    const now = this.now()
    if (this.taken.size >= this.most)
      for (const place of this.taken) if (now - place.since >= this.lostAfter) this.taken.delete(place)
    if (this.taken.size >= this.most) throw tooManyRequests('Too many requests, please try again later.', 1)
    const place = { since: now }
    this.taken.add(place)
    return place
  }

  private async leaving<Done>(place: Place, work: () => Promise<Done>): Promise<Done> {
    try {
      return await work()
    } finally {
      this.taken.delete(place)
    }
  }
}
