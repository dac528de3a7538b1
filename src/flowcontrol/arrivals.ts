/**
 * Bodies that have begun to arrive. What is there of each is held until its client has sent the rest, so as many as
 * there are seats would not fit into the memory of an isolate. Where all hold too much together, the ones end that
 * have held the most for the longest time, of the user or the control plane that has most of them. So slow clients
 * make room for quick ones.
 */
import { settledByOthers } from '../base/settled-by-others.ts'
import { HEAVY } from '../base/slices.ts'
import { StatusError, notInTime, tooManyRequests } from '../api/status.ts'
import type { ApiRequest } from '../request/context.ts'
import { countedAs } from '../request/user-info.ts'
import { timeLeft } from '../request/time-left.ts'
import { perTenant } from '../tenancy/tenant-state.ts'

/** Bytes that may have arrived of all unfinished bodies. */
export const MOST_ARRIVED = 16 * 1024 * 1024

interface Arrival {
  readonly flow: string
  /** Milliseconds since 1970. */
  readonly since: number
  size: number
  readonly end: () => void
}

/** A body that arrives. */
export interface Arriving {
  /** @param size the bytes that have arrived so far @param now milliseconds since 1970 */
  grew(size: number, now: number): void
  /** The body is complete, or nobody waits for it any more. */
  leave(): void
}

export class Arrivals {
  /**
   * Bodies of more than HEAVY bytes. Bound: `most` divided by HEAVY, also where the engine drops requests without
   * notice.
   */
  private readonly arrivals = new Set<Arrival>()
  private arrived = 0

  constructor(private readonly most = MOST_ARRIVED) {}

  /**
   * @param flow whose body it is
   * @param since when it began to arrive, in milliseconds since 1970
   * @param end called when the body must make room. It has left then.
   */
  begin(flow: string, since: number, end: () => void): Arriving {
    const arrival: Arrival = { flow, since, size: 0, end }
    let isOver = false
    const leave = (): void => {
      isOver = true
      this.remove(arrival)
    }
    const grew = (size: number, now: number): void => {
      if (isOver || size <= HEAVY) return
      if (arrival.size === 0) this.arrivals.add(arrival)
      else if (!this.arrivals.has(arrival)) return
      this.arrived += size - arrival.size
      arrival.size = size
      while (this.arrived > this.most) this.endSlowest(now)
    }
    return { grew, leave }
  }

  private remove(arrival: Arrival): void {
    if (this.arrivals.delete(arrival)) this.arrived -= arrival.size
  }

  private endSlowest(now: number): void {
    const ofFlow = new Map<string, number>()
    for (const one of this.arrivals) ofFlow.set(one.flow, (ofFlow.get(one.flow) ?? 0) + held(one, now))
    const [most] = [...ofFlow].reduce((a, b) => (b[1] > a[1] ? b : a))
    const slowest = [...this.arrivals]
      .filter(({ flow }) => flow === most)
      .reduce((a, b) => (held(b, now) > held(a, now) ? b : a))
    this.remove(slowest)
    slowest.end()
  }
}

/** Bytes, times the milliseconds for which they were held at most. */
const held = ({ size, since }: Arrival, now: number): number => size * Math.max(1, now - since)

/** Of the isolate, because its memory is; and of one control plane, so that others find room. */
const ofAll = new Arrivals()
const arrivalsOf = perTenant('is of requests under way', () => new Arrivals(MOST_ARRIVED / 2))

/**
 * Receives a body, as long as there is room for what has arrived of it.
 * @param read calls `grew` with the bytes that have arrived so far
 * @param giveUp ends the reading
 * @throws StatusError 429 where the body has to make room, 504 where it takes too long; any error of `read`
 */
export async function received<Body>(
  request: Pick<ApiRequest, 'tenant' | 'user' | 'env' | 'now' | 'clock' | 'info' | 'query'>,
  read: (grew: (size: number) => void) => Promise<Body>,
  giveUp: () => void,
): Promise<Body> {
  const { tenant, user, clock } = request
  const { promise: ended, resolve: end } = settledByOthers<StatusError>()
  const since = clock()
  const makeRoom = (): void => end(tooManyRequests('Too many large requests, please try again later.', 1))
  const begun = [arrivalsOf(tenant).begin(countedAs(user), since, makeRoom), ofAll.begin(tenant.uid, since, makeRoom)]
  const grew = (size: number): void => {
    for (const one of begun) one.grew(size, clock())
  }
  const timer = setTimeout(() => end(notInTime()), timeLeft(request))
  const reading = read(grew).then((body) => ({ body }))
  try {
    const first = await Promise.race([reading, ended])
    if (!(first instanceof StatusError)) return first.body
    reading.catch(() => undefined) // fails because it is given up
    giveUp()
    throw first
  } finally {
    clearTimeout(timer)
    for (const one of begun) one.leave()
  }
}
