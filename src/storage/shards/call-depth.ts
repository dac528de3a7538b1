/**
 * How deep the latest event of a Durable Object lies in a chain of calls between objects. Cloudflare refuses a call that
 * is 16 deep. A call counts as made by the latest event of its object, whatever caused it. So the chain goes on while
 * objects answer calls with calls: a controller writes, the shard delivers the work of that write, and the controllers'
 * next write is two calls deeper. Only an alarm begins a new chain. Objects tell each other how deep a call is, and a
 * shard whose latest call is deep leaves the delivery to its alarm. No local engine counts this.
 */

/** A client's request is 1 deep in the Worker, and the Worker's call 2. */
const OF_WORKER = 2
const OF_ALARM = 1
/** A shard that is called deeper than this makes no call of its own. Controllers then call it at most two deeper. */
const MOST = 8

export class CallDepth {
  /** Not known before the first call of an instance, which may be deep. */
  private latest = Infinity
  private reached = 0

  /** @param isLimited whether the platform limits it */
  constructor(private readonly isLimited: boolean) {}

  /** A call has come. @param depth absent: from a Worker, or from an object of an earlier release */
  called(depth = OF_WORKER): void {
    this.latest = depth
    this.reached = Math.max(this.reached, depth)
  }

  rang(): void {
    this.latest = OF_ALARM
  }

  /** How deep a call of this object is. */
  get next(): number {
    return Number.isFinite(this.latest) ? this.latest + 1 : MOST
  }

  /** Whether calls must wait for the alarm. */
  get isDeep(): boolean {
    return this.isLimited && this.latest > MOST
  }

  /** The deepest call that came. */
  get deepest(): number {
    return this.reached
  }
}
