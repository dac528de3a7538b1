// The places of requests to other servers. Such a request has no seat of API Priority and Fairness any more, so users
// share these places (src/base/fair-places.ts): one who asks servers that do not answer keeps nobody else out.
import { FairPlaces } from '../../base/fair-places.ts'
import type { Place } from '../../base/fair-places.ts'
import type { ExchangeCall } from '../../outgoing/exchange.ts'
import { BUSY, BUSY_IN_ALL } from '../../webhooks/failure-text.ts'

/** The most requests to one host at once, so that a host that does not answer uses only a part of this process. */
const MAX_PER_HOST = 1_000
/** The most requests at once to all hosts: APIServices, Services, pods and nodes may name any number of them. */
const MAX_UNDER_WAY = 4_096
/**
 * The part of these that requests without a time limit may be: logs that are followed and watches last as long as their
 * clients and servers like, and must leave room for other requests.
 */
const ENDLESS_PART = 3 / 4

/** The server itself, where no user asks. */
const NOBODY = ['', ''] as const

export class ExchangePlaces {
  readonly #all: Shared
  /** By host and port. Bound: MAX_UNDER_WAY. */
  readonly #hosts = new Map<string, Shared>()

  constructor(most = MAX_UNDER_WAY) {
    this.#all = new Shared(most, BUSY_IN_ALL)
  }

  /**
   * @param crowdedOut is called with the code of a failure when the call must end, because others have fewer places
   * @returns a function that gives the places back
   * @throws an error with a code where no place is free, and nobody has more than the asking user would have
   */
  take(
    name: string,
    {
      askedBy: [plane, user] = NOBODY,
      places: size = 1,
      timeoutMs,
    }: Pick<ExchangeCall, 'askedBy' | 'places' | 'timeoutMs'>,
    crowdedOut: (code: string) => void,
  ): () => void {
    const host = this.#hosts.get(name) ?? new Shared(MAX_PER_HOST, BUSY)
    const held: Place[] = []
    const leave = (): void => {
      for (const place of held.splice(0)) place.leave()
      if (host.isEmpty && this.#hosts.get(name) === host) this.#hosts.delete(name)
    }
    this.#hosts.set(name, host)
    for (const { code, kinds } of [host, this.#all])
      for (const { places, most } of timeoutMs === undefined ? kinds : kinds.slice(0, 1)) {
        const place = places.take(plane, user, most, size)
        if (place === undefined) {
          leave()
          throw Object.assign(new Error(code), { code })
        }
        place.onEnd = () => {
          leave()
          crowdedOut(code)
        }
        held.push(place)
      }
    return leave
  }
}

/** The places of one host, or of all. */
class Shared {
  /** Of the failure where there is none. */
  readonly code: string
  /** For every request, and besides for each without a time limit. */
  readonly kinds: readonly [{ places: FairPlaces; most: number }, { places: FairPlaces; most: number }]

  constructor(most: number, code: string) {
    this.code = code
    this.kinds = [
      { places: new FairPlaces(), most },
      { places: new FairPlaces(), most: Math.ceil(most * ENDLESS_PART) },
    ]
  }

  get isEmpty(): boolean {
    return this.kinds[0].places.isEmpty
  }
}
