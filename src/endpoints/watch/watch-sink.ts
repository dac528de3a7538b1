/** Where the events of a watch go: a chunked response, or a WebSocket. */
import { ClientGone } from '../../base/client-gone.ts'
import type { AnswerHeaders } from '../../codec/negotiation/compression.ts'
import type { RequestHeaders } from '../../request/request-headers.ts'

export interface WatchSink {
  readonly response: Response
  /** One send may contain several events. */
  readonly takesLines: boolean
  /** Resolves when the client has taken the frame; rejects when the client has gone. */
  send(frame: Uint8Array): Promise<void>
  /** Sends something that clients ignore, to notice a dead connection. */
  heartbeat(): void
  close(): void
  /** Breaks the connection of a client that is too slow. What it has not taken is dropped. */
  abort(): void
  onGone(work: () => void): void
  hasGone(): boolean
}

const NEWLINE = new Uint8Array([10])

/** Bytes that the stream may be ahead of the client before a send waits. */
const AHEAD_BYTES = 64 * 1024
/** The most unsent bytes of a WebSocket whose client does not read. A send to a WebSocket cannot be awaited. */
const MAX_UNSENT = 4 * 1024 * 1024
/** WebSocket close code. */
const TRY_AGAIN = 1013

/**
 * A ReadableStream of its own rather than a pipe: the engine cancels it as soon as the client disconnects, and a pipe
 * only at its next write.
 */
export function streamSink(headers: AnswerHeaders, isText: boolean): WatchSink {
  let gone: () => void = () => {}
  let ended = false
  let controller: ReadableStreamDefaultController<Uint8Array>
  let taken: (() => void) | undefined
  const wake = (): void => {
    taken?.()
    taken = undefined
  }
  const leave = (): void => {
    ended = true
    wake()
    gone()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own
      },
      pull: wake,
      cancel: leave,
    },
    { highWaterMark: AHEAD_BYTES, size: (chunk) => chunk?.length ?? 0 },
  )
  return {
    response: new Response(body, { headers, encodeBody: 'manual' }),
    takesLines: true,
    async send(frame) {
      if (ended) throw new ClientGone('the client is gone')
      controller.enqueue(frame)
      while (!ended && (controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => (taken = resolve))
    },
    heartbeat() {
      if (isText && !ended && (controller.desiredSize ?? 0) > 0) controller.enqueue(NEWLINE)
    },
    close() {
      if (ended) return
      ended = true
      wake()
      controller.close()
    },
    abort() {
      if (ended) return
      controller.error(new ClientGone('the client is too slow'))
      leave()
    },
    onGone(work) {
      gone = work
    },
    hasGone: () => ended,
  }
}

/**
 * One message for each event. The handshake is checked as in kube-apiserver: an Origin that is an absolute URL,
 * version 13, and at most one sub-protocol, which is echoed whatever it is.
 */
export function socketSink(asked: RequestHeaders, isText: boolean): WatchSink | Response {
  const refused = refuseHandshake(asked)
  if (refused !== undefined) return refused
  const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket]
  server.accept()
  const protocol = asked.get('Sec-WebSocket-Protocol')
  const headers = new Headers(protocol === null ? {} : { 'Sec-WebSocket-Protocol': protocol })
  const decoder = new TextDecoder()
  return {
    response: new Response(null, { status: 101, webSocket: client, headers }),
    takesLines: false,
    async send(frame) {
      if (server.bufferedAmount > MAX_UNSENT) {
        server.close(TRY_AGAIN, 'too slow')
        throw new ClientGone('the client is too slow')
      }
      const message = isText ? decoder.decode(frame) : frame
      try {
        server.send(message)
      } catch {
        throw new ClientGone('the client is gone')
      }
    },
    heartbeat() {},
    close() {
      server.close(1000)
    },
    abort() {
      server.close(TRY_AGAIN, 'too slow')
    },
    onGone(work) {
      server.addEventListener('close', work)
      server.addEventListener('error', work)
    },
    hasGone: () => server.readyState !== WebSocket.READY_STATE_OPEN,
  }
}

function refuseHandshake(headers: RequestHeaders): Response | undefined {
  if (headers.get('Sec-WebSocket-Version') !== '13')
    return new Response('missing or bad WebSocket Version', {
      status: 400,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Sec-WebSocket-Version': '13' },
    })
  if (!URL.canParse(headers.get('Origin') ?? '')) return new Response(null, { status: 403 })
  if (headers.get('Sec-WebSocket-Protocol')?.includes(',')) return new Response(null, { status: 400 })
  return undefined
}
