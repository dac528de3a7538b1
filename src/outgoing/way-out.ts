/** Where an isolate's exchanges with other servers leave. */
import type { ApiRequest } from '../request/context.ts'
import { heldPlacesOf } from '../request/held-places.ts'
import { HOPS_HEADER, nextHop } from '../request/hops.ts'
import type { UserInfo } from '../request/user-info.ts'
import { countedAs } from '../request/user-info.ts'
import { settingsOf } from '../settings.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { exchangeByFetch } from './by-fetch.ts'
import { exchangeByFront } from './by-front.ts'
import type { Exchange } from './exchange.ts'

const ways = new WeakMap<object, Exchange>()

/** A request that asks another server. */
interface Asking
  extends Pick<ControlPlane, 'env' | 'tenant' | 'hops'>, Partial<Pick<ApiRequest, 'request' | 'headers'>> {
  /** Gives its seat back: the other server may take any time, and its client's other requests need not wait for it. */
  delegate?(): void
}

/** @param user who asks, and whose places the exchange takes */
export function exchangeOf(asking: Asking, user: UserInfo): Exchange {
  const way = wayOf(asking)
  const askedBy = [asking.tenant.uid, countedAs(user)] as const
  const { request, headers: own } = asking
  const places = request !== undefined && own !== undefined ? heldPlacesOf({ request, headers: own }) : 1
  return ({ headers, ...call }, ...rest) => {
    asking.delegate?.()
    return way({ ...call, askedBy, places, headers: [...headers, [HOPS_HEADER, nextHop(asking)]] }, ...rest)
  }
}

function wayOf({ env }: Pick<Asking, 'env'>): Exchange {
  let way = ways.get(env)
  if (way === undefined) {
    const network = { fetch: (url: string, init: RequestInit) => fetch(url, init) }
    way = env.EXCHANGES === undefined ? exchangeByFetch(network, env, settingsOf(env)) : exchangeByFront(env.EXCHANGES)
    ways.set(env, way)
  }
  return way
}
