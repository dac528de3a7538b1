/**
 * Keeps the Endpoints of Services, for clients that still read them (kube-controller-manager's endpoints controller).
 */
import type { EndpointAddress, EndpointPort, Endpoints, EndpointSubset, Pod, Service } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { apart, eachPart, kept } from '../../../base/parts.ts'
import { StatusError } from '../../../api/status.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import { PLANNED, planned } from '../../work/in-turns.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import type { Named } from './change-time.ts'
import { changeTime, withChangeTime } from './change-time.ts'
import { SERVICES } from './endpoint-slice.ts'
import { keyParts } from '../key.ts'
import { PODS } from '../pods/pod-control.ts'
import { isReady } from '../pods/pod-state.ts'
import { sameJson } from '../same-json.ts'
import {
  addressTypes,
  endpointPorts,
  hasAddress,
  hasEndpoint,
  hostnameOf,
  podAddresses,
  podReference,
  selectsPods,
} from './service-endpoints.ts'
import { HEADLESS } from './slice-plan.ts'

const COMPONENT = 'endpoint-controller'
const ENDPOINTS = typedResource<KubeObject & Endpoints>('', 'endpoints')
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by'
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity'
/** The most addresses of one object. */
const MOST = 1000

export const endpointsController: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const service = await clients.resource(SERVICES, namespace).get(name)
    if (service === undefined) return removed(clients, namespace, name)
    if (!selectsPods(service)) return undefined
    const labelSelector = Object.entries(service.spec?.selector ?? {})
      .map(([label, value]) => `${label}=${value}`)
      .join()
    const pods = await clients.resource(PODS, namespace).list({ labelSelector, shared: true })
    // each pod has its place for each port
    const looked = pods.slice(0, mostPods(service))
    const { subsets, isCut = looked.length < pods.length } = await planned(looked, () =>
      withinCapacity(subsetsOf(service, looked)),
    )
    const client = clients.resource(ENDPOINTS, namespace)
    const known = await client.get(name)
    const { [HEADLESS]: _, ...own } = service.metadata.labels ?? {}
    const labels = {
      ...own,
      ...(hasAddress(service) ? {} : { [HEADLESS]: '' }),
      [MANAGED_BY]: COMPONENT,
    }
    const { [OVER_CAPACITY]: __, ...annotations } = known?.metadata.annotations ?? {}
    const asked = { tenant: clients.tenant, component: COMPONENT, service, pods }
    const time = await planned(pods, () => changeTime(asked, known && kept(known, () => namedBy(known, service))))
    const wanted: KubeObject & Endpoints = {
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: {
        ...known?.metadata,
        name,
        namespace,
        labels,
        annotations: { ...withChangeTime(annotations, time), ...(isCut ? { [OVER_CAPACITY]: 'truncated' } : {}) },
      },
      ...(subsets.length === 0 ? {} : { subsets: [...subsets] }),
    }
    if (known === undefined) await client.create(wanted).catch(ignoreEnding)
    else if (!(await planned(pods, () => isSame(known, wanted)))) await client.update(wanted)
    return undefined
  },
}

const isSame = (a: Endpoints, b: Endpoints): boolean =>
  sameJson(a.subsets ?? [], b.subsets ?? []) &&
  sameJson(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
  a.metadata.annotations?.[OVER_CAPACITY] === b.metadata.annotations?.[OVER_CAPACITY]

/** The pods in the endpoints. With publishNotReadyAddresses their readiness is unknown: all are in `addresses`. */
function namedBy({ subsets = [] }: Endpoints, { spec }: Service): Named {
  const saysReady = spec?.publishNotReadyAddresses !== true
  const named = new Map<string, boolean | undefined>()
  for (const { addresses = [], notReadyAddresses = [] } of subsets) {
    for (const { targetRef } of addresses) named.set(targetRef?.uid ?? '', saysReady ? true : undefined)
    for (const { targetRef } of notReadyAddresses) named.set(targetRef?.uid ?? '', false)
  }
  return named
}

async function removed(clients: Clientset, namespace: string, name: string): Promise<undefined> {
  const client = clients.resource(ENDPOINTS, namespace)
  const known = await client.get(name)
  if (known?.metadata.labels?.[MANAGED_BY] !== COMPONENT) return
  await deleteIfThere(client, known)
}

/** The most pairs of a pod and a port of the Service. */
const MOST_PAIRS = 500_000

/** The most pods of which the endpoints are made. */
export const mostPods = ({ spec }: Service): number => Math.floor(MOST_PAIRS / Math.max(1, (spec?.ports ?? []).length))

interface Reached {
  readonly port: EndpointPort | undefined
  readonly ready: EndpointAddress[]
  readonly others: EndpointAddress[]
}

/** The subsets of the endpoints: ports with equal addresses share one. */
export function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const { publishNotReadyAddresses = false } = service.spec ?? {}
  const byPort = kept(pods, () => new Map<string, Reached>())
  const reach = (pod: Pod): void => {
    const address = hasEndpoint(pod, publishNotReadyAddresses) ? addressOf(service, pod) : undefined
    if (address === undefined) return
    const ports = endpointPorts(service, pod).map(({ name, ...port }) => ({ ...(name ? { name } : {}), ...port }))
    for (const port of (service.spec?.ports ?? []).length === 0 ? [undefined] : ports) {
      const key = JSON.stringify(port ?? null)
      const reached = byPort.get(key) ?? { port, ready: [], others: [] }
      byPort.set(key, reached)
      ;(publishNotReadyAddresses || isReady(pod) ? reached.ready : reached.others).push(address)
    }
  }
  eachPart(pods, reach, PLANNED)
  const subsets = new Map<string, EndpointSubset & { readonly ports: EndpointPort[] }>()
  for (const reached of byPort.values()) {
    const { port, ready, others } = reached
    const key = apart(reached, () => JSON.stringify([ready.sort(byAddress), others.sort(byAddress)]))
    const subset = subsets.get(key) ?? {
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(others.length === 0 ? {} : { notReadyAddresses: others }),
      ports: [],
    }
    subsets.set(key, subset)
    if (port !== undefined) subset.ports.push(port)
  }
  return [...subsets.values()].map(({ ports, ...subset }) =>
    ports.length === 0 ? subset : { ...subset, ports: ports.sort(byName) },
  )
}

const byName = (a: EndpointPort, b: EndpointPort): number => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)

/** Sorts addresses as texts, then by the uid of the pod. */
const byAddress = (a: EndpointAddress, b: EndpointAddress): number =>
  compareTexts(a.ip, b.ip) || compareTexts(a.targetRef?.uid, b.targetRef?.uid)

const compareTexts = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0)

/** The pod's address of the Service's first IP family. */
function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const [family] = addressTypes(service)
  const [ip] = family === undefined ? [] : podAddresses(pod, family)
  if (ip === undefined) return undefined
  const hostname = hostnameOf(service, pod)
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName: pod.spec?.nodeName ?? '',
    targetRef: podReference(pod),
  }
}

/** @returns `isCut` only where addresses were left out */
function withinCapacity(subsets: readonly EndpointSubset[]): { subsets: readonly EndpointSubset[]; isCut?: true } {
  const count = subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
    0,
  )
  if (count <= MOST) return { subsets }
  let ready = MOST
  const cut = subsets.map(({ addresses = [], ...subset }) => {
    const kept = addresses.slice(0, ready)
    ready -= kept.length
    return { ...subset, ...(kept.length === 0 ? {} : { addresses: kept }) }
  })
  let others = ready
  const all = cut.map(({ notReadyAddresses = [], ...subset }) => {
    const kept = notReadyAddresses.slice(0, others)
    others -= kept.length
    return { ...subset, ...(kept.length === 0 ? {} : { notReadyAddresses: kept }) }
  })
  return { subsets: all.filter((subset) => 'addresses' in subset || 'notReadyAddresses' in subset), isCut: true }
}

function ignoreEnding(error: unknown): void {
  const causes = error instanceof StatusError ? (error.status.details?.causes ?? []) : []
  if (!causes.some(({ reason }) => reason === 'NamespaceTerminating')) throw error
}
