/** How calls leave this server: through the front of a local server, or through the platform's fetch. */
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import { byFetch } from './by-fetch.ts'
import { byFront } from './by-front.ts'
import type { Outgoing } from './outgoing-call.ts'

/** The way out for each isolate's bindings. */
const ways = new WeakMap<object, Outgoing>()

export function outgoingOf(env: Env): Outgoing {
  let way = ways.get(env)
  if (way === undefined) {
    const network = { fetch: (url: string, init: RequestInit) => fetch(url, init) }
    way = env.OUTGOING === undefined ? byFetch(network, env, settingsOf(env)) : byFront(env.OUTGOING)
    ways.set(env, way)
  }
  return way
}
