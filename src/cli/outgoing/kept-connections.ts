// Connections to other servers, nearly all of TLS, kept for later calls. A connection carries one call at a time (HTTP/1.1).
import type { OnReadOpts, Socket } from 'node:net'
import { connect as connectPlain, isIP } from 'node:net'
import { connect, TLSSocket } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { BUSY } from '../../webhooks/failure-text.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { arriving } from '../front/arriving.ts'
import type { Ending } from './call-ending.ts'
import { OutgoingAnswer } from './answer.ts'
import { goTrust } from './go-trust.ts'
import type { ReadAnswer } from './answer.ts'

/** The server of a connection, and everything else that distinguishes connections. */
interface Where {
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Without TLS. */
  readonly isPlain?: boolean
  /** The name that the certificate must have; absent: the host. */
  readonly serverName?: string | undefined
  /** PEM. */
  readonly caBundle?: string | undefined
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined
}

/** Made once and used for many calls. */
export interface Place extends Where {
  /** Equal keys mean equal places. */
  readonly key: string
}

export function placeOf(where: Where): Place {
  const { host, port, isPlain = false, serverName = '', caBundle = '', clientCertificate } = where
  const { certificate = '', key = '' } = clientCertificate ?? {}
  return { ...where, key: [host, port, isPlain, serverName, caBundle, certificate, key].join('\0') }
}

/** The most connections to one place. Calls wait for them, because a handshake costs more than a call. */
export const MAX_CONNECTIONS = 128
/** The most calls that wait for one place. Further calls are refused. */
export const MAX_WAITING = 1024
const IDLE_MS = 30_000

export interface ReadingRules {
  /** Octets of the body as it is sent. */
  readonly most: number
  /** Is told how many of them are here. */
  readonly arrived?: (octets: number) => void
}

/** A reused connection was closed before the answer began. */
export class StaleConnection extends Error {}

export class KeptConnections {
  /** By everything that distinguishes connections. Bound: a pool goes with its last connection. */
  readonly #pools = new Map<string, Pool>()
  readonly #sweep = setInterval(() => {
    for (const pool of this.#pools.values()) pool.sweep()
  }, IDLE_MS / 3).unref()

  /** @throws StaleConnection, CallFailed, errors of Node */
  async call(
    place: Place,
    message: Buffer,
    { most, arrived }: ReadingRules,
    ending: Ending,
    isNew = false,
  ): Promise<ReadAnswer> {
    const pool = this.#poolOf(place)
    const connection = await pool.take(ending, isNew)
    try {
      return await connection.call(message, new OutgoingAnswer(most, arrived), ending)
    } finally {
      pool.giveBack(connection)
    }
  }

  close(): void {
    clearInterval(this.#sweep)
    for (const pool of this.#pools.values()) pool.close()
  }

  #poolOf(place: Place): Pool {
    const { key } = place
    let pool = this.#pools.get(key)
    if (pool === undefined) this.#pools.set(key, (pool = new Pool(dialerOf(place), () => void this.#pools.delete(key))))
    return pool
  }
}

type Dial = (onread: OnReadOpts) => Socket

/** @throws Node's error for a bundle or key that it cannot read */
function dialerOf(place: Place): Dial {
  if (place.isPlain === true) return (onread) => connectPlain({ host: place.host, port: place.port, onread })
  const options = optionsFor(place)
  return (onread) => {
    // TLS passes it on to the socket
    const whole: ConnectionOptions & { onread: OnReadOpts } = { ...options, onread }
    return connect(whole)
  }
}

function optionsFor({ host, port, serverName, caBundle, clientCertificate }: Place): ConnectionOptions {
  return {
    host,
    port,
    servername: serverName ?? (isIP(host) === 0 ? host : ''),
    ALPNProtocols: ['http/1.1'],
    ...goTrust,
    ...(caBundle === undefined ? {} : { ca: caBundle }),
    ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
  }
}

class Pool {
  readonly #dialer: Dial
  readonly #onEmpty: () => void
  /** The connection that was used last is used next. Bound: MAX_CONNECTIONS, each for IDLE_MS. */
  readonly #idle: Connection[] = []
  /** Connections that exist or are being made. */
  #count = 0
  /** Calls that wait. Bound: MAX_WAITING, and one for each connection, whose call lost its turn. */
  readonly #waiting = new Set<() => void>()

  constructor(dialer: Dial, onEmpty: () => void) {
    this.#dialer = dialer
    this.#onEmpty = onEmpty
  }

  /**
   * @param isNew takes a new connection although idle ones may exist
   * @throws errors of Node, an error with the code BUSY
   */
  async take(ending: Ending, isNew: boolean): Promise<Connection> {
    // the other side may have closed all idle connections
    if (isNew) this.#idle.pop()?.destroy()
    let hasWaited = false
    for (;;) {
      const kept = isNew ? undefined : this.#idle.pop()
      if (kept?.isUsable) return kept
      kept?.destroy()
      if (kept === undefined && this.#count < MAX_CONNECTIONS) return this.#dial(ending)
      if (kept !== undefined) continue
      if (!hasWaited && this.#waiting.size >= MAX_WAITING) throw busy()
      await this.#turn(ending)
      hasWaited = true
    }
  }

  giveBack(connection: Connection): void {
    if (connection.isUsable) this.#idle.push(connection)
    else connection.destroy()
    this.#next()
  }

  sweep(): void {
    for (const connection of [...this.#idle]) if (!connection.isUsable) connection.destroy()
  }

  close(): void {
    for (const connection of [...this.#idle]) connection.destroy()
  }

  #dial(ending: Ending): Promise<Connection> {
    let read = (_data: Buffer): void => {}
    const socket = this.#connect((data) => read(data))
    this.#count++
    return new Promise((resolve, reject) => {
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => resolve(connection))
      const connection = new Connection(socket, (error) => {
        this.#forget(connection)
        reject(error)
      })
      read = (data) => connection.read(data)
      ending.during(() => connection.destroy())
    })
  }

  /**
   * @param read receives a copy of the bytes
   * @throws Node's error for a bundle or key that it cannot read
   */
  #connect(read: (data: Buffer) => void): Socket {
    const callback = (length: number): boolean => {
      read(Buffer.from(arriving.subarray(0, length)))
      return true
    }
    try {
      // with this, arriving bytes cause no stream event and no allocation
      return this.#dialer({ buffer: arriving, callback })
    } catch (error) {
      this.#leaveIfEmpty()
      throw error
    }
  }

  #forget(connection: Connection): void {
    this.#count--
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#next()
    this.#leaveIfEmpty()
  }

  #leaveIfEmpty(): void {
    if (this.#count === 0 && this.#waiting.size === 0) this.#onEmpty()
  }

  #next(): void {
    for (const go of this.#waiting) return go()
  }

  /** Ends as BUSY where the call's time is over before its turn: nobody was called. */
  #turn(ending: Ending): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        this.#waiting.delete(go)
        resolve()
      }
      this.#waiting.add(go)
      ending.during(() => {
        this.#waiting.delete(go)
        reject(busy())
      })
    })
  }
}

const busy = (): Error => Object.assign(new Error(BUSY), { code: BUSY })

const closedError = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

interface Call {
  readonly answer: OutgoingAnswer
  resolve(answer: ReadAnswer): void
  reject(error: unknown): void
}

class Connection {
  readonly #socket: Socket
  #call: Call | undefined
  #wasUsed = false
  /** When the connection has been idle for too long. */
  #until = Infinity

  /** @param onClosed is called once */
  constructor(socket: Socket, onClosed: (error: Error) => void) {
    this.#socket = socket
    let failure: Error | undefined
    socket.setNoDelay(true)
    socket.on('end', () => this.#ended())
    socket.on('error', (error) => (failure = error))
    socket.once('close', () => {
      const error = failure ?? closedError()
      this.#fail(error)
      onClosed(error)
    })
  }

  get isUsable(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && performance.now() < this.#until
  }

  call(message: Buffer, answer: OutgoingAnswer, ending: Ending): Promise<ReadAnswer> {
    return new Promise((resolve, reject) => {
      this.#call = { answer, resolve, reject }
      ending.during(() => this.destroy())
      this.#socket.write(message)
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  read(data: Buffer): void {
    // an answer without a call
    if (this.#call === undefined) return this.destroy()
    try {
      const answer = this.#call.answer.read(data)
      if (answer !== undefined) this.#done(answer)
    } catch (error) {
      this.#fail(error)
    }
  }

  #ended(): void {
    if (this.#call === undefined) return this.destroy()
    try {
      this.#done(this.#call.answer.end())
    } catch (error) {
      this.#fail(error)
    }
  }

  #done(answer: ReadAnswer): void {
    const { resolve } = this.#call!
    this.#call = undefined
    this.#wasUsed = true
    this.#until = performance.now() + Math.min(IDLE_MS, answer.keptMs ?? IDLE_MS)
    resolve(answer)
  }

  #fail(error: unknown): void {
    this.#until = 0
    this.destroy()
    const call = this.#call
    if (call === undefined) return
    this.#call = undefined
    call.reject(this.#isStale(call, error) ? new StaleConnection('stale', { cause: error }) : broken(call, error))
  }

  #isStale({ answer }: Call, error: unknown): boolean {
    const code = codeOf(error)
    return this.#wasUsed && !answer.hasBegun && (code === 'ECONNRESET' || code === 'EPIPE')
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** The error for an answer that broke off. */
const broken = ({ answer }: Call, error: unknown): unknown =>
  answer.hasBegun && codeOf(error) === 'ECONNRESET' ? new CallFailed('unexpected EOF') : error
