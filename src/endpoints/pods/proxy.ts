/**
 * Forwards HTTP to the servers of pods, services and nodes. Like kube-apiserver, it connects only to addresses of
 * other hosts.
 */
import type { Endpoints, EndpointAddress, Pod, Service } from '../../api/core/v1.ts'
import { StatusError, badRequest, notFound, serviceUnavailable } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import type { ExchangeCall } from '../../outgoing/exchange.ts'
import { hostPort } from '../../outgoing/host-port.ts'
import { isProxyableAddress } from '../../outgoing/proxyable.ts'
import type { HeaderPairs } from '../../outgoing/proxied-headers.ts'
import { proxiedHeaders } from '../../outgoing/proxied-headers.ts'
import { isPlaced, placeOfService, slicesOfService } from '../../outgoing/service-place.ts'
import { isOnSimulatedNode, refusalAt } from '../../outgoing/simulated-node.ts'
import { exchangeOf } from '../../outgoing/way-out.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { targetOf as targetOfUrl } from '../../request/target.ts'
import { wantsUpgrade } from '../../request/upgrade.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { placeText } from '../verbs/admit-connect.ts'
import { encodedPath } from '../aggregation/proxy.ts'
import { remoteAnswer } from '../aggregation/remote-answer.ts'
import { connectionTo } from '../nodes/node-connection.ts'
import { answer } from '../nodes/simulated/plain-answer.ts'
import { listenerOf, textOf } from '../nodes/simulated/simulated-port.ts'
import { ownLocation } from './own-location.ts'

/** Finds the server for the name in the path. */
type WayTo = (scope: RequestScope, target: Target) => Promise<Way>

interface Way {
  readonly send: Send
  /** HOST:PORT of the server. */
  readonly host: string
}

const proxyBy =
  (wayTo: WayTo) =>
  (scope: RequestScope, path: string): Promise<Response> =>
    proxy(wayTo, scope, path)

/** @param path the one behind `proxy`, as admission has let it through; '' where there is none */
async function proxy(wayTo: WayTo, scope: RequestScope, path: string): Promise<Response> {
  const target = targetOf(scope.place.name)
  if (target === undefined)
    throw badRequest(`invalid ${scope.resource.entry.singular ?? 'proxy'} request ${JSON.stringify(scope.place.name)}`)
  const { send, host } = await wayTo(scope, target)
  const { request, method } = scope.request
  const address = targetOfUrl(request)
  const mark = address.indexOf('?')
  const query = mark < 0 ? '' : address.slice(mark)
  if (path === '' && (method === 'GET' || method === 'HEAD'))
    return new Response(null, {
      status: 301,
      headers: { Location: `${encodedPath(scope.request.info.path)}/${query}` },
    })
  const upgrades = wantsUpgrade(scope.request.headers)
  const headers = [...proxiedHeaders(request, upgrades), ...forwarded(scope)]
  try {
    const answer = await send(
      { method, target: `${encodedPath(path || '/')}${query}`, headers, upgrades },
      request.body,
    )
    if (upgrades && !('upgraded' in answer) && answer.status < 400)
      throw serviceUnavailable(`invalid upgrade response: status code ${answer.status}`)
    return withOwnLocation(scope, remoteAnswer(answer, method === 'HEAD', true), host)
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    if (error.message === 'address not allowed') throw badRequest(error.message)
    throw serviceUnavailable(`error trying to reach service: ${error.message}`)
  }
}

interface Passed {
  readonly method: string
  readonly target: string
  readonly headers: HeaderPairs
  readonly upgrades: boolean
}

type Send = (passed: Passed, body: ReadableStream<Uint8Array> | null) => ReturnType<ReturnType<typeof exchangeOf>>

interface Target {
  readonly scheme: string
  readonly name: string
  readonly port: string
}

/** `[https:]NAME[:PORT]` */
function targetOf(text: string): Target | undefined {
  const parts = text.split(':')
  const [first = '', second, third] = parts
  if (parts.length === 1) return { scheme: 'http', name: first, port: '' }
  if (parts.length === 2) return first === '' ? undefined : { scheme: 'http', name: first, port: second! }
  if (parts.length > 3 || !['', 'http', 'https'].includes(first) || !second) return undefined
  return { scheme: first || 'http', name: second, port: third! }
}

/** As in kube-apiserver, certificates of pods are not verified, because no authority signs them for an address. */
const wayToAddress = ({ request }: RequestScope, { scheme, host, port }: Address): Way => ({
  host: hostPort(host, port),
  send(passed, body) {
    if (!isPort(port)) throw new CallFailed(`dial tcp: lookup tcp/${port}: unknown port`)
    if (request.env.EXCHANGES === undefined) throw new CallFailed('this server reaches no pods and no nodes')
    return ask(
      request,
      { ...passed, url: `${scheme}://${hostPort(host, port)}`, isProxied: true, isInsecure: true },
      body,
    )
  },
})

interface Address {
  readonly scheme: string
  readonly host: string
  readonly port: string
}

/** A simulated pod answers without a network, as it does to port-forward. */
async function wayToPodAt(scope: RequestScope, pod: Pod, { host, port, scheme }: Address): Promise<Way> {
  if (!(await isOnSimulatedNode(scope.request, pod.spec?.nodeName))) return wayToAddress(scope, { scheme, host, port })
  return {
    host: hostPort(host, port),
    async send() {
      const listener = isPort(port) ? listenerOf(pod, Number(port)) : undefined
      if (listener === undefined) throw new CallFailed(refusalAt(hostPort(host, port)))
      return answer(200, textOf(listener, Number(port)))
    },
  }
}

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535

const ask = (
  request: RequestScope['request'],
  { target, url, ...call }: Passed & Omit<ExchangeCall, keyof Passed>,
  body: ReadableStream<Uint8Array> | null,
) => exchangeOf(request, request.user)({ ...call, url: `${url}${target}` }, body, request.gone?.())

async function found<O>(
  { request, resource: { gvr: resource, namespaced }, place: { namespace } }: RequestScope,
  name: string,
) {
  const object = await storedObject<O>(request, resource, namespaced ? `${namespace}/${name}` : name)
  if (object === undefined) throw notFound(resource, name)
  return object
}

const ipOf = ({ status }: Pod): string => status?.podIPs?.[0]?.ip ?? status?.podIP ?? ''

async function wayToPod(scope: RequestScope, { scheme, name, port }: Target): Promise<Way> {
  const pod = await found<Pod>(scope, name)
  const host = ipOf(pod)
  if (!isProxyableAddress(host)) throw badRequest('address not allowed')
  const [first] = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports)
  const byDefault = first?.containerPort ?? (scheme === 'https' ? 443 : 80)
  return wayToPodAt(scope, pod, { scheme, host, port: port || String(byDefault) })
}

/** Chooses an address of the port that belongs to a pod. Other endpoints could be any host. */
async function wayToService(scope: RequestScope, { scheme, name, port }: Target): Promise<Way> {
  const {
    request,
    place: { namespace },
  } = scope
  const isNumber = /^[+-]?\d+$/.test(port)
  const reference = { name, namespace, port: Number(port) }
  if (isNumber && isPlaced(request, reference)) {
    const { base, serverName } = await placeOfService(request, reference)
    return {
      host: new URL(base).host,
      send: (passed, body) => ask(request, { ...passed, url: base, serverName }, body),
    }
  }
  const portName = isNumber ? await portNameOf(scope, name, Number(port)) : port
  for (const { addresses, port: number } of await candidates(scope, name, portName))
    for (const address of addresses) {
      const pod = isProxyableAddress(address.ip ?? '') ? await podOf(scope, address) : undefined
      if (pod !== undefined) return wayToPodAt(scope, pod, { scheme, host: address.ip ?? '', port: String(number) })
    }
  throw serviceUnavailable(`no endpoints available for service ${goQuote(scope.place.name)}`)
}

async function portNameOf(scope: RequestScope, name: string, port: number): Promise<string> {
  const { spec } = await found<Service>(scope, name)
  const declared = (spec?.ports ?? []).find((one) => one.port === port)
  if (declared === undefined) throw serviceUnavailable(`no service port ${port} found for service ${goQuote(name)}`)
  return declared.name ?? ''
}

interface Candidate {
  readonly addresses: readonly EndpointAddress[]
  readonly port: number
}

/** Addresses from the Endpoints, as in kube-apiserver. Where a Service has none, from its EndpointSlices. */
async function candidates(scope: RequestScope, name: string, portName: string): Promise<Candidate[]> {
  const {
    request,
    place: { namespace },
  } = scope
  const key = `${namespace}/${name}`
  const endpoints = await storedObject<Endpoints>(request, { group: '', resource: 'endpoints' }, key)
  if (endpoints !== undefined) {
    if ((endpoints.subsets ?? []).length === 0)
      throw serviceUnavailable(`no endpoints available for service ${goQuote(name)}`)
    return (endpoints.subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
      const port = ports.find((one) => (one.name ?? '') === portName)?.port
      return port === undefined ? [] : [{ addresses, port }]
    })
  }
  const slices = await slicesOfService(request, namespace, name)
  // kube-apiserver's message names the Service although Endpoints are missing
  if (slices.length === 0) throw notFound(scope.resource.gvr, name)
  return slices.flatMap(({ ports, endpoints }) => {
    const port = (ports ?? []).find((one) => (one.name ?? '') === portName)?.port
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
    const addresses = ready.flatMap(({ addresses: [ip] = [], targetRef }) =>
      ip === undefined ? [] : [{ ip, ...(targetRef === undefined ? {} : { targetRef }) }],
    )
    return port === undefined ? [] : [{ addresses, port }]
  })
}

/**
 * The pod that the address names, if it has the address. A right in one namespace leads to no pod of another, whatever
 * endpoints name there.
 */
async function podOf({ request, place: { namespace } }: RequestScope, { ip, targetRef }: EndpointAddress) {
  if (targetRef === undefined || (targetRef.kind ?? 'Pod') !== 'Pod') return undefined
  if (targetRef.namespace !== namespace) return undefined
  const key = `${namespace}/${targetRef.name}`
  const pod = await storedObject<Pod>(request, { group: '', resource: 'pods' }, key)
  const isIts = (pod?.status?.podIPs ?? []).some((one) => one.ip === ip) || pod?.status?.podIP === ip
  return isIts ? pod : undefined
}

/** The port of the kubelet is reached as a kubelet, with this server's credentials. */
async function wayToNode(scope: RequestScope, { scheme, name, port }: Target): Promise<Way> {
  const node = await connectionTo(scope.request, name)
  const host = hostPort(node.host, port || node.port)
  if (port === '' || port === node.port)
    return { host, send: (passed, body) => node.ask({ ...passed, body, isProxied: true }) }
  if (node.isSimulated) return { host, send: () => Promise.reject(new CallFailed(refusalAt(host))) }
  return wayToAddress(scope, { scheme, host: node.host, port })
}

function forwarded({ request: { headers, info } }: RequestScope): HeaderPairs {
  const host = headers.get('Host') ?? ''
  return [
    ['Host', host],
    ['X-Forwarded-Uri', encodedPath(info.path)],
    ['X-Forwarded-Host', host],
    ['X-Forwarded-Proto', 'https'],
  ]
}

/** @param server HOST:PORT of the other server */
function withOwnLocation(scope: RequestScope, response: Response, server: string): Response {
  const location = response.headers.get('Location') ?? ''
  if (location === '' || response.status === 101) return response
  const own = scope.request.headers.get('Host') ?? ''
  const moved = ownLocation(location, { prefix: encodedPath(placeText(scope)), server, own })
  if (moved === undefined)
    throw new StatusError(500, 'InternalError', 'Internal error occurred: error trying to parse Location header')
  const rewritten = new Response(response.body, response)
  rewritten.headers.set('Location', moved)
  return rewritten
}

export const podProxy = proxyBy(wayToPod)
export const serviceProxy = proxyBy(wayToService)
export const nodeProxy = proxyBy(wayToNode)
