/** The room that a request takes for its body, for the stored object that it reads, and for others beside it. */
import { settledByOthers } from '../base/settled-by-others.ts'
import { tooManyRequests } from '../api/status.ts'
import type { ApiRequest, LargeValue } from '../request/context.ts'
import { countedAs } from '../request/user-info.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import { longestWait } from './admit-request.ts'
import type { Share } from './room.ts'
import { MOST_HELD, RENEWED_AFTER, Room } from './room.ts'

type Rooms = Readonly<Record<LargeValue, Room>>

/**
 * Of the isolate, because its memory is. A request waits for the room of its body before it reads an object, and for that
 * of others behind both, so that no two requests wait for each other.
 */
const rooms: Rooms = { body: new Room(), object: new Room(), others: new Room() }

/**
 * What one control plane may hold of them, so that others find room while its webhooks keep its requests waiting. A
 * request takes its share of it first.
 */
const roomsOf = perTenant('is of requests under way', (): Rooms => ({
  body: new Room(MOST_HELD / 2),
  object: new Room(MOST_HELD / 2),
  others: new Room(MOST_HELD / 2),
}))

/**
 * Lets a request take room from now on.
 * @returns gives back what it took
 */
export function takesRoom(request: ApiRequest): () => void {
  const taken: Partial<Record<LargeValue, Place>> = {}
  let isOver = false
  request.takeRoom = async (value, size) => {
    const before = taken[value]
    if (before !== undefined && before.size >= size) return
    // the larger object is read in place of the one before, which may go
    before?.leave()
    delete taken[value]
    const place = await placeFor(request, value, size)
    if (isOver) return place.leave()
    taken[value]?.leave()
    taken[value] = place
  }
  return () => {
    isOver = true
    for (const place of Object.values(taken)) place.leave()
  }
}

type Place = Pick<Share, 'size' | 'leave'>

/** A share of the control plane's room, and then one of the isolate's. @throws 429 */
async function placeFor(request: ApiRequest, value: LargeValue, size: number): Promise<Place> {
  const { tenant, user, env, clock } = request
  const until = clock() + longestWait(env)
  const own = await shareOf(request, roomsOf(tenant)[value], countedAs(user), size, longestWait(env))
  try {
    const ofAll = await shareOf(request, rooms[value], tenant.uid, size, Math.max(0, until - clock()))
    return {
      size,
      leave: () => {
        ofAll.leave()
        own.leave()
      },
    }
  } catch (error) {
    own.leave()
    throw error
  }
}

async function shareOf(request: ApiRequest, room: Room, flow: string, size: number, patience: number): Promise<Share> {
  const found = room.take(flow, size, request.clock(), patience, request.gone?.())
  // a request whose client has gone must leave the room that it gets later
  if (found instanceof Promise) request.waitUntil(found)
  const share = found instanceof Promise ? await found : found
  if (share === undefined) throw tooManyRequests('Too many large requests, please try again later.', 1)
  const { promise: left, resolve: leave } = settledByOthers<void>()
  // of this request: it ends with the request where the engine drops that
  const renewing = setInterval(() => share.renew(request.clock()), RENEWED_AFTER)
  share.onLeave = leave
  request.waitUntil(left.finally(() => clearInterval(renewing)))
  return share
}
