/** Where the frames of a watch go: a chunked response, or a WebSocket. */
import { StatusError } from '../api/status.ts'

export interface WatchSink {
  readonly response: Response
  /** Several events may go in one send. */
  readonly takesLines: boolean
  /** Resolves when the client took it; rejects when the client is gone. */
  send(frame: Uint8Array): Promise<void>
  /** Something that means nothing to a client, by which a dead connection is noticed. */
  heartbeat(): void
  close(): void
  onGone(work: () => void): void
}

const NEWLINE = new Uint8Array([10])

export function streamSink(headers: Headers, isText: boolean): WatchSink {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  let gone: () => void = () => {}
  writer.closed.catch(() => gone())
  return {
    response: new Response(readable, { headers, encodeBody: 'manual' }),
    takesLines: true,
    send: (frame) => writer.write(frame),
    heartbeat() {
      if (isText) writer.write(NEWLINE).catch(() => gone())
    },
    close() {
      writer.close().catch(() => {})
    },
    onGone(work) {
      gone = work
    },
  }
}

/**
 * One event a message. The handshake is checked as the reference does: an Origin that is an absolute URL, version 13,
 * at most one sub-protocol, which is echoed whatever it is.
 */
export function socketSink(request: Request, isText: boolean): WatchSink | Response {
  const refused = refuseHandshake(request.headers)
  if (refused !== undefined) return refused
  const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
  server.accept()
  const protocol = request.headers.get('Sec-WebSocket-Protocol')
  const headers = new Headers(protocol === null ? {} : { 'Sec-WebSocket-Protocol': protocol })
  const decoder = new TextDecoder()
  return {
    response: new Response(null, { status: 101, webSocket: client, headers }),
    takesLines: false,
    async send(frame) {
      server.send(isText ? decoder.decode(frame) : frame)
    },
    heartbeat() {},
    close() {
      server.close(1000)
    },
    onGone(work) {
      server.addEventListener('close', work)
      server.addEventListener('error', work)
    },
  }
}

export const wantsSocket = ({ headers }: Request): boolean =>
  headers.get('Upgrade')?.toLowerCase() === 'websocket' &&
  (headers.get('Connection') ?? 'upgrade').toLowerCase().includes('upgrade')

function refuseHandshake(headers: Headers): Response | undefined {
  if (headers.get('Sec-WebSocket-Version') !== '13')
    throw new StatusError(400, 'BadRequest', 'missing or bad WebSocket Version')
  if (!URL.canParse(headers.get('Origin') ?? '')) return new Response(null, { status: 403 })
  if (headers.get('Sec-WebSocket-Protocol')?.includes(',')) return new Response(null, { status: 400 })
  return undefined
}
