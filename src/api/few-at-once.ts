/**
 * Runs work of many requests a few at a time. What waits looks again and again instead of being woken: a client may hang
 * up while its work waits or runs, and then the engine runs nothing of the request any more.
 */
import { ClientGone } from './client-gone.ts'
import { platformClock } from './clock.ts'

/** Units of text. */
const MOST_HELD = 1024 * 1024
/** Milliseconds. */
const LOST_AFTER = 60_000
/** Milliseconds between two looks. */
const LOOK_MS = 5

/** Milliseconds after which work says again that it is there: much may be under way beside it. */
const RENEWED_AFTER = 20_000

interface Item {
  readonly size: number
  /** When it began, or said for the last time that it is there. Milliseconds since 1970. */
  since: number
}

export class FewAtOnce {
  /** Bound: `most`, and one item more. */
  private readonly underWay = new Set<Item>()

  /**
   * @param most units of size that are under way at the same time; the last one may go beyond it
   * @param lostAfter milliseconds after which an item counts as given up
   */
  constructor(
    private readonly most = MOST_HELD,
    private readonly lostAfter = LOST_AFTER,
    private readonly now = platformClock,
  ) {}

  /**
   * @param hasGone whether the client has gone
   * @throws ClientGone while it waits
   */
  async run<Made>(size: number, make: () => Promise<Made>, hasGone = (): boolean => false): Promise<Made> {
    while (this.held() >= this.most) {
      if (hasGone()) throw new ClientGone('the client is gone')
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    const item = { size, since: this.now() }
    this.underWay.add(item)
    // of the request that works: it ends with that where the engine drops it
    const renewing = setInterval(() => (item.since = this.now()), RENEWED_AFTER)
    try {
      return await make()
    } finally {
      clearInterval(renewing)
      this.underWay.delete(item)
    }
  }

  private held(): number {
    const lost = this.now() - this.lostAfter
    let held = 0
    for (const item of this.underWay)
      if (item.since <= lost) this.underWay.delete(item)
      else held += item.size
    return held
  }
}

/**
 * Large items of lists and watches. A parsed item takes up to forty times its text and gives others their turn while it
 * is worked on, and a list or a watch has no seat any more when it gets there. So as many as there are clients would not
 * fit into the memory. Of the isolate, because its memory is.
 */
export const largeItems = new FewAtOnce()
