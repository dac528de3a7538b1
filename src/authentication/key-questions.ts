/**
 * Decides when to fetch the keys of another server. A token with an unknown key triggers a fetch: a few times at
 * once, then once in a while, because anybody can make up such tokens. Where no fetch is allowed the client gets 429
 * and may come back.
 */
import { BoundedMap } from '../base/bounded-map.ts'
import { isRecent } from '../base/clock.ts'
import { tooManyRequests } from '../api/status.ts'
import { WaitingPlaces } from '../base/waiting-places.ts'
import { SharedCall } from '../tenancy/shared-call.ts'

/** Fetches in a row, and the milliseconds after which one more is allowed. */
const AT_ONCE = 4
const ONE_MORE_AFTER = 5_000
/**
 * The most requests that wait for one server, and for all servers, so that a server that hangs leaves room for
 * others.
 */
const MAX_WAITING = 32
export const MOST_WAITING_FOR_KEYS = 80

/** Milliseconds after which a request counts as given up. */
const LOST_AFTER = 30_000

/** For all requests of this isolate. */
const all = new WaitingPlaces(MOST_WAITING_FOR_KEYS, LOST_AFTER)

interface Asking {
  readonly now: Date
  readonly waitUntil?: (work: Promise<unknown>) => void
}

export class KeyQuestions<Context extends Asking> {
  /** Key ids that an answer did not have, with the time in milliseconds since 1970. */
  private readonly missing = new BoundedMap<string, number>({
    entries: 1_024,
    size: 64 * 1024,
    sizeOf: ({ length }) => length,
  })
  private readonly call: SharedCall<boolean>
  private left = AT_ONCE
  /** Milliseconds since 1970. */
  private leftAt = 0
  private time = 0
  private readonly places = new WaitingPlaces(MAX_WAITING, LOST_AFTER)

  constructor(
    /** Logs a failure, and returns false. */
    private readonly fetchKeys: (context: Context, time: number) => Promise<boolean>,
    /** Milliseconds that a fetch takes at most. */
    private readonly longest: number,
  ) {
    this.call = new SharedCall(() => this.time, longest + 1_000)
  }

  /**
   * Looks again after a fetch that began after the token arrived.
   * @param keyId of the token; one id triggers one fetch within a while
   * @returns undefined where the key is not there, or the server does not answer
   * @throws StatusError 429
   */
  async find<Found>(
    context: Context,
    keyId: string,
    look: () => Found | undefined | Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    this.moveTo(context)
    const missed = this.missing.get(keyId)
    if (missed !== undefined && isRecent(missed, this.time, ONE_MORE_AFTER)) return undefined
    const wanted = this.call.next
    const underWay = this.call.underWay(this.longest)
    if (underWay !== undefined) {
      // this fetch began before the token arrived, but its answer may suffice
      if (!(await this.waited(context, underWay))) return undefined
      const found = await look()
      if (found !== undefined) return found
    }
    if (!(await this.waited(context, wanted))) return undefined
    const found = await look()
    if (found === undefined) this.missing.set(keyId, this.time)
    return found
  }

  /** Fetches in the background, where a fetch is due. */
  askBeside(context: Context): void {
    this.moveTo(context)
    if (this.left === 0 || this.call.underWay(this.longest) !== undefined) return
    context.waitUntil?.(this.answer(context, this.call.next))
  }

  private moveTo({ now }: Context): void {
    const time = now.getTime()
    // a request that began earlier is no older than that, so the clock was set back
    if (time < this.time - LOST_AFTER) this.time = this.leftAt = time
    this.time = Math.max(this.time, time)
    const more = Math.floor((this.time - this.leftAt) / ONE_MORE_AFTER)
    if (more < 1) return
    this.left = Math.min(AT_ONCE, this.left + more)
    this.leftAt = this.left === AT_ONCE ? this.time : this.leftAt + more * ONE_MORE_AFTER
  }

  /**
   * Whether the server answered.
   * @throws StatusError 429
   */
  private async waited(context: Context, wanted: number): Promise<boolean> {
    return this.places.hold(context, () => all.hold(context, () => this.answer(context, wanted)))
  }

  private answer(context: Context, wanted: number): Promise<boolean> {
    return this.call.answer(wanted, () => {
      if (this.left === 0) throw comeBackIn(Math.ceil((this.leftAt + ONE_MORE_AFTER - this.time) / 1_000))
      if (this.left === AT_ONCE) this.leftAt = this.time
      this.left--
      const fetched = this.fetchKeys(context, this.time)
      context.waitUntil?.(fetched.catch(() => {}))
      return fetched
    })
  }
}

const comeBackIn = (seconds: number) => tooManyRequests('Too many requests, please try again later.', seconds)
