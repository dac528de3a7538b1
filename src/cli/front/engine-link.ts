// The connection to the engine for one client's connection. It is opened for the first request, after an idle time,
// and where the next request needs the engine's other socket.
import type { KeyObject } from 'node:crypto'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { arriving, copied } from './arriving.ts'
import type { Begun, EngineRoom } from './engine-room.ts'

export interface EngineAddress {
  /** Path of the socket for requests without a statement. */
  readonly socket: string
  /** Path of the socket where each request comes with a statement of the front. */
  readonly attestedSocket: string
  /** The key of this engine for statements. */
  readonly key: KeyObject
  /** Its descriptors. Without it there is no limit. */
  readonly room?: EngineRoom
}

export interface EngineEvents {
  /** @param done is called when `data` is no longer in use, or never */
  onData(data: Buffer, done?: () => void): void
  /** There is room again after `send` has returned false. */
  onDrain(): void
  /** The engine closed the connection, for any reason. */
  onClosed(): void
  onUnreachable(): void
}

/** workerd closes a connection after 15 s without a request, so an older one is not used again. */
export const REUSE_MS = 12_000
const WAIT_MS = 10_000
const RETRY_MS = 20

export class EngineLink {
  readonly #engine: () => Promise<EngineAddress>
  readonly #events: EngineEvents
  #socket: Socket | undefined
  #isAttested = false
  #usedAt = 0
  /** Bytes to send as soon as the connection is made. The first one is made when the engine's socket is known. */
  #waiting: { head: (address: EngineAddress) => Buffer; more: Buffer[] } | undefined
  #isClosed = false

  constructor(engine: () => Promise<EngineAddress>, events: EngineEvents) {
    this.#engine = engine
    this.#events = events
  }

  get isConnecting(): boolean {
    return this.#waiting !== undefined
  }

  /**
   * Begins a request after the end of the one before.
   * @returns whether there is room for more
   */
  begin(head: (address: EngineAddress) => Buffer, isAttested: boolean): boolean {
    const mayReuse = this.#isAttested === isAttested && performance.now() - this.#usedAt <= REUSE_MS
    if (!mayReuse) this.#drop()
    this.#isAttested = isAttested
    if (this.#socket !== undefined && this.#address !== undefined) return this.send(head(this.#address))
    this.#waiting = { head, more: [] }
    this.#connect(performance.now() + WAIT_MS)
    return false
  }

  /** @returns whether there is room for more */
  send(data: Buffer): boolean {
    this.#usedAt = performance.now()
    if (this.#waiting !== undefined) {
      this.#waiting.more.push(data)
      return false
    }
    const socket = this.#socket
    // an engine that has answered already, or has gone, needs no more of the request
    if (socket === undefined || !socket.writable || socket.errored) return true
    return socket.write(data)
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = this.#address = this.#waiting = undefined
    this.#giveUp()
    socket?.destroy()
  }

  #address: EngineAddress | undefined
  /** Where the connection waits for room: it does not any more. */
  #giveUp = (): void => {}

  #connect(until: number): void {
    const failed = (): void => {
      if (this.#isClosed) return
      if (performance.now() < until) setTimeout(() => this.#connect(until), RETRY_MS)
      else this.#events.onUnreachable()
    }
    this.#engine().then((address) => {
      if (this.#isClosed) return // a client that has gone needs no connection
      const { room } = address
      if (room === undefined) return this.#open(address, failed)
      const tooLate = (): void => this.#events.onUnreachable()
      this.#giveUp = room.enter((begun) => this.#open(address, failed, begun), until - performance.now(), tooLate)
    }, failed)
  }

  #open(address: EngineAddress, failed: () => void, begun?: Begun): void {
    const path = this.#isAttested ? address.attestedSocket : address.socket
    const socket: Socket = connect({
      path,
      onread: {
        buffer: arriving,
        callback: (length) => {
          begun?.answered()
          return this.#read(socket, length)
        },
      },
    })
    const refused = (): void => {
      begun?.answered()
      failed()
    }
    socket.once('error', refused)
    socket.once('close', () => begun?.ended())
    socket.once('connect', () => {
      if (this.#isClosed) return void socket.destroy()
      socket.removeListener('error', refused)
      this.#use(socket, address)
    })
  }

  #read(socket: Socket, length: number): boolean {
    this.#usedAt = performance.now()
    if (this.#socket === socket) {
      const [data, done] = copied(length)
      this.#events.onData(data, done)
    }
    return true
  }

  #use(socket: Socket, address: EngineAddress): void {
    this.#socket = socket
    this.#address = address
    readOnAfterFailedWrite(socket)
    const closed = (): void => {
      if (this.#socket !== socket) return
      this.#drop()
      this.#events.onClosed()
    }
    socket.on('drain', () => this.#events.onDrain())
    socket.on('error', () => {}) // 'close' follows
    socket.on('end', closed)
    socket.on('close', closed)
    const { head, more } = this.#waiting!
    this.#waiting = undefined
    if (this.send(Buffer.concat([head(address), ...more]))) this.#events.onDrain()
  }
}

/**
 * An engine that answers before it has read the whole body closes the connection while this side still writes. On a
 * failed write Node destroys the socket at once, with the answer that waits in it. Here only the end of reading
 * destroys it.
 */
function readOnAfterFailedWrite(socket: Socket): void {
  const destroy = socket.destroy.bind(socket)
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    if (error?.syscall !== 'write') return destroy(error)
    // Node also marks the reading side, and has no public way to undo that; without such a mark nothing needs to be
    // undone
    const { _readableState: reading } = socket as Socket & { _readableState?: { errored: Error | null } }
    if (reading) reading.errored = null
    socket.read(0)
    return socket
  }
}
