/**
 * /portForward in two forms: SPDY inside a WebSocket (KEP-4006, kubectl since 1.31), where each connection has a data
 * stream and an error stream; or two channels of a WebSocket for each port (v4.channel.k8s.io, also in base64).
 */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import { goQuote } from '../../../go/quote.ts'
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import { takeStreamPlace, takeUnreadRoom } from '../../../flowcontrol/open-watches.ts'
import type { Place } from '../../../base/fair-places.ts'
import type { ApiRequest } from '../../../request/context.ts'
import type { Headers } from '../../../spdy/header-blocks.ts'
import type { Listener, ServerStream, StreamEvents } from '../../../spdy/server-connection.ts'
import { SpdyServerConnection } from '../../../spdy/server-connection.ts'
import type { ChannelCodec } from './channels.ts'
import { codecOf } from './channels.ts'
import { followPod } from './follow-pod.ts'
import type { Asked } from './kubelet.ts'
import { answer } from './plain-answer.ts'
import { SimulatedPort, listenerOf, refusalOf } from './simulated-port.ts'
import { acceptSocket, protocolsOf } from './socket.ts'

const TUNNEL = 'SPDY/3.1+portforward.k8s.io'
const CHANNELS: ReadonlySet<string> = new Set(['', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'])
/** The most ports of a WebSocket with channels, whose numbers are bytes. */
const MOST_PORTS = 64

const NORMAL = 1000
const UNFIT = 1002
const TRY_AGAIN = 1013

/** @throws StatusError 429 where too many listen */
export function portForward({ request, call, query, pod }: Asked): ExchangeAnswer | Upgraded {
  const isTunnel = protocolsOf(call).includes(TUNNEL) // few: the header of one request
  // with SPDY each stream names its port
  const ports = isTunnel ? [] : portsOf(query)
  if (typeof ports === 'string') return answer(400, ports)
  if (!canForward(pod)) return answer(404, 'pod does not exist')
  const accepted = acceptSocket(call, CHANNELS, TUNNEL)
  if ('refused' in accepted) return accepted.refused
  const { socket, protocol } = accepted
  let isOver = false
  let receiver: Receiver | undefined
  const followed = followPod(
    request,
    pod,
    (now) => !canForward(now),
    () => receiver?.renew?.(),
  )
  const gone = (): void => {
    isOver = true
    followed.stop()
    receiver?.close()
  }
  const end = (code: number): void => {
    gone()
    try {
      socket.close(code)
    } catch {
      // the client has gone
    }
  }
  const send = (message: Uint8Array | string): void => {
    try {
      if (!isOver) socket.send(message)
    } catch {
      // the client has gone
    }
  }
  receiver =
    protocol === TUNNEL ? tunnelOf(request, pod, send, end) : channelsOf(pod, ports, codecOf(protocol), send, end)
  void followed.ended.then(
    () => end(NORMAL),
    () => end(TRY_AGAIN),
  )
  socket.addEventListener('message', ({ data }) => {
    // a client may go on sending when its connection was closed
    if (!isOver) receiver?.receive(data as string | ArrayBuffer) // binaryType is arraybuffer
  })
  socket.addEventListener('close', gone)
  socket.addEventListener('error', gone)
  return accepted.answer
}

const canForward = ({ status }: Pod): boolean => status?.podIP !== undefined && status.phase === 'Running'

interface Receiver {
  receive(message: string | ArrayBuffer): void
  /** The client is still there. */
  renew?(): void
  close(): void
}

function tunnelOf(
  request: ApiRequest,
  pod: KubeObject & Pod,
  send: (bytes: Uint8Array) => void,
  end: (code: number) => void,
): Receiver {
  const ports = new ForwardedPorts(pod, () => {
    const place = takeStreamPlace(request)
    if (place !== undefined) place.onEnd = () => end(TRY_AGAIN)
    return place
  })
  const connection = new SpdyServerConnection(send, ports)
  return {
    receive(message) {
      if (typeof message === 'string') return end(UNFIT)
      const room = takeUnreadRoom(request, Math.max(1, message.byteLength))
      if (room === undefined) return end(TRY_AGAIN)
      room.onEnd = () => end(TRY_AGAIN)
      void connection
        .receive(new Uint8Array(message))
        .catch(() => end(UNFIT))
        .finally(() => room.leave())
    },
    renew: () => ports.renew(),
    close: () => connection.close(),
  }
}

const STREAM_TYPE = 'streamtype'
const PORT = 'port'
const REQUEST_ID = 'requestid'

/** A port of 1 to 65535. */
const portOf = (text: string | undefined): number | undefined =>
  /^\d{1,5}$/.test(text ?? '') && Number(text) > 0 && Number(text) < 65_536 ? Number(text) : undefined

/** The ports in the query, or a kubelet's error for them. */
function portsOf(query: URLSearchParams): readonly number[] | string {
  const texts = query.getAll('port')
  if (texts.length === 0) return 'query parameter "port" is required'
  if (texts.includes('')) return 'query parameter "port" cannot be empty' // few: the ports of one request
  const ports: number[] = []
  for (const text of texts.flatMap((some) => some.split(','))) {
    const port = portOf(text)
    if (port === undefined) return `unable to parse ${goQuote(text)} as a port`
    ports.push(port)
  }
  return ports.length > MOST_PORTS ? `simulated nodes forward at most ${MOST_PORTS} ports of one WebSocket` : ports
}

interface Pair {
  error?: ServerStream
  data?: ServerStream
  /** Of the data. */
  port?: number
  connection?: SimulatedPort
}

/** What the headers of a stream say. */
interface Asking {
  readonly type: 'data' | 'error'
  readonly port: number
  /** Undefined: the client sends none. */
  readonly id: string | undefined
}

/** The two streams of a connection have the same request id, which the client chooses. */
class ForwardedPorts implements Listener {
  /** Connections of which only one stream is open. Bound: streams of a connection. */
  private readonly halves = new Map<string, Pair>()
  /** Bound: streams of a connection. */
  private readonly places = new Set<Place>()

  /** @param takePlace a place of a stream; undefined where there is none */
  constructor(
    private readonly pod: KubeObject & Pod,
    private readonly takePlace: () => Place | undefined,
  ) {}

  renew(): void {
    for (const place of this.places) place.renew()
  }

  accept(headers: Headers): ((stream: ServerStream) => StreamEvents) | undefined {
    const type = headers.get(STREAM_TYPE)
    const port = portOf(headers.get(PORT))
    if ((type !== 'error' && type !== 'data') || port === undefined) return undefined
    const id = headers.get(REQUEST_ID)
    const place = this.takePlace()
    if (place === undefined) return undefined
    this.places.add(place)
    return (stream) => this.opened(stream, { type, port, id }, place)
  }

  private opened(stream: ServerStream, { type, port, id: named }: Asking, place: Place): StreamEvents {
    // clients that send no request id open the error stream first
    const id = named ?? `stream ${type === 'data' ? stream.id - 2 : stream.id}`
    const pair = this.halves.get(id) ?? {}
    this.halves.set(id, pair)
    pair[type] = stream
    if (type === 'data') pair.port = port
    if (pair.data !== undefined && pair.error !== undefined) {
      this.halves.delete(id)
      connect(this.pod, pair, pair.data, pair.error)
    }
    const stop = (): void => {
      if (this.halves.get(id) === pair) this.halves.delete(id)
      pair.connection?.stop()
    }
    const gone = (): void => {
      place.leave()
      this.places.delete(place)
    }
    if (type === 'error') return { data() {}, ended() {}, reset: stop, gone }
    return { data: (bytes) => pair.connection?.data(bytes), ended: () => pair.connection?.ended(), reset: stop, gone }
  }
}

function connect(pod: Pod, pair: Pair, data: ServerStream, error: ServerStream): void {
  const { port = 0 } = pair
  const listener = listenerOf(pod, port)
  if (listener === undefined) {
    error.send(new TextEncoder().encode(refusalOf(pod, port)), true)
    return data.reset()
  }
  pair.connection = new SimulatedPort(listener, port, (bytes) => {
    data.send(bytes, true)
    error.send(new Uint8Array(0), true)
  })
}

/** Each port has a channel for data, and the next channel for errors. */
function channelsOf(
  pod: Pod,
  ports: readonly number[],
  codec: ChannelCodec,
  send: (message: Uint8Array | string) => void,
  close: (code: number) => void,
): Receiver {
  let left = ports.length
  const say = (channel: number, bytes: Uint8Array): void => send(codec.written(channel, bytes))
  const ended = (): void => {
    left--
    if (left === 0) close(NORMAL)
  }
  const connections = ports.map((port, index) => {
    const [data, error] = [2 * index, 2 * index + 1]
    // both channels first send the port, lower byte first
    for (const channel of [data, error]) say(channel, new Uint8Array([port & 0xff, port >>> 8]))
    const listener = listenerOf(pod, port)
    if (listener !== undefined)
      return new SimulatedPort(listener, port, (bytes) => {
        say(data, bytes)
        ended()
      })
    say(error, new TextEncoder().encode(refusalOf(pod, port)))
    ended()
    return undefined
  })
  return {
    receive(message) {
      const { channel, data } = codec.read(message) ?? {}
      if (channel !== undefined && data !== undefined && channel % 2 === 0) connections[channel / 2]?.data(data)
    },
    close() {
      for (const connection of connections) connection?.stop()
    },
  }
}
