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
import { countedAs } from '../request/user-info.ts'

/** Places of an isolate. */
export const MOST_LISTS = 128
/** Those of one user. */
export const MOST_OF_USER = MOST_LISTS / 2
/**
 * A list that finds no place looks again so often, a second in all. It keeps its seat meanwhile, so it must not wait as
 * long as others wait for seats. Then the oldest list of the user who has the most ends for it, if that is somebody else.
 */
const LOOKS = 10
const LOOK_MS = 100
/** Milliseconds after which a place counts as left: the engine may drop a request without notice. */
const LOST_AFTER = 20_000
const RENEWED_AFTER = 5_000

/** Of the isolate, because its memory is. The groups are control planes. */
const places = new FairPlaces(LOST_AFTER, platformClock)

type Asking = Pick<ApiRequest, 'tenant' | 'user'>

/** @throws StatusError 429 where no place gets free, and nobody has more than the user would have */
export const takeListPlace = (asking: Asking): AnswerUse | Promise<AnswerUse> =>
  isFreeFor(asking) ? taken(asking) : waited(asking)

/** Makes an answer that has a place. A failure leaves it. @throws StatusError 429 */
export async function withListPlace(asking: Asking, make: (use: AnswerUse) => Promise<Response>): Promise<Response> {
  const place = takeListPlace(asking)
  const use = place instanceof Promise ? await place : place
  try {
    return await make(use)
  } catch (error) {
    use.ended()
    throw error
  }
}

const hasOwn = ({ tenant, user }: Asking): boolean => places.of(tenant.uid, countedAs(user)) < MOST_OF_USER
const isFreeFor = (asking: Asking): boolean => hasOwn(asking) && places.has(MOST_LISTS)

async function waited(asking: Asking): Promise<AnswerUse> {
  places.reclaimLost()
  for (let look = 0; look < LOOKS && !isFreeFor(asking); look++) {
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
  // of the request of the list: it ends with that where the engine drops it
  const renewing = setInterval(() => place.renew(), RENEWED_AFTER)
  place.onEnd = () => {
    clearInterval(renewing)
    breakOff()
  }
  const ended = (): void => {
    clearInterval(renewing)
    place.leave()
  }
  return { ended, onBroken: (work) => void broken.then(work) }
}
