// Translates clients' WebSockets for kubelets that speak only SPDY, as kube-apiserver does (KEP 4006). For exec and
// attach the channels of v5.channel.k8s.io become SPDY streams. For port-forward the messages contain the octets of
// SPDY unchanged.
import { Duplex } from 'node:stream'
import type { WebSocketTranslation } from '../../outgoing/exchange.ts'
import { FrameReader, GOAWAY, PING, RST_STREAM, dataFrame, pingFrame, synStream } from '../../spdy/frames.ts'
import { HeaderWriter } from '../../spdy/header-blocks.ts'
import { read32 } from '../../spdy/numbers.ts'
import { WebSocketReader, acceptOf, closing, messageOf, pongOf } from './websocket-frames.ts'

/** The outputs to both sides. */
interface Ends {
  toClient(message: Buffer): void
  toNode(octets: Uint8Array): void
  /** Ends both: the client gets the status, and the node's connection closes. */
  done(): void
}

interface Translation {
  fromClient(part: Buffer, begins: boolean): void
  fromNode(data: Buffer): void
  /** The node has ended its side. */
  nodeEnded(): void
}

/** The head that accepts the client's WebSocket. */
export function handshake({ key }: WebSocketTranslation, protocol: string): Buffer {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
    ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** The most octets that the node has not taken: answers to its pings wait, too. */
const MOST_UNSENT = 4 << 20

/** The node's connection, to be joined with the client's. What is read and written here are a WebSocket's frames. */
export class WebSocketStream extends Duplex {
  readonly #node: Duplex
  readonly #translation: Translation
  readonly #reader: WebSocketReader
  #isDone = false
  /** The client has yet to take what was said to it. */
  #isFull = false
  /** The last ping meanwhile. It alone needs an answer (RFC 6455, 5.5.3). */
  #ping: Buffer | undefined

  /** @param ahead the node's bytes behind its head */
  constructor(node: Duplex, ahead: Buffer, { streams }: WebSocketTranslation) {
    super()
    this.#node = node
    const ends: Ends = {
      toClient: (message) => this.#push(messageOf(message)),
      toNode: (octets) => this.#write(octets),
      done: () => this.#done(),
    }
    this.#translation = streams === undefined ? tunnel(ends) : new Channels(ends, streams)
    this.#reader = new WebSocketReader({
      onPart: (part, begins) => this.#translation.fromClient(part, begins),
      onPing: (payload) => {
        if (this.#isFull) this.#ping = payload
        else this.#push(pongOf(payload))
      },
      onClose: () => this.#done(),
    })
    node.on('data', (data: Buffer) => this.#attempt(() => this.#translation.fromNode(data)))
    node.on('end', () => this.#attempt(() => this.#translation.nodeEnded()))
    node.on('error', () => {}) // 'close' follows
    node.on('close', () => this.#attempt(() => this.#translation.nodeEnded()))
    if (ahead.length > 0) this.#attempt(() => this.#translation.fromNode(ahead))
  }

  override _write(data: Buffer, _encoding: BufferEncoding, written: () => void): void {
    this.#attempt(() => this.#reader.read(data))
    if (!this.#node.writableNeedDrain || this.#isDone) return written()
    const go = (): void => {
      this.#node.off('drain', go).off('close', go)
      written()
    }
    this.#node.on('drain', go).on('close', go)
  }

  override _read(): void {
    this.#isFull = false
    const ping = this.#ping
    this.#ping = undefined
    if (ping !== undefined) this.#push(pongOf(ping))
    if (!this.#isFull) this.#node.resume()
  }

  override _final(ended: () => void): void {
    this.#node.destroy()
    ended()
  }

  override _destroy(error: Error | null, destroyed: (error: Error | null) => void): void {
    this.#node.destroy()
    destroyed(error)
  }

  #push(frame: Buffer): void {
    if (this.#isDone || this.push(frame)) return
    this.#isFull = true
    this.#node.pause()
  }

  #write(octets: Uint8Array): void {
    this.#node.write(octets)
    if (this.#node.writableLength > MOST_UNSENT) this.destroy()
  }

  #done(): void {
    if (this.#isDone) return
    this.#push(closing())
    this.#isDone = true
    this.push(null)
    this.#node.destroy()
  }

  /** Invalid frames end both connections. */
  #attempt(step: () => void): void {
    try {
      if (!this.#isDone) step()
    } catch {
      this.destroy()
    }
  }
}

const tunnel = ({ toClient, toNode, done }: Ends): Translation => ({
  fromClient: toNode,
  fromNode: toClient,
  nodeEnded: done,
})

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const ERROR = 3
const RESIZE = 4
const CLOSE = 255
/** The most octets of a Status. A longer one is cut, and is then no valid Status. */
const MAX_STATUS = 64 << 10

/** v5.channel.k8s.io: the first octet of a message is the channel's number. */
class Channels implements Translation {
  readonly #ends: Ends
  readonly #frames = new FrameReader()
  readonly #headers = new HeaderWriter()
  /** Streams of SPDY by channel, and back. Bound: five channels. */
  readonly #streams = new Map<number, number>()
  /** Bound: five channels. */
  readonly #channels = new Map<number, number>()
  /** Streams that the node has not ended. Bound: five channels. */
  readonly #open = new Set<number>()
  /** None is empty. Bound: MAX_STATUS, an octet each. */
  readonly #status: Buffer[] = []
  #statusLength = 0
  /** The channel of the message that is being read. */
  #channel: number | undefined

  constructor(ends: Ends, { stdin, stdout, stderr, tty }: NonNullable<WebSocketTranslation['streams']>) {
    this.#ends = ends
    const hasStderr = stderr && !tty
    this.#openStream(ERROR, 'error')
    if (stdin) this.#openStream(STDIN, 'stdin')
    if (stdout) this.#openStream(STDOUT, 'stdout')
    if (hasStderr) this.#openStream(STDERR, 'stderr')
    if (tty) this.#openStream(RESIZE, 'resize')
    for (const channel of [ERROR, ...(stdout ? [STDOUT] : []), ...(hasStderr ? [STDERR] : [])]) this.#open.add(channel)
    // kube-apiserver sends an empty message when the connection stands
    ends.toClient(Buffer.from([stdout ? STDOUT : hasStderr ? STDERR : ERROR]))
  }

  fromClient(part: Buffer, begins: boolean): void {
    if (begins) this.#channel = part[0]
    const data = begins ? part.subarray(1) : part
    if (this.#channel === CLOSE) return this.#close(data[0])
    if (this.#channel !== STDIN && this.#channel !== RESIZE) return
    const id = this.#streams.get(this.#channel)
    if (id !== undefined && data.length > 0) this.#send(id, data, false)
  }

  fromNode(data: Buffer): void {
    for (const frame of this.#frames.push(data))
      if (frame.type === 'data') this.#fromStream(frame.stream, frame.data, frame.isLast)
      else if (frame.body.length >= 4) this.#control(frame.kind, read32(frame.body, 0))
  }

  nodeEnded(): void {
    const status = this.#statusLength > 0 ? Buffer.concat(this.#status) : LOST
    this.#ends.toClient(Buffer.concat([Buffer.from([ERROR]), status]))
    this.#ends.done()
  }

  #openStream(channel: number, streamType: string): void {
    const id = 2 * this.#streams.size + 1
    this.#streams.set(channel, id)
    this.#channels.set(id, channel)
    this.#ends.toNode(synStream(id, this.#headers.write(new Map([['streamtype', streamType]]))))
  }

  #control(kind: number, first: number): void {
    if (kind === PING) this.#ends.toNode(pingFrame(first))
    else if (kind === GOAWAY) this.nodeEnded()
    // a stream that is reset before its end has ended without success
    else if (kind === RST_STREAM) this.#ended(this.#channels.get(first))
  }

  #send(id: number, data: Buffer, isLast: boolean): void {
    this.#ends.toNode(dataFrame(id, data, isLast))
  }

  #close(channel: number | undefined): void {
    const id = channel === STDIN ? this.#streams.get(channel) : undefined
    if (id === undefined) return
    this.#streams.delete(STDIN)
    this.#send(id, Buffer.alloc(0), true)
  }

  #fromStream(id: number, data: Uint8Array, isLast: boolean): void {
    const channel = this.#channels.get(id)
    if (channel === ERROR) {
      this.#statusLength += data.length
      // a frame without data is no end of them
      if (data.length > 0 && this.#statusLength <= MAX_STATUS) this.#status.push(Buffer.from(data))
    } else if ((channel === STDOUT || channel === STDERR) && data.length > 0)
      this.#ends.toClient(Buffer.concat([Buffer.from([channel]), data]))
    if (!isLast) return
    // no Status means success
    if (channel === ERROR && this.#statusLength === 0) this.#statusLength = this.#status.push(SUCCESS)
    this.#ended(channel)
  }

  /** The status comes last, as in kube-apiserver. */
  #ended(channel: number | undefined): void {
    if (channel === undefined || !this.#open.delete(channel) || this.#open.size > 0) return
    this.nodeEnded()
  }
}

const SUCCESS = Buffer.from('{"metadata":{},"status":"Success"}')
const LOST = Buffer.from(
  JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: 'Internal error occurred: the connection to the node was lost',
    reason: 'InternalError',
    code: 500,
  }),
)
