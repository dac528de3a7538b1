// The TLS front of the local server. It terminates TLS, asks clients for certificates, and gives each client's
// connection one of its own to the engine (client-connection.ts). This file accepts connections and limits their
// number and their time.
import { constants } from 'node:crypto'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer } from 'node:tls'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import type { Credential } from '../data-directory/certificate.ts'
import { HeldTogether } from '../held-together.ts'
import { certificatesIn, tlsClientAuth } from './client-certificate.ts'
import type { TlsClientAuth } from './client-certificate.ts'
import { ClientConnection, DEADLINES } from './client-connection.ts'
import type { Deadlines } from './client-connection.ts'
import { arrivingMessages } from './client-messages.ts'
import { ConnectionLimits } from './connection-limits.ts'
import type { Admission, Limits } from './connection-limits.ts'
import { REUSE_MS } from './engine-link.ts'
import type { EngineAddress } from './engine-link.ts'
import { Http2Connection, MOST_STREAMS } from './http2/connection.ts'
import { StreamLine } from './http2/stream-line.ts'
import { MOST_OWING, MOST_SILENT, MOST_SLOW, MOST_STALLED, STALLED_MS, surplus } from './stalled-clients.ts'
import type { Stalled } from './stalled-clients.ts'
import { Tunnels } from './tunnels.ts'

export interface FrontOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly server: Credential
  /** PEM of the authorities of client certificates. */
  readonly clientAuthorities: readonly string[]
  /** The engine's address, once it listens. */
  readonly engine: () => Promise<EngineAddress>
  /** Further connections are answered with 429, before descriptors run out. Default: no limit. */
  readonly limits?: Limits
  readonly deadlines?: Deadlines
  /** Connections to other servers, to which the engine wants clients joined. */
  readonly tunnels?: Tunnels
  /** Each request gets a header with the client's address. */
  readonly tellsAddress?: boolean
  /** Milliseconds from the accepted connection to the end of the handshake. */
  readonly handshakeMs?: number
  /** The most requests at a time on one connection in HTTP/2; 0: the front speaks HTTP/1.1 only. */
  readonly http2Streams?: number
}

export interface Front {
  readonly port: number
  /** Connections from now on get this certificate. */
  show(credential: Credential): void
  /** Certificates of clients of connections from now on must lead to one of these. */
  trust(clientAuthorities: readonly string[]): void
  /** Accepts no more connections and requests, waits `graceMs` for answers in progress, then closes. */
  close(graceMs: number): Promise<void>
}

const HANDSHAKE_MS = 10_000
/**
 * The most octets of heads that are not whole, and of requests that wait for the one before, of all clients. Beyond that
 * the longest end: anybody may begin a head, which may have a megabyte.
 */
const MOST_AHEAD = 32 << 20
/**
 * The most octets of long heads whose requests are under way, of all clients. Beyond that the longest end: a
 * client with any token can send a head of a megabyte, and the body slowly.
 */
const MOST_OF_HEADS = 32 << 20
/**
 * The most octets that the engine has sent over WebSockets and clients have yet to take, of all of them. Beyond that
 * those end that have the most.
 */
export const MOST_UNREAD = 64 << 20
/** Milliseconds between keep-alive probes, because a quiet watch or WebSocket has no heartbeat of its own. */
const KEEP_ALIVE_MS = 30_000
const CHECK_MS = 1_000
const UNLIMITED: Limits = { total: Infinity, perAddress: Infinity }

/** @throws the error of `listen` where the address is not available */
export async function startFront(options: FrontOptions): Promise<Front> {
  const {
    engine,
    tunnels = new Tunnels(),
    deadlines = DEADLINES,
    tellsAddress = false,
    handshakeMs = HANDSHAKE_MS,
    http2Streams = MOST_STREAMS,
  } = options
  const limits = new ConnectionLimits(options.limits ?? UNLIMITED)
  let shown = options.server
  let trusted = options.clientAuthorities
  let authorities = certificatesIn(trusted)
  const connections = new Set<ClientConnection>()
  const inHttp2 = new Set<Http2Connection>()
  const line = new StreamLine()
  const ahead = new HeldTogether(MOST_AHEAD)
  const heads = new HeldTogether(MOST_OF_HEADS)
  const messages = arrivingMessages()
  const unread = new HeldTogether(MOST_UNREAD)
  const handshakes = new Map<string, Handshake>()
  const contextNow = (): SecureContextOptions => ({
    cert: shown.certificate,
    key: shown.key,
    ca: [...trusted], // clients learn which certificates may be asked for; tlsClientAuth verifies
    minVersion: 'TLSv1.2',
    // a resumed session has the client's certificate, but not the authorities that the client sent
    secureOptions: constants.SSL_OP_NO_TICKET,
  })
  const server = createServer({
    ...contextNow(),
    requestCert: true,
    rejectUnauthorized: false, // the Worker answers 401, as kube-apiserver does
    ALPNProtocols: [...(http2Streams > 0 ? ['h2'] : []), 'http/1.1', 'http/1.0'],
  })
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    const admission = address === undefined ? 'closed' : limits.admit(address)
    if (address === undefined || admission === 'closed') return void socket.destroy()
    const peer = peerOf(socket)
    handshakes.set(peer, { socket, admission, since: performance.now() })
    socket.once('close', () => {
      handshakes.delete(peer)
      limits.release(address, admission)
    })
  })
  // Node asks for the certificate in its own listener of the end of a handshake. This event comes before that end.
  const certificates = new WeakMap<TLSSocket, TlsClientAuth | undefined>()
  server.on('keylog', (_secrets, socket) => {
    if (certificates.has(socket)) return
    certificates.set(socket, undefined)
    socket.prependOnceListener('secure', () => certificates.set(socket, tlsClientAuth(socket, authorities)))
  })
  server.on('secureConnection', (socket) => {
    const handshake = handshakes.get(peerOf(socket))
    if (handshake === undefined) return void socket.destroy() // its connection has gone, or was never counted
    handshakes.delete(peerOf(socket))
    const { admission } = handshake
    const address = socket.remoteAddress ?? ''
    const certificate = certificates.get(socket)
    const open = (client: Duplex, isToBeRefused: boolean, within = deadlines): void => {
      const options = { address, certificate, isToBeRefused, tellsAddress, tunnels, ahead, heads, messages, unread }
      const connection = new ClientConnection(client, engine, within, options)
      connections.add(connection)
      client.on('close', () => connections.delete(connection))
    }
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    if (socket.alpnProtocol !== 'h2') return open(socket, admission === 'to be refused')
    // each of its requests has a connection to the engine, so it counts as much as a client's connection
    const openStream = (client: Duplex): boolean => {
      const ofStream = limits.admit(address)
      if (ofStream === 'closed') return false
      client.once('close', () => limits.release(address, ofStream))
      open(client, [admission, ofStream].includes('to be refused'), { ...deadlines, idle: REUSE_MS })
      return true
    }
    const connection = new Http2Connection(socket, address, deadlines, http2Streams, line, openStream, () =>
      inHttp2.delete(connection),
    )
    inHttp2.add(connection)
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const { socket, since } of handshakes.values()) if (now - since >= handshakeMs) socket.destroy()
    for (const connection of [...connections, ...inHttp2]) connection.checkDeadline(now)
    endSurplus(connections, now)
    for (const connection of inHttp2) connection.ask(now)
    endThose(inHttp2, MOST_SILENT, ({ silent }) => sinceLong(silent, now))
  }, CHECK_MS)
  sweep.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port, // a server on TCP has an address with a port
    show(credential) {
      shown = credential
      server.setSecureContext(contextNow())
    },
    trust(clientAuthorities) {
      authorities = certificatesIn(clientAuthorities)
      trusted = clientAuthorities
      server.setSecureContext(contextNow())
    },
    async close(graceMs) {
      clearInterval(sweep)
      server.close()
      for (const { socket } of handshakes.values()) socket.destroy()
      for (const connection of [...connections, ...inHttp2]) connection.finish()
      const until = performance.now() + graceMs
      while (connections.size + inHttp2.size > 0 && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 10))
      for (const connection of [...connections, ...inHttp2]) connection.destroy()
    },
  }
}

/** Ends clients that take nothing, slow ones, and those that owe more of a body, where there are too many of them. */
function endSurplus(connections: Iterable<ClientConnection>, now: number): void {
  endThose(connections, MOST_STALLED, ({ stalled }) => sinceLong(stalled, now))
  endThose(connections, MOST_SLOW, (connection) => connection.slow(now))
  endThose(connections, MOST_OWING, ({ owing }) => sinceLong(owing, now))
}

const sinceLong = (found: Stalled | undefined, now: number): Stalled | undefined =>
  found === undefined || now - found.since < STALLED_MS ? undefined : found

/** @param find undefined for a connection that is none of them */
function endThose<One extends { destroy(): void }>(
  connections: Iterable<One>,
  most: number,
  find: (connection: One) => Stalled | undefined,
): void {
  const found = [...connections].flatMap((connection) => {
    const one = find(connection)
    return one === undefined ? [] : [{ ...one, connection }]
  })
  for (const { connection } of surplus(found, most)) connection.destroy()
}

/** An accepted connection before the end of its handshake. */
interface Handshake {
  readonly socket: Socket
  readonly admission: Admission
  readonly since: number
}

/** The same text for both ends of a connection: the accepted socket, and the TLS socket around it. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
