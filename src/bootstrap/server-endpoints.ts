/**
 * What of the Endpoints and the EndpointSlice of Service `kubernetes` is not left to users: the server's address. The
 * slice follows the Endpoints, of which users may change ports and labels (kube-apiserver's endpoint reconciler, which
 * looks every ten seconds).
 */
import type { Endpoints } from '../api/core/v1.ts'
import type { Endpoint, EndpointSlice } from '../api/discovery/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { cloneJson } from '../json/clone-json.ts'
import { familyOf } from '../api/ip-addresses.ts'
import { nextInt64 } from '../go/int.ts'
import { sameValue } from '../validation/same-value.ts'

type StoredEndpoints = KubeObject & Endpoints
type StoredSlice = KubeObject & EndpointSlice

const ENDPOINTS = 'io.k8s.api.core.v1.Endpoints'
const SLICE = 'io.k8s.api.discovery.v1.EndpointSlice'
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror'

/** @param own those of a fresh server @returns undefined where nothing is wrong */
export function endpointsPutRight(live: StoredEndpoints, own: Endpoints): StoredEndpoints | undefined {
  const [subset, ...more] = live.subsets ?? []
  const [ownSubset] = own.subsets ?? []
  // a server without an address has no subset
  const isOne = (subset === undefined) === (ownSubset === undefined) && more.length === 0
  const right = cloneJson(live)
  if (!isOne) right.subsets = cloneJson(own.subsets ?? [])
  else if (subset !== undefined && !sameAddresses(subset.addresses, ownSubset?.addresses))
    right.subsets = [{ ...subset, addresses: cloneJson(ownSubset?.addresses ?? []) }]
  right.metadata.labels = { ...live.metadata.labels, [SKIP_MIRROR]: 'true' }
  return sameValue(ENDPOINTS, { ...live }, { ...right }) ? undefined : right
}

type Addresses = NonNullable<Endpoints['subsets']>[number]['addresses']

/** By their IPs alone. */
const sameAddresses = (some: Addresses = [], own: Addresses = []): boolean =>
  some.length === own.length && some.every(({ ip }, at) => ip === own[at]?.ip)

/**
 * @param own that of a fresh server
 * @param endpoints those that it follows
 * @returns undefined where nothing is wrong
 */
export function slicePutRight(live: StoredSlice, own: StoredSlice, endpoints: Endpoints): StoredSlice | undefined {
  const right = cloneJson(own)
  const [subset] = endpoints.subsets ?? []
  if (subset !== undefined) {
    right.ports = (subset.ports ?? []).map(({ name = '', port, protocol }) => ({ name, port, protocol }))
    const { addressType } = own
    const { addresses, notReadyAddresses } = subset
    right.endpoints = [
      ...endpointsOf(addresses, addressType, true),
      ...endpointsOf(notReadyAddresses, addressType, false),
    ]
  }
  if (sameValue(SLICE, followed(live), followed(right))) return undefined
  const { uid, creationTimestamp, generation = 0, managedFields } = live.metadata
  Object.assign(right.metadata, { uid, creationTimestamp, managedFields, generation: nextInt64(generation) })
  return right
}

const followed = ({ metadata: { labels }, endpoints = [], ports = [] }: StoredSlice): object => ({
  metadata: { labels },
  endpoints,
  ports,
})

const endpointsOf = (addresses: Addresses = [], addressType: string | undefined, ready: boolean): Endpoint[] =>
  addresses.flatMap(({ ip = '', targetRef, nodeName }) =>
    familyOf(ip) === addressType
      ? [{ addresses: [ip], conditions: { ready }, ...(targetRef && { targetRef }), ...(nodeName && { nodeName }) }]
      : [],
  )
