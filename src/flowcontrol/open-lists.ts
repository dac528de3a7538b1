/**
 * The places of lists whose answers are under way. A list gives its seat back when the head of its answer is there, and
 * yet holds a part of what its shard has sent until its client has taken all of it: some two megabytes where the objects
 * are large. So as many as clients ask for would not fit into the memory of an isolate.
 */
import { platformClock } from '../base/clock.ts'
import { FairPlaces } from '../base/fair-places.ts'
import { settledByOthers } from '../base/settled-by-others.ts'
import { tooManyRequests } from '../api/status.ts'
import type { AnswerUse } from '../codec/encode/answer-use.ts'
import type { ApiRequest } from '../request/context.ts'
import { timeLeft } from '../request/time-left.ts'
import { countedAs } from '../request/user-info.ts'
import { longestWait } from './admit-request.ts'

/** Places of an isolate. */
export const MOST_LISTS = 128
/** Those of one user. */
export const MOST_OF_USER = MOST_LISTS / 2
/**
 * Milliseconds for which a list waits for others to end by themselves. Then the oldest one of the user who has the most
 * ends for it, if that is somebody else.
 */
const PATIENCE = 1_000
/** How often a list that waits looks. */
const LOOK_MS = 100
/** Milliseconds after which a place counts as left: the engine may drop a request without notice. */
const LOST_AFTER = 20_000
const RENEWED_AFTER = 5_000

/** Of the isolate, because its memory is. The groups are control planes. */
const places = new FairPlaces(LOST_AFTER, platformClock)

type Asking = Pick<ApiRequest, 'tenant' | 'user' | 'env' | 'now' | 'clock' | 'info' | 'query'>

/** @throws StatusError 429 where no place gets free, and nobody has more than the user would have */
export const takeListPlace = (asking: Asking): AnswerUse | Promise<AnswerUse> =>
  hasOwn(asking) && places.has(MOST_LISTS) ? taken(asking) : waited(asking)

const hasOwn = ({ tenant, user }: Asking): boolean => places.of(tenant.uid, countedAs(user)) < MOST_OF_USER

async function waited(asking: Asking): Promise<AnswerUse> {
  const { clock, env } = asking
  const since = clock()
  const longest = Math.min(longestWait(env), timeLeft(asking))
  places.reclaimLost()
  while (!hasOwn(asking) || !places.has(MOST_LISTS)) {
    const passed = clock() - since
    if (passed >= longest || (passed >= PATIENCE && hasOwn(asking))) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    places.reclaimLost()
  }
  if (!hasOwn(asking)) throw refusal()
  return taken(asking)
}

const refusal = () => tooManyRequests('Too many lists, please try again later.', 1)

function taken({ tenant, user }: Asking): AnswerUse {
  const place = places.take(tenant.uid, countedAs(user), MOST_LISTS)
  if (place === undefined) throw refusal()
  const { promise: broken, resolve: breakOff } = settledByOthers<void>()
  place.onEnd = breakOff
  // of the request of the list: it ends with that where the engine drops it
  const renewing = setInterval(() => place.renew(), RENEWED_AFTER)
  const ended = (): void => {
    clearInterval(renewing)
    place.leave()
  }
  return { ended, onBroken: (work) => void broken.then(work) }
}
