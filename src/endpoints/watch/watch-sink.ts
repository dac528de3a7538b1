/** Where the events of a watch go: a chunked response, or a WebSocket. */
import { ClientGone } from '../../base/client-gone.ts'
import { settledByOthers } from '../../base/settled-by-others.ts'
import type { AnswerHeaders } from '../../codec/negotiation/compression.ts'
import type { SocketPace } from '../../flowcontrol/socket-pace.ts'
import type { RequestHeaders } from '../../request/request-headers.ts'
import { ON_DEMAND } from '../../storage/streams/byte-chunks.ts'
import { LONG } from '../../storage/watch/watch-batch.ts'

export interface WatchSink {
  readonly response: Response
  /** One send may contain several events. */
  readonly takesLines: boolean
  /**
   * Resolves when the client has taken the frame; rejects when the client has gone.
   * @param onTaken is called when the client has taken a part of it
   */
  send(frame: Uint8Array, onTaken?: () => void): Promise<void>
  close(): void
  /** Breaks the connection of a client that is too slow. What it has not taken is dropped. */
  abort(): void
  onGone(work: () => void): void
  hasGone(): boolean
}

/** Bytes that the stream may be ahead of the engine before a send waits. */
const AHEAD_BYTES = 64 * 1024
/**
 * Bytes of a chunk. The engine takes some sixteen chunks ahead of the client, however long they are, and holds a copy of
 * each.
 */
const CHUNK_BYTES = 16 * 1024
/** WebSocket close code. */
const TRY_AGAIN = 1013

/**
 * A ReadableStream of its own rather than a pipe: the engine cancels it as soon as the client disconnects, and a pipe
 * only at its next write. Only events are written. Clients that read lines take an empty one for an event that they
 * cannot read, so nothing is sent to notice a dead connection: who accepts the connection finds that out.
 */
export function streamSink(headers: AnswerHeaders): WatchSink {
  let gone: () => void = () => {}
  let ended = false
  let controller: ReadableStreamDefaultController<Uint8Array>
  /** Bytes that the engine has not taken. */
  let ahead = 0
  let isSending = false
  /** Closes when what is being sent is sent: an event is sent as a whole. */
  let isClosing = false
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
      // the engine asks for more, because it has taken all that there was
      pull() {
        ahead = 0
        wake()
      },
      cancel: leave,
    },
    ON_DEMAND,
  )
  const untilTaken = async (): Promise<void> => {
    while (!ended && ahead > 0) {
      // another request may end this one
      const { promise, resolve } = settledByOthers<void>()
      taken = resolve
      await promise
    }
  }
  const close = (): void => {
    if (ended) return
    ended = true
    controller.close()
  }
  return {
    response: new Response(body, { headers, encodeBody: 'manual' }),
    takesLines: true,
    async send(frame, onTaken) {
      if (ended || isClosing) throw new ClientGone('the client is gone')
      isSending = true
      for (let at = 0; at < frame.length && !ended; at += CHUNK_BYTES) {
        const chunk = frame.subarray(at, at + CHUNK_BYTES)
        controller.enqueue(chunk)
        ahead += chunk.length
        if (ahead < AHEAD_BYTES) continue
        await untilTaken()
        onTaken?.()
      }
      // its owner gives its memory back
      if (frame.length > LONG) await untilTaken()
      isSending = false
      if (isClosing) close()
    },
    close() {
      if (isSending) isClosing = true
      else close()
    },
    abort() {
      if (ended) return
      controller.error(new ClientGone('the client is too slow'))
      leave()
    },
    onGone(work) {
      gone = work
    },
    hasGone: () => ended || isClosing,
  }
}

/**
 * One message for each event. The handshake is checked as in kube-apiserver: an Origin that is an absolute URL,
 * version 13, and at most one sub-protocol, which is echoed whatever it is.
 */
export function socketSink(asked: RequestHeaders, isText: boolean, pace: SocketPace): WatchSink | Response {
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
      await pace.take(frame.length)
      const message = isText ? decoder.decode(frame) : frame
      try {
        server.send(message)
      } catch {
        throw new ClientGone('the client is gone')
      }
    },
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
