/**
 * Runs work of many requests a few at a time. Work that ends wakes all who wait, and each looks for itself: a client may
 * hang up while its work waits or runs, and then the engine runs nothing of the request any more. A request that is woken
 * and does not look has left.
 */
import { ClientGone } from './client-gone.ts'
import { platformClock } from './clock.ts'
import { settledByOthers } from './settled-by-others.ts'

/** Units of text. */
const MOST_HELD = 1024 * 1024
/** Milliseconds. */
const LOST_AFTER = 60_000
/** Milliseconds after which work that waits looks although nothing woke it: a client may have gone, or work was lost. */
const LOOK_MS = 250

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
  /** Bound: requests that wait, and those that the engine dropped since work last ended. */
  private readonly waiting = new Set<() => void>()

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
  async run<Made>(size: number, make: () => Promise<Made>, hasGone?: () => boolean): Promise<Made> {
    const leave = await this.take(size, hasGone)
    try {
      return await make()
    } finally {
      leave()
    }
  }

  /**
   * Begins work that ends when its caller leaves.
   * @throws ClientGone while it waits
   */
  async take(size: number, hasGone = (): boolean => false): Promise<() => void> {
    while (this.held() >= this.most) {
      if (hasGone()) throw new ClientGone('the client is gone')
      await this.woken()
    }
    const item = { size, since: this.now() }
    this.underWay.add(item)
    // of the request that works: it ends with that where the engine drops it
    const renewing = setInterval(() => (item.since = this.now()), RENEWED_AFTER)
    return () => {
      clearInterval(renewing)
      this.underWay.delete(item)
      this.wake()
    }
  }

  /** Resolves when work has ended, or after LOOK_MS. */
  private async woken(): Promise<void> {
    const { promise, resolve } = settledByOthers<void>()
    this.waiting.add(resolve)
    const timer = setTimeout(resolve, LOOK_MS)
    await promise
    clearTimeout(timer)
    this.waiting.delete(resolve)
  }

  private wake(): void {
    const woken = [...this.waiting]
    this.waiting.clear()
    for (const wake of woken) wake()
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
