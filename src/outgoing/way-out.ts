/** Where an isolate's exchanges with other servers leave. */
import { settingsOf } from '../settings.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { exchangeByFetch } from './by-fetch.ts'
import { exchangeByFront } from './by-front.ts'
import type { Exchange } from './exchange.ts'

const ways = new WeakMap<object, Exchange>()

export function exchangeOf({ env }: Pick<ControlPlane, 'env'>): Exchange {
  let way = ways.get(env)
  if (way === undefined) {
    const network = { fetch: (url: string, init: RequestInit) => fetch(url, init) }
    way = env.EXCHANGES === undefined ? exchangeByFetch(network, env, settingsOf(env)) : exchangeByFront(env.EXCHANGES)
    ways.set(env, way)
  }
  return way
}
