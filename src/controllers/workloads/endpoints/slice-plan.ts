/** Plans the EndpointSlices of endpoints: with few writes, full slices, and one set of ports in each slice. */
import type { Service } from '../../../api/core/v1.ts'
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../api/discovery/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { ownValue } from '../../../base/own.ts'
import { eachPart, kept } from '../../../base/parts.ts'
import { PLANNED } from '../../work/in-turns.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { sameJson } from '../same-json.ts'
import { hasAddress } from './service-endpoints.ts'
import type { AddressType } from './service-endpoints.ts'

export const SERVICE_NAME = 'kubernetes.io/service-name'
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
export const MANAGER = 'endpointslice-controller.k8s.io'
export const HEADLESS = 'service.kubernetes.io/headless'
/** The default of kube-controller-manager's --max-endpoints-per-slice. */
const MOST = 100
/** The weight of a slice in the loops of a plan. */
export const SLICE_PLANNED = MOST * PLANNED

export interface Plan {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
}

export interface Group {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

const reserved: ReadonlySet<string> = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS])

export function sliceLabels(service: Service): Record<string, string> {
  const own = Object.entries(service.metadata.labels ?? {}).filter(([key]) => !reserved.has(key))
  return {
    ...Object.fromEntries(own),
    ...(hasAddress(service) ? {} : { [HEADLESS]: '' }),
    [SERVICE_NAME]: service.metadata.name ?? '',
    [MANAGED_BY]: MANAGER,
  }
}

/** Compares ports in any order. */
const portsKey = (ports: readonly EndpointPort[] = []): string =>
  ports
    .map(({ name = '', port, protocol = 'TCP', appProtocol = '' }) =>
      JSON.stringify([name, port, protocol, appProtocol]),
    )
    .sort()
    .join()

/** The fields that identify an endpoint, without its conditions. */
const identity = ({ addresses = [], hostname, nodeName, targetRef, zone }: Endpoint): string =>
  JSON.stringify([
    [...addresses].sort(),
    hostname ?? '',
    nodeName ?? '',
    targetRef?.namespace,
    targetRef?.name,
    targetRef?.uid,
    zone ?? '',
  ])

function newSlice(service: Service, type: AddressType, ports: readonly EndpointPort[]): EndpointSlice {
  const { name = '', namespace = '' } = service.metadata
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: sliceLabels(service),
      ownerReferences: [controllerRefTo(service, { group: '', version: 'v1', kind: 'Service' })],
    },
    addressType: type,
    endpoints: [],
    ports: cloneJson([...ports]),
  }
}

const isOwned = ({ metadata }: EndpointSlice, service: Service): boolean =>
  metadata.ownerReferences?.some(({ uid, kind }) => kind === 'Service' && uid === service.metadata.uid) === true

/** @param existing the slices of the Service and the address type */
export function planSlices(
  service: Service,
  type: AddressType,
  groups: readonly Group[],
  existing: readonly EndpointSlice[],
): Plan {
  const create = kept(groups, () => [] as EndpointSlice[])
  const update = kept(groups, () => [] as EndpointSlice[])
  const remove = kept(groups, () => existing.filter((slice) => !isOwned(slice, service)))
  const byPorts = kept(groups, () =>
    Map.groupBy(
      existing.filter((slice) => isOwned(slice, service)),
      ({ ports }) => portsKey(ports),
    ),
  )
  eachPart(groups, (group) => {
    const key = portsKey(group.ports)
    const plan = planGroup(
      service,
      type,
      group,
      kept(group, () => byPorts.get(key) ?? []),
    )
    byPorts.delete(key)
    for (const slice of plan.create) create.push(slice)
    for (const slice of plan.update) update.push(slice)
    for (const slice of plan.remove) remove.push(slice)
  })
  for (const slices of byPorts.values()) for (const slice of slices) remove.push(slice)
  // a Service without pods has an empty slice
  if (existing.length === remove.length && create.length === 0) {
    const empty = newSlice(service, type, [])
    const [only] = remove
    if (remove.length === 1 && only !== undefined && isSameEmpty(only, empty, service)) remove.length = 0
    else create.push(empty)
  }
  return reuse(service, { create, update, remove })
}

const isSameEmpty = (slice: EndpointSlice, empty: EndpointSlice, service: Service): boolean =>
  isOwned(slice, service) &&
  (slice.endpoints ?? []).length === 0 &&
  (slice.ports ?? []).length === 0 &&
  sameJson(slice.metadata.labels, empty.metadata.labels)

function planGroup(
  service: Service,
  type: AddressType,
  { ports, endpoints }: Group,
  existing: readonly EndpointSlice[],
): Plan {
  const labels = sliceLabels(service)
  const wanted = kept(endpoints, () => new Map<string, Endpoint>())
  eachPart(endpoints, (endpoint) => void wanted.set(identity(endpoint), endpoint), PLANNED)
  const { same, update, remove } = kept(existing, () => ({
    same: [] as EndpointSlice[],
    update: [] as EndpointSlice[],
    remove: [] as EndpointSlice[],
  }))
  const place = (slice: EndpointSlice): void => {
    const before = slice.endpoints ?? []
    const kept = before.flatMap((endpoint) => {
      const key = identity(endpoint)
      const found = wanted.get(key)
      wanted.delete(key)
      return found ?? []
    })
    const isSame =
      kept.length === before.length && kept.every((endpoint, at) => sameJson(withoutHints(before[at]), endpoint))
    if (!isSame && kept.length === 0) remove.push(slice)
    else if (!isSame || !sameJson(labels, slice.metadata.labels))
      update.push({ ...cloneJson(slice), endpoints: kept, metadata: { ...cloneJson(slice.metadata), labels } })
    else same.push(slice)
  }
  eachPart(existing, place, SLICE_PLANNED)
  const left = [...wanted.values()]
  for (const slice of update.toSorted((a, b) => (b.endpoints?.length ?? 0) - (a.endpoints?.length ?? 0)))
    fill(slice, left)
  const create: EndpointSlice[] = []
  while (left.length > 0) {
    const room = left.length < MOST ? fullest(same, left.length) : undefined
    if (room === undefined) {
      const slice = newSlice(service, type, ports)
      fill(slice, left)
      create.push(slice)
    } else {
      // few: the rest fits in here, so it happens once
      same.splice(same.indexOf(room), 1)
      const slice = cloneJson(room)
      fill(slice, left)
      update.push(slice)
    }
  }
  return { create, update, remove }
}

function withoutHints(endpoint: Endpoint | undefined): Endpoint {
  const { hints: _, ...rest } = endpoint ?? {}
  return rest
}

function fill(slice: EndpointSlice, left: Endpoint[]): void {
  const endpoints = (slice.endpoints ??= [])
  for (const endpoint of left.splice(0, MOST - endpoints.length)) endpoints.push(endpoint)
}

/** The slice that has room for `more` endpoints and is then nearest to full. */
function fullest(slices: readonly EndpointSlice[], more: number): EndpointSlice | undefined {
  const size = ({ endpoints = [] }: EndpointSlice) => endpoints.length
  return slices.filter((slice) => size(slice) + more <= MOST).toSorted((a, b) => size(b) - size(a))[0]
}

/** A slice that would be deleted takes over new endpoints, which saves a write. */
function reuse(service: Service, { create, update, remove }: Plan): Plan {
  const coming = [...create]
  const changed = [...update]
  const going = remove.filter((slice) => {
    const next = isOwned(slice, service) ? coming.pop() : undefined
    if (next === undefined) return true
    const { name, resourceVersion, uid } = slice.metadata
    changed.push({
      ...next,
      metadata: {
        ...next.metadata,
        ...(name === undefined ? {} : { name }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(slice.metadata.annotations === undefined ? {} : { annotations: slice.metadata.annotations }),
      },
    })
    return false
  })
  return { create: coming, update: changed, remove: going }
}

export const isManaged = ({ metadata }: EndpointSlice): boolean => ownValue(metadata.labels, MANAGED_BY) === MANAGER
