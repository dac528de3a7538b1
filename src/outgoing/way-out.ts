/** Where an isolate's exchanges with other servers leave. */
import { HOPS_HEADER, nextHop } from '../request/hops.ts'
import { settingsOf } from '../settings.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { exchangeByFetch } from './by-fetch.ts'
import { exchangeByFront } from './by-front.ts'
import type { Exchange } from './exchange.ts'

const ways = new WeakMap<object, Exchange>()

/** A request that asks another server. */
interface Asking extends Pick<ControlPlane, 'env' | 'hops'> {
  /** Gives its seat back: the other server may take any time, and its client's other requests need not wait for it. */
  delegate?(): void
}

export function exchangeOf(asking: Asking): Exchange {
  const way = wayOf(asking)
  return ({ headers, ...call }, ...rest) => {
    asking.delegate?.()
    return way({ ...call, headers: [...headers, [HOPS_HEADER, nextHop(asking)]] }, ...rest)
  }
}

function wayOf({ env }: Asking): Exchange {
  let way = ways.get(env)
  if (way === undefined) {
    const network = { fetch: (url: string, init: RequestInit) => fetch(url, init) }
    way = env.EXCHANGES === undefined ? exchangeByFetch(network, env, settingsOf(env)) : exchangeByFront(env.EXCHANGES)
    ways.set(env, way)
  }
  return way
}
