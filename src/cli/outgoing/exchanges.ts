// Streams requests to other servers for the engine: aggregated APIs, kubelets, servers in pods and Services. Both
// bodies flow as they arrive. The engine posts one line of JSON, and behind it the body (src/outgoing/by-front.ts).
import { Agent as HttpAgent, createServer, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { addTo } from '../../base/lookup.ts'
import { FAILED, STATUS_HEADER } from '../../webhooks/by-front.ts'
import { BUSY_IN_ALL, DEADLINE, DIAL_TIMEOUT, NOT_ALLOWED } from '../../webhooks/failure-text.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import type { ClientCredential } from '../../outgoing/exchange.ts'
import { HEADERS_HEADER, TUNNEL_HEADER } from '../../outgoing/exchange.ts'
import { isProxyableAddress } from '../../outgoing/proxyable.ts'
import type { PassedCall } from '../../outgoing/by-front.ts'
import type { Credential } from '../data-directory/certificate.ts'
import { listenAt } from '../engine/listen-at.ts'
import { MAX_INTERIM } from './answer.ts'
import { ExchangePlaces } from './exchange-places.ts'
import { failureOf } from './failure.ts'
import { JoinedPieces } from './joined-pieces.ts'
import { goTrust } from './go-trust.ts'
import { Tunnels } from '../front/tunnels.ts'
import type { Tunnel } from '../front/tunnels.ts'
import { WebSocketStream, handshake } from '../front/websocket-streams.ts'

export type Credentials = Readonly<Partial<Record<ClientCredential, Credential>>>

const MAX_IDLE = 16
/** What Go's client says of more interim answers than MAX_INTERIM. */
const TOO_MANY_INTERIM = 'net/http: too many 1xx informational responses'
const IDLE_MS = 30_000
/** Milliseconds that kube-apiserver waits for a connection. */
const DIAL_MS = 30_000
/** The longest line of JSON. Its largest part is a caBundle. */
const MAX_LINE = 2 << 20

export interface ExchangeServer {
  close(): void
}

/**
 * @param credentials of this server for other servers
 * @param tunnels holds connections for the front to join
 * @param most of the requests at once to all hosts; absent: as many as the process can hold
 */
export async function serveOutgoingExchanges(
  socket: string,
  credentials: Credentials = {},
  tunnels = new Tunnels(),
  most?: number,
): Promise<ExchangeServer> {
  const exchanges = new OutgoingExchanges(credentials, tunnels, most)
  const server = createServer((request, response) => void exchanges.serve(request, response))
  await listenAt(server, socket)
  return {
    close() {
      server.close()
      server.closeAllConnections()
      exchanges.close()
      tunnels.close()
    },
  }
}

class OutgoingExchanges {
  readonly #options = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }
  readonly #agents = { https: new HttpsAgent({ ...this.#options, ...goTrust }), http: new HttpAgent(this.#options) }
  readonly #credentials: Credentials
  readonly #tunnels: Tunnels
  readonly #places: ExchangePlaces

  constructor(credentials: Credentials, tunnels: Tunnels, most: number | undefined) {
    this.#credentials = credentials
    this.#tunnels = tunnels
    this.#places = new ExchangePlaces(most)
  }

  close(): void {
    this.#agents.https.destroy()
    this.#agents.http.destroy()
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = new AbortController()
    response.once('close', () => given.abort()) // the engine no longer wants the answer
    let late: AbortSignal | undefined
    let crowdedOut: string | undefined
    let leave = (): void => {}
    try {
      const call = await readCall(request)
      const signals = [given.signal]
      if (call.timeoutMs !== undefined) signals.push((late = AbortSignal.timeout(call.timeoutMs)))
      leave = this.#places.take(new URL(call.url).host, call, (code) => {
        crowdedOut = code
        given.abort()
      })
      const answer = await this.#send(call, request, AbortSignal.any(signals))
      await this.#pass(call, answer, response)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const code = crowdedOut ?? (late?.aborted === true ? DEADLINE : undefined)
      const failure = code === undefined ? failureOf(error) : { code, message: '' }
      response.writeHead(FAILED, { 'content-type': 'application/json' }).end(JSON.stringify(failure))
    } finally {
      leave()
    }
  }

  async #send(call: PassedCall, body: IncomingMessage, signal: AbortSignal): Promise<Answer> {
    const mayRepeat = !call.hasBody && call.upgrades !== true && (call.method === 'GET' || call.method === 'HEAD')
    // the other side may have closed idle connections just now; each try uses one up, and the last one a new connection
    for (;;)
      try {
        return await answerTo(this.#request(call, signal), call, body)
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error
        if (!mayRepeat || signal.aborted) throw error.cause
      }
  }

  #request(call: PassedCall, signal: AbortSignal): ClientRequest {
    const { url, method, upgrades, hasBody, isProxied } = call
    const { protocol, hostname } = new URL(url)
    const isSecure = protocol === 'https:'
    const address = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isProxied === true && isIP(address) !== 0 && !isProxyableAddress(address)) throw failure(NOT_ALLOWED)
    const headers = new Map<string, string[]>()
    for (const [name, value] of call.headers) addTo(headers, name, octets(value))
    if (hasBody && ![...headers.keys()].some((name) => name.toLowerCase() === 'content-length'))
      headers.set('Transfer-Encoding', ['chunked'])
    // an agent's connection may have been made without this check of addresses
    const hasAgent = upgrades !== true && isProxied !== true
    const options: RequestOptions = {
      ...(isSecure ? this.#tls(call) : {}),
      // an agent has it once: Node keeps no connection of a request that brings a check of its own
      ...(isSecure && !hasAgent ? goTrust : {}),
      method,
      // the authorized path: URL would resolve its dots
      path: pathOf(url),
      headers: Object.fromEntries(
        [...headers].map(([name, [first = '', ...more]]) => [name, more.length === 0 ? first : [first, ...more]]),
      ),
      signal,
      agent: hasAgent && (isSecure ? this.#agents.https : this.#agents.http),
      ...(isProxied === true ? { lookup: proxyableLookup } : {}),
    }
    const request = (isSecure ? httpsRequest : httpRequest)(url, options)
    dialInTime(request, isSecure)
    return request
  }

  #tls({ caBundle, serverName, isInsecure, credential }: PassedCall) {
    const own = credential === undefined ? undefined : this.#credentials[credential]
    return {
      ...(caBundle === undefined ? {} : { ca: caBundle }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(isInsecure === true ? { rejectUnauthorized: false } : {}),
      ...(own === undefined ? {} : { cert: own.certificate, key: own.key }),
    }
  }

  async #pass(call: PassedCall, { message, socket, ahead }: Answer, response: ServerResponse): Promise<void> {
    const status = message.statusCode ?? 0
    const pairs: [string, string][] = []
    for (let at = 0; at + 1 < message.rawHeaders.length; at += 2)
      pairs.push([message.rawHeaders[at]!, message.rawHeaders[at + 1]!])
    const texts = pairs.map(([name, value]) => [name, textOf(value)])
    const headers = { [STATUS_HEADER]: String(status), [HEADERS_HEADER]: asciiJson(texts) }
    if (socket === undefined) {
      response.writeHead(200, headers).flushHeaders()
      return pipeline(message, new JoinedPieces(message), response)
    }
    const ticket = this.#tunnels.hold(tunnelOf(call, { message, socket, ahead }, pairs))
    if (ticket === undefined) {
      socket.destroy()
      throw failure(BUSY_IN_ALL)
    }
    response.writeHead(200, { ...headers, [TUNNEL_HEADER]: ticket }).end()
  }
}

/** The connection for the client: the server's own, or a WebSocket that is translated to it. */
function tunnelOf(
  { translates }: PassedCall,
  { message, socket, ahead }: Answer & { readonly socket: Duplex },
  pairs: readonly (readonly [string, string])[],
): Tunnel {
  if (translates === undefined) {
    const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const head = Buffer.from(`HTTP/1.1 ${message.statusCode} ${message.statusMessage}\r\n${lines}\r\n`, 'latin1')
    return { socket, said: Buffer.concat([head, ahead]) }
  }
  const chosen = String(message.headers['x-stream-protocol-version'] ?? '').trim()
  const isUnderstood = translates.streams === undefined || chosen === STREAMS
  if (!isUnderstood || message.headers.upgrade?.toLowerCase() !== 'spdy/3.1' || !PROTOCOL.test(chosen)) {
    socket.destroy()
    throw Object.assign(new Error('unable to upgrade: the node agreed to something else'), { code: 'ERR_UPGRADE' })
  }
  const protocol = translates.streams !== undefined ? CHANNELS : chosen === '' ? '' : `SPDY/3.1+${chosen}`
  return { socket: new WebSocketStream(socket, ahead, translates), said: handshake(translates, protocol) }
}

const STREAMS = 'v4.channel.k8s.io'
const CHANNELS = 'v5.channel.k8s.io'
/** A token, or ''. */
const PROTOCOL = /^[\w.-]*$/

const pathOf = (url: string): string => url.slice(url.indexOf('/', url.indexOf('//') + 2))

/** Refuses a name with an address of this machine or a link-local one. */
const proxyableLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, '')
    if (!addresses.every(({ address }) => isProxyableAddress(address))) return done(failure(NOT_ALLOWED), '')
    const [first] = addresses
    if (options.all === true) done(null, addresses)
    else if (first === undefined) done(failure('ENOTFOUND'), '')
    else done(null, first.address, first.family)
  })
}

/** Text as the UTF-8 that Go writes. Node would write Latin-1, or refuse the text. */
const octets = (text: string): string => Buffer.from(text).toString('latin1')

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a header's octets, which Node reads as Latin-1: the engine writes text in UTF-8 again. */
function textOf(value: string): string {
  // pattern: of one header
  if (!/[\x80-\xff]/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

/** Only ASCII, because heads of HTTP/1.1 are Latin-1 and the engine would read them as UTF-8. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\x7f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const failure = (code: string): Error => Object.assign(new Error(code), { code })

interface Answer {
  readonly message: IncomingMessage
  /** The connection of a server that agreed to another protocol, with the bytes behind its head. */
  readonly socket?: Duplex
  readonly ahead: Buffer
}

/** A reused connection was closed while the request was sent. Only its cause may leave this file. */
class StaleConnection extends Error {}

function answerTo(request: ClientRequest, { hasBody, upgrades }: PassedCall, body: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.once('response', (message) => resolve({ message, ahead: Buffer.alloc(0) }))
    request.once('upgrade', (message, socket, ahead) => {
      if (upgrades === true) return resolve({ message, socket, ahead })
      socket.destroy()
      reject(failure('HPE_INVALID_CONSTANT'))
    })
    let interim = 0
    request.on('information', () => {
      if (++interim > MAX_INTERIM) request.destroy(new CallFailed(TOO_MANY_INTERIM))
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isStale ? new StaleConnection('stale', { cause: error }) : error)
    })
    if (!hasBody) return void request.end()
    body.on('error', (error) => request.destroy(error))
    body.on('aborted', () => request.destroy())
    body.pipe(request)
  })
}

function dialInTime(request: ClientRequest, isSecure: boolean): void {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) return
    const late = setTimeout(() => request.destroy(failure(DIAL_TIMEOUT)), DIAL_MS).unref()
    const done = (): void => clearTimeout(late)
    socket.once(isSecure ? 'secureConnect' : 'connect', done)
    socket.once('close', done)
  })
}

async function readCall(request: IncomingMessage): Promise<PassedCall> {
  const chunks: Buffer[] = []
  let length = 0
  // an IncomingMessage without an encoding has buffers
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf('\n')
    length += chunk.length
    if (end < 0 && length > MAX_LINE) break
    chunks.push(end < 0 ? chunk : chunk.subarray(0, end))
    if (end < 0) continue
    if (end + 1 < chunk.length) request.unshift(chunk.subarray(end + 1))
    // the engine writes it
    return JSON.parse(Buffer.concat(chunks).toString()) as PassedCall
  }
  throw Object.assign(new Error('no request was named'), { code: 'ERR_BAD_CALL' })
}
