/** Gives a request its seat at once, after a while, or not at all. An isolate has one gate for each control plane. */
import { platformClock } from '../base/clock.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import { settledByOthers } from '../base/settled-by-others.ts'
import type { PriorityLevelConfiguration } from '../api/flowcontrol/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { ANONYMOUS } from '../request/user-info.ts'
import type { Env } from '../env.ts'
import { settingsOf } from '../settings.ts'
import { Histogram } from '../metrics/series.ts'
import type { ApiRequest } from '../request/context.ts'
import { wholeTime } from '../request/time-left.ts'
import type { ControlSnapshot } from '../tenancy/control-snapshot.ts'
import { perTenant } from '../tenancy/tenant-state.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { Classification } from './classify.ts'
import { levelLimits } from './level-limits.ts'
import { Seats } from './seats.ts'
import type { Refusal, Seat } from './seats.ts'

/** Milliseconds that a request waits for its turn at most. */
export const longestWait = (env: Env): number => settingsOf(env).requestTime / 4

/** Counts for the requests of one FlowSchema in one level. */
export interface FlowCount {
  readonly schema: string
  readonly level: string
  dispatched: number
  readonly rejected: Partial<Record<Refusal, number>>
  /** Seconds until requests got a seat, and until requests were refused. */
  readonly waits: Readonly<Record<'dispatched' | 'rejected', Histogram>>
}

const WAITS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

class Gate {
  readonly seats = new Seats(platformClock)
  readonly counts = new BoundedMap<string, FlowCount>({ entries: 1_000 })
  private configuredBy: readonly unknown[] | undefined

  /** @param levels the same value as long as no level changes */
  configure(levels: readonly (KubeObject & PriorityLevelConfiguration)[], env: Env): void {
    if (levels === this.configuredBy) return
    this.configuredBy = levels
    const { seats: total } = settingsOf(env)
    this.seats.configure(levelLimits(levels, total), total)
  }

  count(schema: string, level: string): FlowCount {
    return this.counts.getOrMake(`${schema}\n${level}`, () => ({
      schema,
      level,
      dispatched: 0,
      rejected: {},
      waits: { dispatched: new Histogram(WAITS), rejected: new Histogram(WAITS) },
    }))
  }
}

const gateOf = perTenant('is of requests under way', () => new Gate())

const LEVELS = { group: 'flowcontrol.apiserver.k8s.io', resource: 'prioritylevelconfigurations' }

/**
 * A seat, or the reason why there is none. Every request takes a seat, and leaves it when the head of its answer is
 * there. So watches and other long requests hold one only for their start.
 */
export function admitRequest(
  request: ApiRequest,
  snapshot: ControlSnapshot,
  { schema: { metadata, spec } }: Classification,
): Seat | Refusal | Promise<Seat | Refusal> {
  const { env, tenant } = request
  const gate = gateOf(tenant)
  gate.configure(snapshot.list<KubeObject & PriorityLevelConfiguration>(LEVELS), env)
  const name = spec?.priorityLevelConfiguration?.name ?? ''
  const level = gate.seats.level(name)
  if (level === undefined) throw new Error(`assertion failed: a request was classified into ${name}, which is no level`)
  const schema = metadata.name ?? ''
  const count = gate.count(schema, name)
  const flow = () => `${schema}\n${distinguisherOf(request, spec?.distinguisherMethod?.type)}`
  const taken = gate.seats.take(level, flow, patienceOf(request))
  if (!(taken instanceof Promise)) return kept(request, gate, counted(count, taken, 0))
  const since = request.clock()
  const seat = taken.then((found) => kept(request, gate, counted(count, found, (request.clock() - since) / 1000)))
  // a request whose client has gone must leave a seat that it gets later
  request.waitUntil(seat)
  return seat
}

/**
 * The engine drops a request whose client has gone, and its seat is free only after LOST_AFTER. Where seats are
 * scarce, a read therefore runs to its end (waitUntil). Elsewhere it saves the cost of that, a twentieth of a get.
 * Other requests always run to their end (`endsBySelf`).
 */
function kept(request: ApiRequest, { seats }: Gate, found: Seat | Refusal): Seat | Refusal {
  if (typeof found === 'string' || endsBySelf(request) || !seats.isScarce(found.level)) return found
  const { promise: left, resolve: leave } = settledByOthers<void>()
  found.onLeave = leave
  request.waitUntil(left)
  return found
}

/**
 * Whether the request runs to its end although its client has gone: it may have to undo or report something, or
 * others wait for its document.
 */
export const endsBySelf = ({ method, info, record }: ApiRequest): boolean =>
  method !== 'GET' || !info.isResourceRequest || info.verb === 'watch' || info.verb === 'proxy' || record !== undefined

export const leaveSeat = (tenant: Tenant, seat: Seat): void => gateOf(tenant).seats.leave(seat)

/** The state for metrics, without the seats of requests that the engine dropped a minute ago. */
export function flowState(tenant: Tenant): Pick<Gate, 'seats' | 'counts'> {
  const gate = gateOf(tenant)
  gate.seats.reclaimLost()
  return gate
}

function counted(count: FlowCount, found: Seat | Refusal, waited: number): Seat | Refusal {
  if (typeof found === 'string') count.rejected[found] = (count.rejected[found] ?? 0) + 1
  else count.dispatched++
  count.waits[typeof found === 'string' ? 'rejected' : 'dispatched'].observe(waited)
  return found
}

function distinguisherOf({ user, info, headers, cf }: ApiRequest, method: string | undefined): string {
  if (method === 'ByNamespace') return info.namespace
  if (method !== 'ByUser') return ''
  // all anonymous users share this flow, except that the platform reports an address, which a client cannot forge
  const isAtTheEdge = user.name === ANONYMOUS.name && typeof cf?.['colo'] === 'string'
  return isAtTheEdge ? `${user.name} ${headers.get('CF-Connecting-IP') ?? ''}` : user.name
}

const patienceOf = (request: ApiRequest): number => Math.min(longestWait(request.env), wholeTime(request))
