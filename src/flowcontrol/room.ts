/**
 * Room in the isolate's memory for large values of requests. A value takes forty times its text and more when it is
 * parsed, and gives others their turn while it is worked on. So as many as there are seats would not fit into the
 * memory of an isolate, which then ends with the requests of everybody. A request that finds no room waits; the users
 * that wait take turns.
 */
import { settledByOthers } from '../api/settled-by-others.ts'
import { WaitingLine } from './waiting-line.ts'

/** Units of text. The last one that comes in may go beyond it, so that every request finds room. */
export const MOST_HELD = 4 * 1024 * 1024
/** Milliseconds after which a share counts as left: the engine may drop a request without notice. */
const LOST_AFTER = 120_000
const QUEUING = { queues: 64, handSize: 6, queueLengthLimit: 50 }

/** Milliseconds after which a request says again that it is there. */
export const RENEWED_AFTER = 20_000

interface Asked {
  readonly size: number
  /** When the request asked, in milliseconds since 1970. */
  readonly since: number
}

export interface Share {
  readonly size: number
  /** When the request asked, or said for the last time that it is there. */
  since: number
  readonly leave: () => void
  /** Says that the request is still there. A request may take long where many are served. */
  readonly renew: (now: number) => void
  /** Called when the share is left. */
  onLeave?: () => void
}

interface Waiter extends Asked {
  take(share: Share): void
}

export class Room {
  private held = 0
  /** The ones first that were renewed the longest ago. Bound: requests in progress, and those that the engine dropped within LOST_AFTER. */
  private readonly shares = new Set<Share>()
  private readonly waiting = new WaitingLine<Waiter>()

  constructor(private readonly most = MOST_HELD) {}

  /**
   * @param flow whose request it is
   * @param now milliseconds since 1970
   * @param patience milliseconds to wait at most
   * @returns undefined where there was no room in time
   */
  take(flow: string, size: number, now: number, patience: number): Share | undefined | Promise<Share | undefined> {
    if (this.held >= this.most) this.reclaimLost(now)
    if (this.held < this.most) return this.share({ size, since: now })
    const { promise, resolve: take } = settledByOthers<Share>()
    const waiter = { size, since: now, take }
    return this.waiting.join(flow, QUEUING, waiter) ? this.inTime(waiter, promise, patience) : undefined
  }

  private inTime(waiter: Waiter, share: Promise<Share>, patience: number): Promise<Share | undefined> {
    let timer: ReturnType<typeof setTimeout>
    const tooLong = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        const { length } = this.waiting
        this.waiting.leave(waiter)
        // a waiter that has its share is served already
        if (this.waiting.length < length) resolve(undefined)
      }, patience)
    })
    return Promise.race([share, tooLong]).finally(() => clearTimeout(timer))
  }

  private share({ size, since }: Asked): Share {
    const leave = (): void => {
      if (!this.shares.delete(share)) return
      this.held -= size
      share.onLeave?.()
      this.dispatch()
    }
    const renew = (now: number): void => {
      if (!this.shares.delete(share)) return
      share.since = now
      this.shares.add(share)
    }
    const share: Share = { size, since, leave, renew }
    this.shares.add(share)
    this.held += size
    return share
  }

  private dispatch(): void {
    while (this.held < this.most) {
      const waiter = this.waiting.next()
      if (waiter === undefined) return
      waiter.take(this.share(waiter))
    }
  }

  private reclaimLost(now: number): void {
    const before = now - LOST_AFTER
    for (const share of this.shares) {
      if (share.since > before) return
      share.leave()
    }
  }
}
