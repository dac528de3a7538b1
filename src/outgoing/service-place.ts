/**
 * The address of a Service, for webhooks and aggregated APIs alike: from a setting, or from its EndpointSlices (as
 * kube-apiserver's --enable-aggregator-routing). This server has no kube-proxy, so a cluster IP would lead nowhere.
 */
import type { Service } from '../api/core/v1.ts'
import type { EndpointSlice } from '../api/discovery/v1.ts'
import { goQuote } from '../go/quote.ts'
import { settingsOf } from '../settings.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import { storedObject } from '../tenancy/stored-object.ts'
import { eachStoredObject } from '../tenancy/stored-objects.ts'
import { hostPort } from './host-port.ts'
import { isOnSimulatedNode, refusalAt } from './simulated-node.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'

export interface ServiceReference {
  readonly name: string
  readonly namespace: string
  readonly port: number
}

export interface ServicePlace {
  /** `https://HOST:PORT`, perhaps with a path, without a slash at the end. */
  readonly base: string
  /** Name that the certificate must have: that of the Service in a cluster. */
  readonly serverName: string
}

type Plane = Pick<ControlPlane, 'env' | 'tenant'>

const SERVICES = { group: '', resource: 'services' }
const ENDPOINT_SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }

const keyOf = ({ namespace, name, port }: ServiceReference): string => `${namespace}/${name}:${port}`

/** Whether a setting says where it is. */
export const isPlaced = ({ env }: Plane, service: ServiceReference): boolean =>
  settingsOf(env).serviceUrls.has(keyOf(service))

/** @throws CallFailed */
export async function placeOfService(plane: Plane, service: ServiceReference): Promise<ServicePlace> {
  const { name, namespace, port } = service
  const serverName = `${name}.${namespace}.svc`
  const place = settingsOf(plane.env).serviceUrls.get(keyOf(service))
  if (place !== undefined) return { base: place.replace(/\/$/, ''), serverName }
  const [found, slices] = await Promise.all([
    storedObject<Service>(plane, SERVICES, `${namespace}/${name}`),
    slicesOfService(plane, namespace, name),
  ])
  if (found === undefined) throw new CallFailed(`service ${goQuote(name)} not found`)
  if (plane.env.EXCHANGES === undefined)
    throw new CallFailed(`this server reaches no Services but those of KEDGE_SERVICES, which has no ${keyOf(service)}`)
  return { base: `https://${await hostOf(plane, found, port, slices)}`, serverName }
}

export async function slicesOfService(plane: Plane, namespace: string, name: string): Promise<EndpointSlice[]> {
  const labels = [{ key: 'kubernetes.io/service-name', operator: 'In', values: [name] }] as const
  const slices: EndpointSlice[] = []
  for await (const slice of eachStoredObject<EndpointSlice>(plane, ENDPOINT_SLICES, namespace, { labels, fields: [] }))
    slices.push(slice)
  return slices
}

/** HOST:PORT. @throws CallFailed */
async function hostOf(
  plane: Plane,
  { metadata, spec = {} }: Service,
  port: number,
  slices: readonly EndpointSlice[],
): Promise<string> {
  const { name = '' } = metadata ?? {}
  if (spec.type === 'ExternalName') return hostPort(spec.externalName ?? '', port)
  const found = (spec.ports ?? []).find((one) => one.port === port)
  if (found === undefined) throw new CallFailed(`no service port ${port} found for service ${goQuote(name)}`)
  const [first] = spec.ipFamilies ?? []
  const endpoint = endpointOf(slices, found.name ?? '', first)
  if (endpoint === undefined) throw new CallFailed(`no endpoints available for service ${goQuote(name)}`)
  const address = hostPort(endpoint.address, endpoint.port)
  if (await isOnSimulatedNode(plane, endpoint.nodeName)) throw new CallFailed(refusalAt(address))
  return address
}

export interface Endpoint {
  readonly address: string
  readonly port: number
  readonly nodeName: string | undefined
}

/**
 * A random ready endpoint that has the port; of the first address family if that has one.
 * @param portName of the Service
 */
export function endpointOf(
  slices: readonly EndpointSlice[],
  portName: string,
  family: string | undefined,
  pick: (count: number) => number = anyOf,
): Endpoint | undefined {
  const ready = slices.flatMap(({ addressType, ports, endpoints }) => {
    const port = (ports ?? []).find((one) => (one.name ?? '') === portName)?.port
    if (port === undefined) return []
    return (endpoints ?? []).flatMap(({ addresses: [address] = [], conditions, nodeName }) =>
      address === undefined || conditions?.ready === false ? [] : [{ addressType, address, port, nodeName }],
    )
  })
  const preferred = ready.filter(({ addressType }) => addressType === family)
  const all = preferred.length > 0 ? preferred : ready
  return all[pick(all.length)]
}

const anyOf = (count: number): number => Math.floor(Math.random() * count)
