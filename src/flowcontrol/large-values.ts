/** The room that a request takes for its body, and for the stored object that it reads. */
import { settledByOthers } from '../api/settled-by-others.ts'
import { tooManyRequests } from '../api/status.ts'
import type { ApiRequest, LargeValue } from '../request/context.ts'
import { LONGEST_WAIT } from './admit-request.ts'
import type { Share } from './room.ts'
import { Room } from './room.ts'

/**
 * Of the isolate, because its memory is. A request waits for the room of its body before it reads an object, and never
 * after, so that no two requests wait for each other.
 */
const rooms: Readonly<Record<LargeValue, Room>> = { body: new Room(), object: new Room() }

/**
 * Lets a request take room from now on.
 * @returns gives back what it took
 */
export function takesRoom(request: ApiRequest): () => void {
  const taken: Partial<Record<LargeValue, Share>> = {}
  let isOver = false
  request.takeRoom = async (value, size) => {
    const before = taken[value]
    if (before !== undefined && before.size >= size) return
    // the larger object is read in place of the one before, which may go
    before?.leave()
    delete taken[value]
    const found = rooms[value].take(request.user.name, size, request.clock(), LONGEST_WAIT)
    // a request whose client has gone must leave the room that it gets later
    if (found instanceof Promise) request.waitUntil(found)
    const share = found instanceof Promise ? await found : found
    if (share === undefined) throw tooManyRequests('Too many large requests, please try again later.', 1)
    if (isOver) return share.leave()
    taken[value]?.leave()
    taken[value] = share
    const { promise: left, resolve: leave } = settledByOthers<void>()
    share.onLeave = leave
    request.waitUntil(left)
  }
  return () => {
    isOver = true
    for (const share of Object.values(taken)) share.leave()
  }
}
