/** A request that is passed on to another server, and its answer, both as they come: what the two ways out agree on. */

/** Which certificate the server shows: as the front proxy that says for whom it asks, or as a client of kubelets. */
export type ClientCredential = 'front-proxy' | 'kubelet-client'

export interface ExchangeCall {
  readonly method: string
  /** `https://…`, or `http://…` of a pod, a Service or a node. */
  readonly url: string
  /** Several of one name stay several. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Name that the certificate must have; absent: the host of the URL. */
  readonly serverName?: string | undefined
  /** PEM of the only authorities that count; absent: those that everybody trusts. */
  readonly caBundle?: string | undefined
  /** The certificate is not looked at. */
  readonly isInsecure?: boolean
  /** Where a user wants to go: what its host turns out to be must be an address of other hosts (proxyable.ts). */
  readonly isProxied?: boolean
  readonly credential?: ClientCredential
  /** From the first octet sent to the last of the answer. Absent: it goes on until one side ends it. */
  readonly timeoutMs?: number
  /** The connection is asked to speak another protocol from then on. */
  readonly upgrades?: boolean
  /** The client speaks WebSocket, the server is asked for SPDY. */
  readonly translates?: WebSocketTranslation
}

/** A client's WebSocket that is made into SPDY on the way: of port-forward it is octet by octet the same. */
export interface WebSocketTranslation {
  /** Sec-WebSocket-Key of the client. */
  readonly key: string
  /** The channels of exec and attach, which become streams; absent: SPDY is within the messages. */
  readonly streams?: {
    readonly stdin: boolean
    readonly stdout: boolean
    readonly stderr: boolean
    readonly tty: boolean
  }
}

export interface ExchangeAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: ReadableStream<Uint8Array> | null
}

/** The other side agreed to another protocol: what the client is answered, to be connected with it. */
export interface Upgraded {
  readonly upgraded: Response
}

/** @param gone aborted: the client has hung up. @throws CallFailed */
export type Exchange = (
  call: ExchangeCall,
  body: ReadableStream<Uint8Array> | null,
  gone?: AbortSignal,
) => Promise<ExchangeAnswer | Upgraded>

/** Of one connection only (RFC 9110, 7.6.1): nothing of these is passed on, in either direction. */
const HOP_BY_HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)

/** Without those of one connection: the listed ones, and what the message's Connection header names. */
export function endToEnd(
  headers: Iterable<readonly [name: string, value: string]>,
): (readonly [name: string, value: string])[] {
  const all = [...headers]
  const named = all
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim().toLowerCase()))
  const dropped = new Set([...HOP_BY_HOP, ...named])
  return all.filter(([name]) => !dropped.has(name.toLowerCase()))
}

/** Header of the front's answer: the other server's headers, as JSON. */
export const HEADERS_HEADER = 'outgoing-headers'
/** Header by which the engine tells its front to connect the client with a server that waits. */
export const TUNNEL_HEADER = 'kedge-tunnel'
