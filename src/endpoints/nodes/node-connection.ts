/**
 * The connection to a node: to its kubelet, or to a NodeConnection in this process that simulates one. Only
 * `connectionTo` chooses between them.
 */
import type { Node } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError, notFound, plainError } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import type { ExchangeAnswer, ExchangeCall, Upgraded, WebSocketTranslation } from '../../outgoing/exchange.ts'
import type { HeaderPairs } from '../../outgoing/proxied-headers.ts'
import { hostPort, isHost } from '../../outgoing/host-port.ts'
import { isSimulatedHere } from '../../outgoing/simulated-node.ts'
import { exchangeOf } from '../../outgoing/way-out.ts'
import type { ApiRequest } from '../../request/context.ts'
import { settingsOf } from '../../settings.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { simulatedKubelet } from './simulated/kubelet.ts'

/** A request to the kubelet's API. */
export interface NodeRequest {
  readonly method: string
  /** Percent-encoded: `/containerLogs/NAMESPACE/POD/CONTAINER?follow=true`, `/exec/…`. */
  readonly target: string
  readonly headers: HeaderPairs
  readonly body?: ReadableStream<Uint8Array> | null
  /** The request upgrades the connection to another protocol. */
  readonly upgrades?: boolean
  /** The client speaks WebSocket, and the kubelet gets SPDY. */
  readonly translates?: WebSocketTranslation
  /** A user chose the node by path, so the call is refused where its address is this machine or link-local. */
  readonly isProxied?: boolean
  /** The client does not care whose certificate the kubelet has. */
  readonly isInsecure?: boolean
}

export interface NodeConnection {
  /** Name or address of the node, and the port of its kubelet. */
  readonly host: string
  readonly port: string
  readonly isSimulated: boolean
  /** Streams may be WebSockets; else they are SPDY. */
  readonly speaksWebSocket: boolean
  /** @throws CallFailed */
  ask(request: NodeRequest): Promise<ExchangeAnswer | Upgraded>
}

const NODES = { group: '', resource: 'nodes' }
const KUBELET_PORT = 10250
/** A feature that kubelets declare from 1.36 on (KEP 5328). */
const WEBSOCKETS = 'ExtendWebSocketsToKubelet'

/** @throws StatusError where the node does not exist or has no address */
export async function connectionTo(request: ApiRequest, nodeName: string): Promise<NodeConnection> {
  const node = await storedObject<Node>(request, NODES, nodeName)
  if (node === undefined) throw notFound(NODES, nodeName)
  if (isSimulatedHere(request, node)) return simulatedKubelet(request, nodeName)
  return kubelet(request, node)
}

function kubelet(request: ApiRequest, { status, metadata }: KubeObject & Node): NodeConnection {
  const addresses = status?.addresses ?? []
  // of several addresses of a type the first one counts
  const byType = new Map(addresses.toReversed().map(({ type, address }) => [type, address]))
  const host = settingsOf(request.env)
    .kubeletAddressTypes.map((type) => byType.get(type))
    .find((found) => found !== undefined)
  if (host === undefined) {
    const known = addresses.map(({ type = '', address = '' }) => `{${type} ${address}}`).join(' ')
    throw plainError(`no preferred addresses found; known addresses: [${known}]`)
  }
  if (!isHost(host)) throw plainError(`the address ${goQuote(host)} of node ${goQuote(metadata.name ?? '')} is no host`)
  const port = String(status?.daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT)
  return {
    host,
    port,
    isSimulated: false,
    speaksWebSocket: status?.declaredFeatures?.includes(WEBSOCKETS) ?? false,
    async ask({ target, isProxied = false, isInsecure = false, ...call }) {
      if (request.env.EXCHANGES === undefined) throw new CallFailed('this server reaches no nodes')
      return exchangeOf(request, request.user)(
        {
          ...call,
          url: `https://${hostPort(host, port)}${target}`,
          ...verification(isInsecure ? undefined : settingsOf(request.env).kubeletAuthority),
          credential: 'kubelet-client',
          isProxied,
        },
        call.body ?? null,
        request.gone?.(),
      )
    },
  }
}

/**
 * Without a CA bundle certificates are not verified: by default kubelets sign their own, and kube-apiserver does the
 * same.
 */
const verification = (caBundle: string | undefined): Pick<ExchangeCall, 'caBundle' | 'isInsecure'> =>
  caBundle === undefined ? { isInsecure: true } : { caBundle }

/** @throws StatusError where the call failed; its text is `words` and the reason */
export async function reached<T>(words: string, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof CallFailed) throw plainError(`${words}: ${error.message}`)
    throw error
  }
}

/** The error for a kubelet's error answer. */
export function kubeletError(status: number, text: string, what: string, name: string): StatusError {
  if (status === 500)
    return new StatusError(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] })
  if (status === 400) return new StatusError(400, 'BadRequest', text)
  if (status === 404)
    return new StatusError(404, 'NotFound', `the server could not find the requested resource ( ${what} ${name})`, {
      name,
      kind: what,
    })
  return plainError(`the server responded with the status code ${status} but did not return more information`)
}
