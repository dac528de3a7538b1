/**
 * Bytes of encoded lists, which are kept until the length of the list is known, and then until the client has read them:
 * a client may be slow, and many may be. So all lists of the isolate share a bound, because its memory is theirs. A list
 * that finds no room is read and encoded a second time.
 */
import type { Clock } from '../../base/clock.ts'
import { platformClock } from '../../base/clock.ts'

/** Bytes of all lists together, beyond their own. */
const MOST = 24 * 1024 * 1024
/** Bytes that each list may keep in any case. */
export const OWN = 1024 * 1024
/** Milliseconds after which a list counts as gone: the engine may drop a request without notice. */
const LOST_AFTER = 120_000
/** Milliseconds after which a list says again that it is there. */
const RENEWED_AFTER = 20_000

interface Kept {
  /** Bytes beyond the list's own. */
  size: number
  /** When the list last said that it is there, in milliseconds since 1970. */
  since: number
}

export interface KeptList {
  /** @returns whether these bytes may be kept, too */
  take(bytes: number): boolean
  /** The list keeps nothing any more. */
  leave(): void
}

export class KeptItems {
  /** Bound: lists under way, and those that the engine dropped within LOST_AFTER. */
  private readonly lists = new Set<Kept>()

  constructor(
    private readonly most = MOST,
    private readonly own = OWN,
    private readonly now: Clock = platformClock,
  ) {}

  begin(): KeptList {
    const kept: Kept = { size: 0, since: 0 }
    let length = 0
    let renewing: ReturnType<typeof setInterval> | undefined
    return {
      take: (bytes) => {
        const more = Math.max(0, length + bytes - this.own) - kept.size
        if (more > 0 && this.held() + more > this.most) return false
        length += bytes
        if (more <= 0) return true
        kept.size += more
        kept.since = this.now()
        this.lists.add(kept)
        // of the request that reads the list: it ends with that where the engine drops it
        renewing ??= setInterval(() => (kept.since = this.now()), RENEWED_AFTER)
        return true
      },
      leave: () => {
        if (renewing !== undefined) clearInterval(renewing)
        this.lists.delete(kept)
      },
    }
  }

  private held(): number {
    const lost = this.now() - LOST_AFTER
    let held = 0
    for (const kept of this.lists)
      if (kept.since <= lost) this.lists.delete(kept)
      else held += kept.size
    return held
  }
}

export const keptItems = new KeptItems()
