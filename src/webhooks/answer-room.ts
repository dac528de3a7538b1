/**
 * Room for the long answers of webhooks. A review may be small and its answer have three megabytes, which take forty
 * times as much when they are parsed. So a control plane has few long answers at once, and the isolate parses few.
 */
import { ClientGone } from '../base/client-gone.ts'
import type { Clock } from '../base/clock.ts'
import { FewAtOnce } from '../base/few-at-once.ts'
import { LARGE } from '../base/slices.ts'
import type { Tenant } from '../storage/tenant.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { TakeRoom } from './outgoing-call.ts'
import { CANCELED, CallFailed, noRoom } from './outgoing-call.ts'

/** Milliseconds that a call waits for room at most. */
const LONGEST_WAIT = 15_000

/** A webhook that is slow keeps only answers for its own control plane waiting. */
const roomOf = perTenant('is of requests under way', () => new FewAtOnce())

/** Answers that are parsed. Of the isolate, because its memory is. */
const parsed = new FewAtOnce()

interface Caller {
  readonly tenant: Tenant
  readonly clock: Clock
  readonly gone?: () => AbortSignal
}

/**
 * Gives back the room of an answer when its reader is done.
 * @param use calls a webhook, and reads its answer
 */
export async function withRoom<Used>(
  { tenant, clock, gone }: Caller,
  use: (take: TakeRoom) => Promise<Used>,
): Promise<Used> {
  let leave = (): void => {}
  const take: TakeRoom = async (size) => {
    // the webhook is asked again, so nobody uses its earlier answer any more
    leave()
    leave = () => {}
    if (size <= LARGE) return 'at once'
    const until = clock() + LONGEST_WAIT
    let waited: Awaited<ReturnType<TakeRoom>> = 'at once'
    const hasGone = (): boolean => {
      if (clock() >= until) throw noRoom()
      waited = 'after others'
      return gone?.().aborted === true
    }
    try {
      leave = await roomOf(tenant).take(size, hasGone)
    } catch (error) {
      throw error instanceof ClientGone ? new CallFailed(CANCELED) : error
    }
    return waited
  }
  try {
    return await use(take)
  } finally {
    leave()
  }
}

/** Parses a long answer when few others are parsed. */
export const parsedWithRoom = <Parsed>(size: number, parse: () => Promise<Parsed>): Promise<Parsed> =>
  parsed.run(size, parse)
