/** HTTP to what pods, services and nodes serve. Nothing of it can be reached from here. */
import type { Endpoints, Node, Pod, Service } from '../../api/core/v1.ts'
import { lazy } from '../../api/lazy.ts'
import { badRequest, notFound, serviceUnavailable } from '../../api/status.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { contains, parseCidr, parseIp } from '../../api/ip-addresses.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'

export async function proxy(scope: RequestScope): Promise<Response> {
  const target = targetOf(scope.name)
  if (target === undefined)
    throw badRequest(`invalid ${scope.entry.singular ?? 'proxy'} request ${JSON.stringify(scope.name)}`)
  throw serviceUnavailable(
    `error trying to reach service: dial tcp ${await addressOf(scope, target)}: connect: connection refused`,
  )
}

interface Target {
  readonly name: string
  readonly port: string
}

/** `[https:]NAME[:PORT]` */
function targetOf(text: string): Target | undefined {
  const parts = text.split(':')
  const [first = '', second, third] = parts
  if (parts.length === 1) return { name: first, port: '' }
  if (parts.length === 2) return first === '' ? undefined : { name: first, port: second! }
  if (parts.length > 3 || !['', 'http', 'https'].includes(first) || !second) return undefined
  return { name: second, port: third! }
}

async function addressOf(scope: RequestScope, target: Target): Promise<string> {
  switch (scope.resource.resource) {
    case 'pods':
      return podAddress(scope, target)
    case 'services':
      return serviceAddress(scope, target)
    default:
      return nodeAddress(scope, target)
  }
}

async function found<O>({ request, resource, namespaced, namespace }: RequestScope, name: string) {
  const object = await storedObject<O>(request, resource, namespaced ? `${namespace}/${name}` : name)
  if (object === undefined) throw notFound(resource, name)
  return object
}

const notGlobal = lazy(() =>
  [
    '0.0.0.0/32',
    '255.255.255.255/32',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '224.0.0.0/4',
    '::/128',
    '::1/128',
    'fe80::/10',
    'ff00::/8',
  ].map((text) => parseCidr(text)!),
)

async function podAddress(scope: RequestScope, { name, port }: Target): Promise<string> {
  const { spec, status } = await found<Pod>(scope, name)
  const ip = status?.podIPs?.[0]?.ip ?? status?.podIP ?? ''
  const address = parseIp(ip)
  if (address === undefined || notGlobal().some((range) => contains(range, address)))
    throw badRequest('address not allowed')
  const first = (spec?.containers ?? []).flatMap(({ ports = [] }) => ports)[0]?.containerPort
  return hostPort(ip, port || String(first ?? 80))
}

async function serviceAddress(scope: RequestScope, { name, port }: Target): Promise<string> {
  const service = await found<Service>(scope, name)
  const key = `${scope.namespace}/${name}`
  const endpoints = await storedObject<Endpoints>(scope.request, { group: '', resource: 'endpoints' }, key)
  if (endpoints === undefined) throw notFound(scope.resource, name)
  const wanted = service.spec?.ports?.find((candidate) => candidate.name === port || String(candidate.port) === port)
  for (const { addresses = [], ports = [] } of endpoints.subsets ?? []) {
    const match = ports.find((candidate) => (candidate.name ?? '') === (wanted?.name ?? port))
    const [address] = addresses
    if (match !== undefined && address?.ip) return hostPort(address.ip, String(match.port ?? 0))
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
}

async function nodeAddress(scope: RequestScope, { name, port }: Target): Promise<string> {
  const { status } = await found<Node>(scope, name)
  const address = (status?.addresses ?? []).find(({ type }) => type === 'Hostname' || type === 'InternalIP')?.address
  if (address === undefined) throw serviceUnavailable('no preferred addresses found; known addresses: []')
  return hostPort(address, port || '10250')
}

const hostPort = (host: string, port: string): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
