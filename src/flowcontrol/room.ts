/**
 * Room in the isolate's memory for large values of requests. A value takes forty times its text and more when it is
 * parsed, and gives others their turn while it is worked on. So as many as there are seats would not fit into the
 * memory of an isolate, which then ends with the requests of everybody. A request that finds no room waits; the users
 * that wait take turns.
 */
import { settledByOthers } from '../base/settled-by-others.ts'
import { WaitingLine } from './waiting-line.ts'

/** Units of text. The last one that comes in may go beyond it, so that every request finds room. */
export const MOST_HELD = 2 * 1024 * 1024
/**
 * Units of text that wait for room: a request holds the text of its body, or of the object that it has read, while it
 * waits. Those of one user are half of it at most; the last one may go beyond both.
 */
const MOST_WAITING = 8 * 1024 * 1024
/** Milliseconds after which a share counts as left: the engine may drop a request without notice. */
const LOST_AFTER = 120_000
const QUEUING = { queues: 64, handSize: 6, queueLengthLimit: 50 }

/** Milliseconds after which a request says again that it is there. */
export const RENEWED_AFTER = 20_000

interface Asked {
  readonly flow: string
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
  private waitingSize = 0
  /** Sizes of what each user's requests wait for. Bound: requests that wait. */
  private readonly waitingOf = new Map<string, number>()

  constructor(
    private readonly most = MOST_HELD,
    private readonly mostWaiting = MOST_WAITING,
  ) {}

  /**
   * @param flow whose request it is
   * @param now milliseconds since 1970
   * @param patience milliseconds to wait at most
   * @param gone aborted when the client has hung up, who then waits no longer
   * @returns undefined where there was no room in time
   */
  take(
    flow: string,
    size: number,
    now: number,
    patience: number,
    gone?: AbortSignal,
  ): Share | undefined | Promise<Share | undefined> {
    if (this.held >= this.most) this.reclaimLost(now)
    if (this.held < this.most) return this.share({ flow, size, since: now })
    if (gone?.aborted) return undefined
    const ofFlow = this.waitingOf.get(flow) ?? 0
    if (this.waitingSize >= this.mostWaiting || ofFlow >= this.mostWaiting / 2) return undefined
    const { promise, resolve: take } = settledByOthers<Share>()
    const waiter = { flow, size, since: now, take }
    if (!this.waiting.join(flow, QUEUING, waiter)) return undefined
    this.waitingSize += size
    this.waitingOf.set(flow, ofFlow + size)
    return this.inTime(waiter, promise, patience, gone)
  }

  private inTime(
    waiter: Waiter,
    share: Promise<Share>,
    patience: number,
    gone?: AbortSignal,
  ): Promise<Share | undefined> {
    const { promise: ended, resolve: end } = settledByOthers<undefined>()
    const giveUp = (): void => {
      // a waiter that has its share is served already
      if (!this.waiting.leave(waiter)) return
      this.waitsNoLonger(waiter)
      end(undefined)
    }
    const timer = setTimeout(giveUp, patience)
    gone?.addEventListener('abort', giveUp)
    return Promise.race([share, ended]).finally(() => {
      clearTimeout(timer)
      gone?.removeEventListener('abort', giveUp)
    })
  }

  private waitsNoLonger({ flow, size }: Asked): void {
    this.waitingSize -= size
    const left = this.waitingOf.get(flow)! - size
    if (left > 0) this.waitingOf.set(flow, left)
    else this.waitingOf.delete(flow)
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
      this.waitsNoLonger(waiter)
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
