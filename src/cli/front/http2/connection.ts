// A client's connection in HTTP/2 (RFC 9113). Each of its requests goes over a connection of HTTP/1.1 within the front
// (stream-socket.ts); requests that follow one another use the same one, and so does the engine's side of it.
import { constants, performServerHandshake } from 'node:http2'
import type { ServerHttp2Session, ServerHttp2Stream, ServerSessionOptions } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Deadlines } from '../client-connection.ts'
import { MalformedRequest } from '../http-framing.ts'
import type { Stalled } from '../stalled-clients.ts'
import { requestText } from './request-text.ts'
import type { StreamLine } from './stream-line.ts'
import { endStream, StreamSocket } from './stream-socket.ts'

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

/** kube-apiserver's, --http2-max-streams-per-connection. */
export const MOST_STREAMS = 100
/** Octets of a body that a client may send before the engine takes them; kube-apiserver's. */
const STREAM_WINDOW = 256 << 10
/** Octets of a request's header fields; kube-apiserver's limit, as in HTTP/1.1. */
const MAX_HEAD = 1 << 20
/** Header fields of a request. Each group of an impersonated user is one. */
const MAX_FIELDS = 2_000
/**
 * Characters that a head may have beside twice the octets of its frames. A head names fields of earlier ones, 4,096
 * octets of them (RFC 7541, section 4.2), and Huffman's code makes the others shorter by three eighths at most. Only who
 * names one field many times has more: a head of a megabyte in 300 octets.
 */
const NAMED_AGAIN = 16 << 10
/** Requests that a client may cancel at once, and in each second after that. */
const CANCELLED = { atOnce: 1_000, aSecond: 200 }
/**
 * MB that Node lets a session have; its most is 4,294. It never takes the data of cancelled answers from its count,
 * some 64 KiB of each, and beyond the limit it refuses all further requests. So a connection ends before that, and its
 * client opens another one.
 */
const MAX_MEMORY = 4_000
/** Answers that were cancelled. */
const MOST_CANCELLED = 10_000
/** A frame with its head (RFC 9113, section 6.7). */
const PING_OCTETS = 17
/** Milliseconds for the last frames. */
const LINGER_MS = 1_000

const optionsFor = (mostStreams: number): ServerSessionOptions => ({
  settings: {
    maxConcurrentStreams: mostStreams,
    initialWindowSize: STREAM_WINDOW,
    maxHeaderListSize: MAX_HEAD,
    enableConnectProtocol: false,
  },
  maxHeaderListPairs: MAX_FIELDS,
  maxSessionMemory: MAX_MEMORY,
  streamResetBurst: CANCELLED.atOnce,
  streamResetRate: CANCELLED.aSecond,
})

export class Http2Connection {
  readonly #socket: TLSSocket
  readonly #address: string
  readonly #session: ServerHttp2Session
  readonly #deadlines: Deadlines
  readonly #line: StreamLine
  readonly #open: (socket: StreamSocket) => boolean
  /** Bound: the streams of the connection. The last one was used last. */
  #free: StreamSocket[] = []
  #streams = 0
  #heads = { count: 0, length: 0 }
  #cancelled = 0
  #idleSince = performance.now()
  #hasServed = false
  /** Since when the client owes the answer to a PING. */
  #askedSince: number | undefined
  /** The octets that had come when the client last answered one, or at the beginning. */
  #heard = -1

  /**
   * @param line in which the requests of all connections wait to begin
   * @param open takes a connection of HTTP/1.1; false where there are too many
   * @param onClosed is called when the client's connection has ended
   */
  constructor(
    socket: TLSSocket,
    address: string,
    deadlines: Deadlines,
    mostStreams: number,
    line: StreamLine,
    open: (socket: StreamSocket) => boolean,
    onClosed: () => void,
  ) {
    this.#socket = socket
    this.#address = address
    this.#deadlines = deadlines
    this.#line = line
    this.#open = open
    const session = performServerHandshake(socket, optionsFor(mostStreams))
    this.#session = session
    session.on('stream', (stream, _headers, flags, fields) => this.#take(stream, flags, fields))
    session.on('error', () => {}) // 'close' follows
    session.on('close', () => {
      line.leave(this)
      for (const socket of this.#free) socket.destroy()
      onClosed()
    })
    // one stream whose body waits must not hold up those of others
    session.setLocalWindowSize(STREAM_WINDOW * mostStreams)
  }

  /** Accepts no further requests; ends once the pending ones are answered. */
  finish(): void {
    if (!this.#isOver) this.#session.close()
  }

  /** A session is destroyed a while before it says that it has closed. Most of its methods throw then. */
  get #isOver(): boolean {
    return this.#session.closed || this.#session.destroyed
  }

  destroy(): void {
    this.#session.destroy()
  }

  /** The client's address and since when it owes the answer to a PING; undefined where it owes none. */
  get silent(): Stalled | undefined {
    return this.#askedSince === undefined ? undefined : { address: this.#address, since: this.#askedSince }
  }

  /**
   * Sends a PING where something has come since the last answer. It may be a head without an end, which Node keeps, and
   * behind which nothing else can come.
   */
  ask(now: number): void {
    if (this.#askedSince !== undefined || this.#socket.bytesRead === this.#heard || this.#isOver) return
    const { bytesRead: before } = this.#socket
    const isSent = this.#session.ping(() => {
      const { bytesRead } = this.#socket
      this.#askedSince = undefined
      // more than the answer may be a head that began behind it
      if (bytesRead === before + PING_OCTETS) this.#heard = bytesRead
    })
    if (isSent) this.#askedSince = now
  }

  /** Ends the connection where the client asked for nothing for too long. */
  checkDeadline(now: number): void {
    if (this.#streams > 0 || this.#isOver) return
    if (now - this.#idleSince < (this.#hasServed ? this.#deadlines.idle : this.#deadlines.head)) return
    this.finish()
    setTimeout(() => this.destroy(), LINGER_MS).unref()
  }

  #take(stream: ServerHttp2Stream, flags: number, fields: readonly string[]): void {
    this.#streams++
    this.#hasServed = true
    stream.on('error', () => {}) // 'close' follows
    stream.once('close', () => {
      if (stream.rstCode !== NGHTTP2_NO_ERROR && ++this.#cancelled === MOST_CANCELLED) this.finish()
      this.#streams--
      this.#idleSince = performance.now()
    })
    const length = fields.reduce((sum, text) => sum + text.length, 0)
    if (this.#session.destroyed) return
    const heads = this.#heads
    heads.count++
    heads.length += length
    if (heads.length > 2 * this.#socket.bytesRead + heads.count * NAMED_AGAIN)
      return this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM)
    this.#line.join(this, stream, length, () => this.#serve(stream, flags, fields))
  }

  #serve(stream: ServerHttp2Stream, flags: number, fields: readonly string[]): void {
    try {
      const text = requestText(fields, (flags & NGHTTP2_FLAG_END_STREAM) !== 0)
      const socket = this.#next()
      if (socket === undefined) return stream.close(NGHTTP2_REFUSED_STREAM)
      socket.serve(stream, text)
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw error
      stream.respond({ ':status': error.status, 'content-type': 'text/plain; charset=utf-8' })
      stream.end(`${error.status}: ${error.message}`)
      endStream(stream, false, this.#deadlines.answer)
    }
  }

  /** The free connection that was used last, because the engine's side of it is still open; or a new one. */
  #next(): StreamSocket | undefined {
    for (let socket = this.#free.pop(); socket !== undefined; socket = this.#free.pop())
      if (socket.isFree) return socket
    const socket = new StreamSocket(this.#deadlines.answer, () => void this.#free.push(socket))
    socket.once('close', () => (this.#free = this.#free.filter((other) => other !== socket)))
    return this.#open(socket) ? socket : undefined
  }
}
