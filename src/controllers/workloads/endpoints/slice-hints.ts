/**
 * Hints of endpoints, which name the clients that should prefer them, from a Service's trafficDistribution (KEP-4444,
 * KEP-3015).
 */
import type { Service } from '../../../api/core/v1.ts'
import type { Endpoint, EndpointHints, EndpointSlice } from '../../../api/discovery/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { ownValue } from '../../../base/own.ts'
import { flatMapParts, mapParts } from '../../../base/parts.ts'
import { sameJson } from '../same-json.ts'
import type { Plan } from './slice-plan.ts'
import { SLICE_PLANNED } from './slice-plan.ts'

type Nearness = 'zone' | 'node'

const nearness: Readonly<Record<string, Nearness>> = {
  PreferClose: 'zone',
  PreferSameZone: 'zone',
  PreferSameNode: 'node',
}

const MODES = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'] as const

/** Whether the older annotation asks for hints. It has priority over the field. */
export function asksForTopology({ metadata }: Service): boolean {
  const [mode] = MODES.flatMap((name) => ownValue(metadata.annotations, name) ?? [])
  return mode === 'Auto' || mode === 'auto'
}

const hintsOf = ({ zone, nodeName }: Endpoint, near: Nearness): EndpointHints | undefined => {
  const hints = {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(near === 'node' && nodeName !== undefined ? { forNodes: [{ name: nodeName }] } : {}),
  }
  return Object.keys(hints).length === 0 ? undefined : hints
}

/** The endpoint with its new hints. An endpoint that is not ready keeps its hints. */
function hinted(endpoint: Endpoint, near: Nearness | undefined): Endpoint {
  if (near !== undefined && endpoint.conditions?.ready !== true) return endpoint
  const wanted = near && hintsOf(endpoint, near)
  if (sameJson(endpoint.hints, wanted)) return endpoint
  const { hints: _, ...rest } = endpoint
  return wanted === undefined ? rest : { ...rest, hints: wanted }
}

function withHints(slice: EndpointSlice, near: Nearness | undefined): EndpointSlice {
  const endpoints = (slice.endpoints ?? []).map((endpoint) => hinted(endpoint, near))
  const isSame = endpoints.every((endpoint, at) => endpoint === slice.endpoints?.[at])
  return isSame ? slice : { ...cloneJson(slice), endpoints }
}

/** The plan with the hints of every slice. */
export function planWithHints(service: Service, plan: Plan, existing: readonly EndpointSlice[]): Plan {
  const near = asksForTopology(service) ? undefined : ownValue(nearness, service.spec?.trafficDistribution ?? '')
  const touched = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata.name))
  const changed = (slice: EndpointSlice): readonly EndpointSlice[] => {
    const wanted = touched.has(slice.metadata.name) ? slice : withHints(slice, near)
    return wanted === slice ? [] : [wanted]
  }
  const hinted = (slices: readonly EndpointSlice[]) =>
    mapParts(slices, (slice) => withHints(slice, near), SLICE_PLANNED)
  return {
    create: hinted(plan.create),
    update: [...hinted(plan.update), ...flatMapParts(existing, changed, SLICE_PLANNED)],
    remove: plan.remove,
  }
}
