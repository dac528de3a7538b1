/**
 * The places of open watches, and of whatever else follows objects for as long as its client listens. A watch gives its
 * seat back when it begins, and yet holds a connection and memory until it ends.
 */
import { platformClock } from '../base/clock.ts'
import { FairPlaces } from '../base/fair-places.ts'
import type { Place } from '../base/fair-places.ts'
import { tooManyRequests } from '../api/status.ts'
import { requestLabels } from '../metrics/request-labels.ts'
import type { Labels, Sample } from '../metrics/series.ts'
import type { ApiRequest } from '../request/context.ts'
import { heldPlacesOf } from '../request/held-places.ts'
import { countedAs } from '../request/user-info.ts'
import { settingsOf } from '../settings.ts'
import { WatchRoom, WatchShare } from '../storage/watch/watch-room.ts'

/** Milliseconds after which a place counts as left. A watch renews its place twice a minute at least. */
const LOST_AFTER = 180_000

/** Of the isolate, because its memory is. The groups are control planes. */
const places = new FairPlaces(LOST_AFTER, platformClock)

/** @throws StatusError 429 where no place is free, and nobody has more than the user would have */
export function takeWatchPlace(asked: ApiRequest): Place {
  const { tenant, user, env } = asked
  const what = JSON.stringify(requestLabels(asked))
  const place = places.take(tenant.uid, countedAs(user), settingsOf(env).watches, heldPlacesOf(asked), what)
  if (place === undefined) throw tooManyRequests('Too many watches, please try again later.', 1)
  return place
}

/** The open ones of a control plane in this isolate, with the labels of their metric. */
export const openWatches = ({ tenant }: Pick<ApiRequest, 'tenant'>): Sample[] =>
  [...places.count(tenant.uid)].map(([what, value]) => ({
    labels: { component: 'apiserver', ...(JSON.parse(what) as Labels) }, // takeWatchPlace wrote it
    value,
  }))

/** Bytes that open watches hold. Of the isolate, because its memory is. */
const room = new WatchRoom(48 * 1024 * 1024, platformClock)

/** @param onEnd is called when the watch must end */
export const watchShareOf = ({ tenant, user }: ApiRequest, onEnd: () => void): WatchShare =>
  new WatchShare(room, `${tenant.uid}\n${countedAs(user)}`, onEnd)

/** Streams within the connections of port-forwards. Of the isolate, which holds some two kilobytes of each. */
const MOST_STREAMS = 8_192

const streams = new FairPlaces(LOST_AFTER, platformClock)

/** A place for such a stream. Undefined where none is free, and nobody has more than the user would have. */
export const takeStreamPlace = ({ tenant, user }: ApiRequest): Place | undefined =>
  streams.take(tenant.uid, countedAs(user), MOST_STREAMS)

/** Octets that clients of streams have sent, and that are yet to be read. Of the isolate. */
const MOST_UNREAD = 16 * 1024 * 1024

const unread = new FairPlaces(LOST_AFTER, platformClock)

/** Room for octets that wait. Undefined where there is none, and nobody has more than the user would have. */
export const takeUnreadRoom = ({ tenant, user }: ApiRequest, octets: number): Place | undefined =>
  unread.take(tenant.uid, countedAs(user), MOST_UNREAD, octets)
