/** Plans the EndpointSlices and Endpoints of a Service without writing anything. */
import type { Node, Pod, Service, ServicePort } from '../../../api/core/v1.ts'
import type { Endpoint, EndpointPort } from '../../../api/discovery/v1.ts'
import type { IpFamily } from '../../../api/ip-addresses.ts'
import { familyOf, ipText, parseIp } from '../../../api/ip-addresses.ts'
import { lazy } from '../../../base/lazy.ts'
import { ownValue } from '../../../base/own.ts'
import { isFinished, isReady, isTerminating } from '../pods/pod-state.ts'

export type AddressType = IpFamily

/**
 * The canonical spelling of the pod's addresses of a type, because EndpointSlices take no other. An IPv4-mapped address
 * is one of IPv4.
 */
export const podAddresses = ({ status }: Pod, type: AddressType): string[] =>
  (status?.podIPs ?? []).flatMap(({ ip = '' }) => {
    const address = parseIp(ip)
    return address?.family === type ? [ipText(address)] : []
  })

export const hasAddress = ({ spec }: Service): boolean => !['', 'None'].includes(spec?.clusterIP ?? '')

/** Whether a Service selects pods. Users write the endpoints of Services without a selector. */
export const selectsPods = ({ spec }: Service): boolean => spec?.type !== 'ExternalName' && spec?.selector !== undefined

/** Whether a pod is an endpoint: no finished pods and no pods without an address; terminating pods only in slices. */
export function hasEndpoint(pod: Pod, includeTerminating: boolean): boolean {
  if (isFinished(pod) || (!includeTerminating && isTerminating(pod))) return false
  return (pod.status?.podIP ?? '') !== '' || (pod.status?.podIPs ?? []).length > 0
}

export function addressTypes({ spec }: Service): readonly AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter(
    (family): family is AddressType => family === 'IPv4' || family === 'IPv6',
  )
  if (families.length > 0) return families
  const address = spec?.clusterIP ?? ''
  return address === '' || address === 'None' ? ['IPv4', 'IPv6'] : [familyOf(address) ?? 'IPv4']
}

/** The number of the container's port, found by number or by its name in a container. */
export const targetPort = (pod: Pod, servicePort: ServicePort): number | undefined =>
  numberOf(servicePort, () => namedPorts(pod))

function numberOf(
  { targetPort: target, protocol, port }: ServicePort,
  named: () => ReadonlyMap<string, number | undefined>,
): number | undefined {
  if (typeof target === 'number') return target
  return target === undefined ? port : named().get(`${target} ${protocol ?? 'TCP'}`)
}

/** By name and protocol; of several ports the first one counts. */
function namedPorts({ spec }: Pod): ReadonlyMap<string, number | undefined> {
  const named = new Map<string, number | undefined>()
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars])
    for (const { name = '', protocol = 'TCP', containerPort } of ports) {
      const key = `${name} ${protocol}`
      if (!named.has(key)) named.set(key, containerPort)
    }
  return named
}

export function endpointPorts(service: Service, pod: Pod): EndpointPort[] {
  const named = lazy(() => namedPorts(pod))
  return (service.spec?.ports ?? []).flatMap((servicePort) => {
    const port = numberOf(servicePort, named)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

export const hostnameOf = (service: Service, { metadata, spec }: Pod): string | undefined =>
  spec?.hostname && spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
    ? spec.hostname
    : undefined

export const podReference = ({ metadata: { namespace = '', name = '', uid = '' } }: Pod) => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
})

/** Undefined where the pod has no address of the type. */
export function endpointOf(
  service: Service,
  pod: Pod,
  node: Node | undefined,
  type: AddressType,
): Endpoint | undefined {
  const addresses = podAddresses(pod, type)
  if (addresses.length === 0) return undefined
  const serving = isReady(pod)
  const terminating = isTerminating(pod)
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const hostname = hostnameOf(service, pod)
  const zone = ownValue(node?.metadata.labels, 'topology.kubernetes.io/zone')
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: podReference(pod),
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    ...(zone ? { zone } : {}),
  }
}
