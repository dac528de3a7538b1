/**
 * Extended resources of DeviceClasses (KEP-5004). If a pod requests one, the scheduler makes a claim for it, and the
 * pod gets devices. A class provides the resource of its extendedResourceName, and always one that is named after the
 * class.
 */
import type { Container, ContainerExtendedResourceRequest, Pod } from '../../../api/core/v1.ts'
import { append } from '../../../base/append.ts'
import { ownValue } from '../../../base/own.ts'
import type { DeviceRequest } from '../../../api/resource/v1.ts'
import type { ExtendedResources } from '../../../registry/resource/extended-claims.ts'
import { EXTENDED_CLAIM, isOfDevices } from '../../../registry/resource/extended-claims.ts'
import { Quantity } from '../../../schema/quantity.ts'
import type { PodInfo } from '../pod-info.ts'
import type { Claim } from './requests.ts'

/** The name of a claim before it is written. No stored claim can have it. */
const UNWRITTEN = '<extended-resources>'

/** The requested resources that classes may provide. */
export const wantedExtended = ({ needs }: PodInfo): string[] =>
  [...needs].flatMap(([name, amount]) => (amount > 0 && isOfDevices(name) ? [name] : []))

/** The claim of a pod before it is written, with the requests for the chosen node. */
export function unwrittenClaim({ metadata }: Pod, requests: DeviceRequest[]): Claim {
  const { namespace = '', name = '', uid = '' } = metadata
  return {
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: {
      name: UNWRITTEN,
      namespace,
      generateName: `${name}-extended-resources-`,
      annotations: { [EXTENDED_CLAIM]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: { devices: { requests } },
  }
}

/** The requests for the classes of some resources, and the devices that each container gets. */
export interface ExtendedRequests {
  readonly requests: DeviceRequest[]
  readonly mappings: ContainerExtendedResourceRequest[]
}

/** @param resources the resources that devices provide on the node */
export function extendedRequests(
  { spec }: Pod,
  resources: readonly string[],
  classOf: ExtendedResources['classOf'],
): ExtendedRequests {
  const { initContainers = [], containers = [] } = spec ?? {}
  const all: Asking[] = [...initContainers, ...containers].map((container, at) => ({
    container,
    at,
    isShort: at < initContainers.length && container.restartPolicy !== 'Always',
  }))
  const found = [...resources].sort().flatMap((resource) => {
    const name = classOf(resource)?.metadata.name
    return name === undefined ? [] : [ofResource(all, resource, name)]
  })
  return {
    requests: found.flatMap(({ requests }) => requests).sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)),
    mappings: found.flatMap(({ mappings }) => mappings),
  }
}

interface Asking {
  readonly container: Container
  /** The index of the container: init containers first, then the others. */
  readonly at: number
  /** Whether the container ends before the next one starts. */
  readonly isShort: boolean
}

/**
 * Distributes the devices of one resource. An init container that ends reuses the devices of containers that start
 * later. For the rest, init containers share further devices.
 */
function ofResource(all: readonly Asking[], resource: string, deviceClassName: string): ExtendedRequests {
  const long: (readonly [at: number, request: Numbered])[] = []
  const mappings: ContainerExtendedResourceRequest[] = []
  for (const asking of all.filter(({ isShort }) => !isShort)) {
    const asked = ofContainer(asking, resource, [])
    append(mappings, asked.mappings)
    if (asked.request !== undefined) long.push([asking.at, asked.request])
  }
  const shortMappings: ContainerExtendedResourceRequest[] = []
  const extra: Numbered[] = []
  for (const asking of all.filter(({ isShort }) => isShort)) {
    const reusable = long.flatMap(([at, request]) => (at >= asking.at ? [request] : []))
    const asked = ofContainer(asking, resource, reusable)
    if (asked.request !== undefined) extra.push(asked.request)
    append(shortMappings, asked.mappings)
  }
  // all of them share one request: the first with the largest count
  const most = extra.reduce<Numbered | undefined>(
    (known, one) => (known === undefined || one.count > known.count ? one : known),
    undefined,
  )
  const shared = new Set(extra.map(({ name }) => name))
  const ofShared = shortMappings.map((mapping) =>
    shared.has(mapping.requestName ?? '') ? { ...mapping, requestName: most?.name ?? '' } : mapping,
  )
  const wanted = [...(most === undefined ? [] : [most]), ...long.map(([, request]) => request)]
  return {
    requests: wanted.map(({ name, count }) => ({
      name,
      exactly: { deviceClassName, allocationMode: 'ExactCount', count },
    })),
    mappings: [...mappings, ...ofShared],
  }
}

interface Numbered {
  readonly name: string
  readonly count: number
}

function ofContainer(
  { container, at }: Asking,
  resourceName: string,
  reusable: readonly Numbered[],
): { readonly request?: Numbered; readonly mappings: readonly ContainerExtendedResourceRequest[] } {
  const requests = container.resources?.requests ?? {}
  const count = Quantity.tryParse(ownValue(requests, resourceName) ?? '0')?.value() ?? 0
  if (count === 0) return { mappings: [] }
  const containerName = container.name ?? ''
  const mappings: ContainerExtendedResourceRequest[] = []
  let there = 0
  for (const { name, count: more } of reusable) {
    there += more
    mappings.push({ containerName, resourceName, requestName: name })
    if (there >= count) return { mappings }
  }
  const name = `container-${at}-request-${Object.keys(requests).sort().indexOf(resourceName)}`
  return {
    request: { name, count: count - there },
    mappings: [...mappings, { containerName, resourceName, requestName: name }],
  }
}
