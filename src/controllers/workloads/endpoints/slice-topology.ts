/**
 * Hints of endpoints for Services with the annotation topology-mode: zones get endpoints in proportion to their cores.
 */
import { BoundedMap } from '../../../base/bounded-map.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import type { Node, Service } from '../../../api/core/v1.ts'
import type { Endpoint, EndpointSlice } from '../../../api/discovery/v1.ts'
import type { Tenant } from '../../../storage/tenant.ts'
import { perTenant } from '../../../tenancy/tenant-state.ts'
import type { News } from '../events/events.ts'
import type { AddressType } from './service-endpoints.ts'
import { asksForTopology, planWithHints } from './slice-hints.ts'
import type { Plan } from './slice-plan.ts'
import type { Share, ZoneParts } from './zone-shares.ts'
import { sharesOf, transfers, zoneParts } from './zone-shares.ts'

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready === true
const zoneHints = (zone: string) => ({ forZones: [{ name: zone }] })

function countReady(slices: readonly EndpointSlice[]): number {
  return slices.reduce((sum, { endpoints = [] }) => sum + endpoints.filter(isReady).length, 0)
}

/** The number of endpoints for each zone in the slice's hints; undefined where the hints must be computed again. */
function countsOf(
  { endpoints = [] }: EndpointSlice,
  shares: ReadonlyMap<string, Share>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>()
  for (const { hints } of endpoints.filter(isReady)) {
    const zones = hints?.forZones ?? []
    if (zones.length === 0) return undefined
    for (const { name = '' } of zones) {
      if (!shares.has(name)) return undefined
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  const isTooMuch = [...counts].some(([zone, count]) => count + (before.get(zone) ?? 0) > (shares.get(zone)?.most ?? 0))
  return isTooMuch ? undefined : counts
}

/**
 * @param unchanged slices that the plan does not change
 * @returns the plan with hints; or a text that tells why there are none
 */
export function planByTopology(
  plan: Plan,
  unchanged: readonly EndpointSlice[],
  parts: ZoneParts | undefined,
): Plan | string {
  const all = [...plan.create, ...plan.update, ...unchanged]
  const shares = sharesOf(parts, countReady(all))
  if (typeof shares === 'string') return shares
  const counts = new Map<string, number>()
  const touched: EndpointSlice[] = []
  for (const slice of unchanged) {
    const own = countsOf(slice, shares, counts)
    if (own === undefined) touched.push(cloneJson(slice))
    for (const [zone, count] of own ?? []) counts.set(zone, (counts.get(zone) ?? 0) + count)
  }
  const create = plan.create.map((slice) => cloneJson(slice))
  const update = [...plan.update.map((slice) => cloneJson(slice)), ...touched]
  const open = [...create, ...update]
  if (open.some(({ endpoints = [] }) => endpoints.some((endpoint) => isReady(endpoint) && !endpoint.zone)))
    return 'One or more endpoints do not have a zone specified'
  for (const slice of open) slice.endpoints = (slice.endpoints ?? []).map((endpoint) => inOwnZone(endpoint, counts))
  redistribute(open, transfers(shares, counts))
  return { create, update, remove: plan.remove }
}

function inOwnZone(endpoint: Endpoint, counts: Map<string, number>): Endpoint {
  const { zone = '' } = endpoint
  // an endpoint that is not ready keeps its hints
  if (!isReady(endpoint)) return endpoint
  counts.set(zone, (counts.get(zone) ?? 0) + 1)
  return { ...endpoint, hints: zoneHints(zone) }
}

function redistribute(slices: readonly EndpointSlice[], { giving, receiving }: ReturnType<typeof transfers>): void {
  for (const slice of slices)
    slice.endpoints = (slice.endpoints ?? []).map((endpoint) => {
      const { zone = '' } = endpoint
      const give = giving.get(zone) ?? 0
      if (!isReady(endpoint) || give === 0) return endpoint
      // few: zones
      const [to, take = 0] = [...receiving].find(([, count]) => count > 0) ?? []
      if (to === undefined) return endpoint
      giving.set(zone, give - 1)
      receiving.set(to, take - 1)
      return { ...endpoint, hints: zoneHints(to) }
    })
}

/** The uids of Services with such hints: an Event reports the end of the hints. */
const hinted = perTenant('forgotten', () => new BoundedMap<string, true>({ entries: 4096 }))

export interface Planned {
  readonly plan: Plan
  /** The slices of the Service and the address type. */
  readonly existing: readonly EndpointSlice[]
  readonly nodes: readonly Node[]
}

/** The plan with the hints of every slice, and the Event about them. */
export function planForClients(
  tenant: Tenant,
  service: Service,
  type: AddressType,
  { plan, existing, nodes }: Planned,
): { readonly plan: Plan; readonly news?: News } {
  const known = hinted(tenant)
  const { uid = '' } = service.metadata
  const wasHinted = known.get(uid) === true
  const touched = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata.name))
  const unchanged = existing.filter(({ metadata }) => !touched.has(metadata.name))
  const hints = asksForTopology(service) ? planByTopology(plan, unchanged, zoneParts(nodes)) : undefined
  if (typeof hints === 'object') {
    known.set(uid, true)
    const isNew = !wasHinted && !existing.some(hasHints)
    return { plan: hints, ...(isNew ? { news: enabled(type) } : {}) }
  }
  const withHints = planWithHints(service, plan, existing)
  // after the last loop, because a plan in parts runs again from its start
  known.delete(uid)
  const reason = hints ?? (wasHinted ? 'Topology Aware Hints has been disabled' : undefined)
  return { plan: withHints, ...(reason === undefined ? {} : { news: disabled(reason, type) }) }
}

const hasHints = ({ endpoints = [] }: EndpointSlice): boolean => endpoints.some(({ hints }) => hints !== undefined)

const enabled = (type: AddressType): News => ({
  type: 'Normal',
  reason: 'TopologyAwareHintsEnabled',
  message: `Topology Aware Hints has been enabled, addressType: ${type}`,
})

const disabled = (why: string, type: AddressType): News => ({
  type: 'Warning',
  reason: 'TopologyAwareHintsDisabled',
  message: `${why}, addressType: ${type}`,
})
