/**
 * The server's side of a SPDY connection: the client opens streams, both send data on them (SPDY/3.1, 2.3). A message
 * of the client may have a hundred thousand frames, so other requests run between them.
 */
import { turnOfHeavy } from '../base/slices.ts'
import {
  CANCEL,
  FIN,
  FrameReader,
  GOAWAY,
  PING,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  RST_STREAM,
  SYN_STREAM,
  dataFrame,
  pingFrame,
  rstStream,
  synReply,
} from './frames.ts'
import type { Frame } from './frames.ts'
import type { Headers } from './header-blocks.ts'
import { HeaderReader, HeaderWriter } from './header-blocks.ts'
import { read32 } from './numbers.ts'
import { SpdyError } from './spdy-error.ts'

/** Streams that are open at a time: the next one is refused. */
const MOST_STREAMS = 512
/** Bytes that wait until those before them are read. */
const MOST_WAITING = 4_194_304

/** Frames of data that are read without a stop. */
const FRAMES = 256
/** Reading headers, or answering, takes as long as so many frames of data. */
const OF_CONTROL = 8

/** What becomes of a stream that the client opened. */
export interface StreamEvents {
  data(bytes: Uint8Array): void
  /** The client sends no more. */
  ended(): void
  /** Nobody listens any more. */
  reset(): void
  /** The stream is not there any more, however it ended. Called once, as the last one. */
  gone(): void
}

/** Who uses the streams. */
export interface Listener {
  /**
   * What serves the stream, when the client knows that it is accepted; undefined: the stream is refused. Headers may be
   * long, and a stream may be open for hours, so nobody keeps them.
   */
  accept(headers: Headers): ((stream: ServerStream) => StreamEvents) | undefined
}

interface Stream {
  /** Undefined while it is opened. */
  events?: StreamEvents
  readonly isOver: { client: boolean; server: boolean }
}

export class ServerStream {
  constructor(
    readonly id: number,
    private readonly connection: SpdyServerConnection,
  ) {}

  send(data: Uint8Array, isLast = false): void {
    this.connection.sendData(this.id, data, isLast)
  }

  reset(): void {
    this.connection.reset(this.id, CANCEL)
  }
}

export class SpdyServerConnection {
  private readonly frames = new FrameReader()
  private readonly headerReader = new HeaderReader()
  private readonly headerWriter = new HeaderWriter()
  /** By their numbers. Bound: MOST_STREAMS. */
  private readonly streams = new Map<number, Stream>()
  private lastId = 0
  private waiting = 0
  /** How many frames may be read before others have their turn. */
  private left = FRAMES
  private isClosed = false
  /** Settles: a connection belongs to one request. */
  private reading: Promise<void> = Promise.resolve()

  /**
   * @param send to the client
   * @param turn resolves when others had their turn
   */
  constructor(
    private readonly send: (bytes: Uint8Array) => void,
    private readonly listener: Listener,
    private readonly turn: () => Promise<void> = turnOfHeavy,
  ) {}

  /** Bytes of the client. Settles when they are read. @throws SpdyError: the connection is over */
  receive(bytes: Uint8Array): Promise<void> {
    this.waiting += bytes.length
    if (this.waiting > MOST_WAITING) return Promise.reject(new SpdyError('the client sends faster than is read'))
    this.reading = this.reading.then(async () => {
      for (const frame of this.frames.push(bytes)) {
        await this.pause(frame)
        if (this.isClosed) return
        await this.take(frame)
      }
      this.waiting -= bytes.length
    })
    return this.reading
  }

  private async pause(frame: Frame): Promise<void> {
    this.left -= frame.type === 'control' ? OF_CONTROL : 1
    if (this.left >= 0) return
    await this.turn()
    this.left = FRAMES
  }

  /** The client has gone. What waits is not read. */
  close(): void {
    this.isClosed = true
    const left = [...this.streams.values()]
    this.streams.clear()
    for (const { events } of left) {
      events?.reset()
      events?.gone()
    }
    this.headerReader.close()
  }

  sendData(id: number, data: Uint8Array, isLast: boolean): void {
    const stream = this.streams.get(id)
    if (stream === undefined || stream.isOver.server) return
    this.send(dataFrame(id, data, isLast))
    if (isLast) this.over(id, stream, 'server')
  }

  reset(id: number, status: number): void {
    if (!this.streams.has(id)) return
    this.remove(id)
    this.send(rstStream(id, status))
  }

  private async take(frame: Frame): Promise<void> {
    if (frame.type === 'data') return this.takeData(frame.stream, frame.data, frame.isLast)
    const { kind, flags, body } = frame
    if (kind === SYN_STREAM) return this.takeStream(flags, body)
    if (kind === RST_STREAM) return this.takeReset(numberAt(body, 0))
    // odd numbers are the client's questions
    if (kind === PING && numberAt(body, 0) % 2 === 1) this.send(pingFrame(numberAt(body, 0)))
    // no further stream is taken
    if (kind === GOAWAY) this.lastId = Number.POSITIVE_INFINITY
  }

  private takeData(id: number, data: Uint8Array, isLast: boolean): void {
    const stream = this.streams.get(id)
    if (stream === undefined || stream.isOver.client) return
    if (data.length > 0) stream.events?.data(data)
    if (!isLast) return
    stream.events?.ended()
    this.over(id, stream, 'client')
  }

  private takeReset(id: number): void {
    this.streams.get(id)?.events?.reset()
    this.remove(id)
  }

  private remove(id: number): void {
    const stream = this.streams.get(id)
    this.streams.delete(id)
    stream?.events?.gone()
  }

  private async takeStream(flags: number, body: Uint8Array): Promise<void> {
    const id = numberAt(body, 0)
    const headers = await this.headerReader.read(body.subarray(10))
    if (id % 2 === 0 || id <= this.lastId) return this.send(rstStream(id, PROTOCOL_ERROR))
    this.lastId = id
    const serve = this.streams.size >= MOST_STREAMS ? undefined : this.listener.accept(headers)
    if (serve === undefined) return this.send(rstStream(id, REFUSED_STREAM))
    const stream: Stream = { isOver: { client: false, server: false } }
    this.streams.set(id, stream)
    this.send(synReply(id, this.headerWriter.write(new Map())))
    const events = (stream.events = serve(new ServerStream(id, this)))
    // it was reset, or the connection closed, before there was anybody to tell
    if (this.streams.get(id) !== stream) {
      events.reset()
      return events.gone()
    }
    if ((flags & FIN) !== 0) this.takeData(id, new Uint8Array(0), true)
  }

  private over(id: number, { isOver }: Stream, side: 'client' | 'server'): void {
    isOver[side] = true
    if (isOver.client && isOver.server) this.remove(id)
  }
}

/** @throws SpdyError */
function numberAt(body: Uint8Array, at: number): number {
  if (body.length < at + 4) throw new SpdyError('a frame is too short')
  return read32(body, at) & 0x7fffffff
}
