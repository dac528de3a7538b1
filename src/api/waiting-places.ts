/**
 * Who waits for somebody else, a few at a time: the others are to come back. The engine ends a request whose client hangs
 * up in the middle of an `await`, and runs nothing of what follows, `finally` included. So the work of who has a place
 * goes on to its end by itself (`waitUntil`); a place that was lost nevertheless is free after a while.
 */
import { platformClock } from './clock.ts'
import { tooManyRequests } from './status.ts'

export interface Waiting {
  /** Absent where nobody can hang up: in a Durable Object. */
  waitUntil?(work: Promise<unknown>): void
}

interface Place {
  /** Milliseconds since 1970. */
  readonly since: number
}

export class WaitingPlaces {
  /** The oldest first. Bound: `most`. */
  private readonly taken = new Set<Place>()

  /**
   * @param most that wait at once
   * @param lostAfter milliseconds after which a place counts as lost: no work takes that long
   */
  constructor(
    private readonly most: number,
    private readonly lostAfter: number,
    private readonly now = platformClock,
  ) {}

  /** @throws StatusError 429 where no place is free; what `work` throws */
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
