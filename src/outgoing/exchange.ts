/** A request that is streamed to another server, and its streamed answer: the interface that the two ways out share. */

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
  /** The certificate is not checked. */
  readonly isInsecure?: boolean
  /** A user chose the destination: its host must resolve to an address of another host (proxyable.ts). */
  readonly isProxied?: boolean
  readonly credential?: ClientCredential
  /** Whose places the call takes (base/fair-places.ts): a control plane, and there a user. Absent: of the server itself. */
  readonly askedBy?: readonly [plane: string, user: string]
  /** How many places it takes. Absent: one. */
  readonly places?: number
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

/** The other side agreed to another protocol: the answer for the client, with the connection. */
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

/** Without hop-by-hop headers: the listed ones, and those that the message's Connection header names. */
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
/** Header by which the engine tells its front to connect the client with a waiting server. */
export const TUNNEL_HEADER = 'kedge-tunnel'
