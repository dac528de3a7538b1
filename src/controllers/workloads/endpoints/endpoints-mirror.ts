/**
 * Mirrors Endpoints that a user wrote for a Service without a selector into EndpointSlices (kube-controller-manager's
 * endpointslicemirroring controller). Key: NAMESPACE/NAME.
 */
import { addTo } from '../../../base/lookup.ts'
import type { EndpointAddress, Endpoints, EndpointSubset, Service } from '../../../api/core/v1.ts'
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../api/discovery/v1.ts'
import { familyOf, ipText, parseIp } from '../../../api/ip-addresses.ts'
import type { KubeObject } from '../../../api/object.ts'
import { ownValue } from '../../../base/own.ts'
import { StatusError } from '../../../api/status.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor, typedResource } from '../../client/clientset.ts'
import type { Controller } from '../../controller.ts'
import type { ResourceClient } from '../../client/resource-client.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import { SERVICES } from './endpoint-slice.ts'
import { EventRecorder } from '../events/events.ts'
import { keyParts } from '../key.ts'
import { controllerRefTo } from '../pods/pod-control.ts'
import { sameJson } from '../same-json.ts'
import type { AddressType } from './service-endpoints.ts'
import { MANAGED_BY, SERVICE_NAME } from './slice-plan.ts'

const ENDPOINTS = typedResource<KubeObject & Endpoints>('', 'endpoints')
const SLICES = typedResource<KubeObject & EndpointSlice>('discovery.k8s.io', 'endpointslices')
const COMPONENT = 'endpointslicemirroring-controller'
/** The component's name in Events, which differs from the controller's name. */
const SOURCE = 'endpoint-slice-mirroring-controller'
export const MIRRORER = 'endpointslicemirroring-controller.k8s.io'
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror'
const LEADER = 'control-plane.alpha.kubernetes.io/leader'
/** Annotations that slices do not get. */
const notMirrored: ReadonlySet<string> = new Set([
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
])
/** The most mirrored addresses of one subset. */
const MOST = 1000
/** The most pairs of an address and a port: each address has its place for each port, and one object may have millions. */
const MOST_PAIRS = 500_000

export const endpointsMirror: Controller = {
  async reconcile(key, context) {
    const [namespace, name] = keyParts(key)
    const clients = clientsetFor(context, COMPONENT)
    const slices = clients.resource(SLICES, namespace)
    const existing = await slices.list({ labels: { [SERVICE_NAME]: name, [MANAGED_BY]: MIRRORER } })
    const endpoints = await mirrored(clients, namespace, name)
    if (endpoints === undefined) {
      for (const slice of existing) await deleteIfThere(slices, slice)
      return undefined
    }
    const { wanted, invalid, skipped } = wantedSlices(endpoints)
    const events = new EventRecorder(clients, SOURCE, context.now)
    const invalidMessage = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    if (invalid > 0) await events.warning(endpoints, 'InvalidIPAddress', invalidMessage)
    const most = `A max of ${MOST} addresses can be mirrored to EndpointSlices per Endpoints subset.`
    if (skipped > 0)
      await events.warning(endpoints, 'TooManyAddressesToMirror', `${most} ${skipped + invalid} addresses were skipped`)
    await write(slices, endpoints, wanted, existing)
    return undefined
  },
}

/** Undefined where there is nothing to mirror: no Service, or a Service whose endpoints have another source. */
async function mirrored(
  clients: Clientset,
  namespace: string,
  name: string,
): Promise<(KubeObject & Endpoints) | undefined> {
  const endpoints = await clients.resource(ENDPOINTS, namespace).get(name)
  const { labels, annotations } = endpoints?.metadata ?? {}
  if (ownValue(labels, SKIP_MIRROR) === 'true' || ownValue(annotations, LEADER) !== undefined) return undefined
  const service: Service | undefined = await clients.resource(SERVICES, namespace).get(name)
  return service === undefined || service.spec?.selector !== undefined ? undefined : endpoints
}

interface Wanted {
  readonly type: AddressType
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

/** One slice for each set of ports and each family of addresses. */
function wantedSlices(endpoints: Endpoints): { wanted: readonly Wanted[]; invalid: number; skipped: number } {
  const wanted: Wanted[] = []
  let invalid = 0
  let { skipped, subsets } = fewPairs(endpoints.subsets ?? [])
  for (const { addresses, ports } of repacked(subsets)) {
    const byType = new Map<AddressType, Endpoint[]>()
    let added = 0
    for (const [at, { address, isReady }] of addresses.entries()) {
      if (added >= MOST) {
        skipped += addresses.length - at
        break
      }
      const endpoint = endpointOf(address, isReady)
      if (endpoint === undefined) {
        invalid++
        continue
      }
      added++
      const type = familyOf(endpoint.addresses?.[0] ?? '') ?? 'IPv4'
      addTo(byType, type, endpoint)
    }
    for (const [type, list] of byType) wanted.push({ type, ports, endpoints: list })
  }
  return { wanted, invalid, skipped }
}

/** The subsets without the last addresses of those that have too many pairs. */
function fewPairs(subsets: readonly EndpointSubset[]): { subsets: readonly EndpointSubset[]; skipped: number } {
  const pairs = subsets.reduce((sum, subset) => sum + sizeOf(subset) * (subset.ports ?? []).length, 0)
  if (pairs <= MOST_PAIRS) return { subsets, skipped: 0 }
  const ports = subsets.reduce((sum, subset) => sum + (subset.ports ?? []).length, 0)
  const most = Math.floor(MOST_PAIRS / ports)
  const cut = subsets.map(({ addresses = [], notReadyAddresses = [], ...subset }) => ({
    ...subset,
    addresses: addresses.slice(0, most),
    notReadyAddresses: notReadyAddresses.slice(0, Math.max(0, most - addresses.length)),
  }))
  const count = (all: readonly EndpointSubset[]): number => all.reduce((sum, subset) => sum + sizeOf(subset), 0)
  return { subsets: cut, skipped: count(subsets) - count(cut) }
}

const sizeOf = ({ addresses = [], notReadyAddresses = [] }: EndpointSubset): number =>
  addresses.length + notReadyAddresses.length

interface Address {
  readonly address: EndpointAddress
  readonly isReady: boolean
}

/** The subsets with each port only once: ports with equal addresses share a subset (RepackSubsets). */
function repacked(
  subsets: readonly EndpointSubset[],
): readonly { readonly addresses: readonly Address[]; readonly ports: readonly EndpointPort[] }[] {
  const byPort = new Map<
    string,
    { readonly port: EndpointPort | undefined; readonly addresses: Map<string, Address> }
  >()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets)
    for (const port of ports.length === 0 ? [undefined] : ports.map(slicePort)) {
      const key = JSON.stringify(port ?? null)
      const known = byPort.get(key) ?? { port, addresses: new Map<string, Address>() }
      byPort.set(key, known)
      // an address that one subset has as not ready is not ready
      for (const address of addresses)
        if (!known.addresses.has(keyOf(address))) known.addresses.set(keyOf(address), { address, isReady: true })
      for (const address of notReadyAddresses) known.addresses.set(keyOf(address), { address, isReady: false })
    }
  const bySet = new Map<string, { readonly addresses: readonly Address[]; readonly ports: EndpointPort[] }>()
  for (const { port, addresses } of byPort.values()) {
    const sorted = [...addresses.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
    const key = JSON.stringify(sorted.map(([address, { isReady }]) => [address, isReady]))
    const set = bySet.get(key) ?? { addresses: readyFirst(sorted.map(([, address]) => address)), ports: [] }
    bySet.set(key, set)
    if (port !== undefined) set.ports.push(port)
  }
  return [...bySet.values()]
}

const keyOf = ({ ip = '', targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`

const readyFirst = (addresses: readonly Address[]): readonly Address[] => [
  ...addresses.filter(({ isReady }) => isReady),
  ...addresses.filter(({ isReady }) => !isReady),
]

const slicePort = ({ name = '', port, protocol = 'TCP', appProtocol }: EndpointPort): EndpointPort => ({
  name,
  ...(port === undefined ? {} : { port }),
  protocol,
  ...(appProtocol === undefined ? {} : { appProtocol }),
})

/** Undefined where the address is invalid. */
function endpointOf({ ip = '', hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint | undefined {
  const address = parseIp(ip)
  if (address === undefined) return undefined
  return {
    addresses: [ipText(address)],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  }
}

const groupOf = (type: string | undefined, ports: readonly EndpointPort[] = []): string =>
  `${type} ${ports
    .map((port) => JSON.stringify(slicePort(port)))
    .sort()
    .join()}`

/** Writes the slices. Slices that would be deleted take over new endpoints of their address family. */
async function write(
  slices: ResourceClient<KubeObject & EndpointSlice>,
  endpoints: KubeObject & Endpoints,
  wanted: readonly Wanted[],
  existing: readonly (KubeObject & EndpointSlice)[],
): Promise<void> {
  const byGroup = new Map<string, KubeObject & EndpointSlice>()
  const spare: (KubeObject & EndpointSlice)[] = []
  for (const slice of existing) {
    const group = groupOf(slice.addressType, slice.ports)
    if (byGroup.has(group)) spare.push(slice)
    else byGroup.set(group, slice)
  }
  const coming: Wanted[] = []
  for (const one of wanted) {
    const group = groupOf(one.type, one.ports)
    const known = byGroup.get(group)
    byGroup.delete(group)
    if (known === undefined) coming.push(one)
    else if (!isMirror(known, endpoints, one)) await slices.update(sliceOf(endpoints, one, known))
  }
  const going = [...spare, ...byGroup.values()]
  for (const one of coming) {
    // few: sets of ports that one Endpoints stopped having
    const at = going.findIndex(({ addressType }) => addressType === one.type)
    const [reused] = at < 0 ? [] : going.splice(at, 1)
    if (reused !== undefined) await slices.update(sliceOf(endpoints, one, reused))
    else if (endpoints.metadata.deletionTimestamp === undefined)
      await slices.create(sliceOf(endpoints, one)).catch(ignoreEnding)
  }
  for (const slice of going) await deleteIfThere(slices, slice)
}

const annotationsOf = ({ metadata }: Endpoints): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !notMirrored.has(name)))

const labelsOf = ({ metadata }: Endpoints): Readonly<Record<string, string>> => ({
  ...metadata.labels,
  [SERVICE_NAME]: metadata.name ?? '',
  [MANAGED_BY]: MIRRORER,
})

const sorted = (all: readonly Endpoint[] = []): readonly string[] => all.map(textOf).sort()

const textOf = ({ addresses, conditions, hostname, nodeName, targetRef }: Endpoint): string =>
  JSON.stringify([addresses, conditions?.ready, hostname, nodeName, targetRef?.kind, targetRef?.name, targetRef?.uid])

function isMirror(slice: EndpointSlice, endpoints: Endpoints, { endpoints: wanted }: Wanted): boolean {
  const isOther = slice.metadata.ownerReferences?.some(
    ({ kind, name, uid }) => kind === 'Endpoints' && name === endpoints.metadata.name && uid !== endpoints.metadata.uid,
  )
  return (
    isOther !== true &&
    sameJson(sorted(slice.endpoints), sorted(wanted)) &&
    sameJson(slice.metadata.labels, labelsOf(endpoints)) &&
    sameJson(slice.metadata.annotations ?? {}, annotationsOf(endpoints))
  )
}

function sliceOf(
  endpoints: KubeObject & Endpoints,
  { type, ports, endpoints: wanted }: Wanted,
  known?: EndpointSlice,
): KubeObject & EndpointSlice {
  const { name = '', namespace = '' } = endpoints.metadata
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      ...(known?.metadata ?? { generateName: `${name}-`, namespace }),
      labels: { ...labelsOf(endpoints) },
      annotations: { ...annotationsOf(endpoints) },
      ownerReferences: [controllerRefTo(endpoints, { group: '', version: 'v1', kind: 'Endpoints' })],
    },
    addressType: type,
    endpoints: [...wanted],
    ports: [...ports],
  }
}

function ignoreEnding(error: unknown): void {
  const causes = error instanceof StatusError ? (error.status.details?.causes ?? []) : []
  if (!causes.some(({ reason }) => reason === 'NamespaceTerminating')) throw error
}
