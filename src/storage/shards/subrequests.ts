/**
 * Counts the subrequests of one invocation of a Durable Object: its calls of other objects, and of servers outside.
 * Cloudflare refuses those beyond a number. Here the object refuses them a little earlier, so that it knows that its
 * work was cut short and did not fail. After the first refusal it refuses all: whatever the work makes of an error, it
 * cannot store it.
 * https://developers.cloudflare.com/workers/platform/limits/#subrequests
 */
import { StorageError } from '../errors.ts'

/** Beyond this share of an invocation's subrequests no new work begins. */
const SHARE_TO_BEGIN = 0.5
/** The rest is for the few calls that go past the object's own storage, such as the renewal of watches. */
const SHARE_TO_USE = 0.9
/** Where an invocation has no more subrequests than on the free plan, this many may leave Cloudflare. */
const MOST_OUTSIDE = 50
const OF_FREE_PLAN = 1_000

export class Subrequests {
  private used = 0
  private usedOutside = 0
  private refused = false
  private wrote = false

  /** @param most the subrequests of one invocation; Infinity where nothing limits them */
  constructor(private readonly most: number) {}

  /** Another invocation begins. */
  begin(): void {
    this.used = this.usedOutside = 0
    this.refused = this.wrote = false
  }

  /** Counts a call of another object. @throws StorageError `Spent` */
  take(): void {
    if (++this.used > this.most * SHARE_TO_USE) this.refused = true
    this.refuse()
  }

  /** Counts a call of a server outside. @throws StorageError `Spent` */
  takeOutside(): void {
    const most = this.most > OF_FREE_PLAN ? Infinity : MOST_OUTSIDE * SHARE_TO_USE
    if (++this.usedOutside > most) this.refused = true
    this.take()
  }

  /** A write succeeded. */
  written(): void {
    this.wrote = true
  }

  /** Whether the rest is for work that goes on. */
  get isLow(): boolean {
    return this.refused || this.used > this.most * SHARE_TO_BEGIN
  }

  /** Whether work was cut short. */
  get isSpent(): boolean {
    return this.refused
  }

  /** Whether the next invocation finds less to do. */
  get hasWritten(): boolean {
    return this.wrote
  }

  private refuse(): void {
    if (this.refused) throw new StorageError('Spent')
  }
}
