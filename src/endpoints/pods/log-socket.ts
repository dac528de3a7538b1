/** A log over a WebSocket, as browsers read it. As in kube-apiserver, an empty message comes first, then the text. */
import { bytesToBase64 } from '../../base/base64.ts'
import type { SocketPace } from '../../flowcontrol/socket-pace.ts'
import type { RequestHeaders } from '../../request/request-headers.ts'

const IN_BASE64 = 'base64.binary.k8s.io'
/** '' because a client may offer no sub-protocol. */
const PROTOCOLS: ReadonlySet<string> = new Set(['', 'binary.k8s.io', IN_BASE64])
/** Octets of a message. */
const LONGEST = 2048

const NORMAL = 1000

export interface LogSocket {
  readonly response: Response
  /** Sends the whole body, and closes the socket. */
  send(body: ReadableStream<Uint8Array> | null): Promise<void>
}

/** @returns a refusal for handshakes that kube-apiserver refuses too */
export function logSocket(headers: RequestHeaders, pace: SocketPace): LogSocket | Response {
  if (headers.get('Sec-WebSocket-Version') !== '13')
    return new Response('missing or bad WebSocket Version', {
      status: 400,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Sec-WebSocket-Version': '13' },
    })
  const asked = (headers.get('Sec-WebSocket-Protocol') ?? '').split(',').map((one) => one.trim())
  const protocol = asked.find((one) => PROTOCOLS.has(one))
  if (protocol === undefined) return new Response(null, { status: 403 })
  const [client, socket] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket] // a WebSocketPair has two members
  socket.accept()
  return {
    response: new Response(null, {
      status: 101,
      webSocket: client,
      headers: protocol === '' ? {} : { 'Sec-WebSocket-Protocol': protocol },
    }),
    send: (body) => sendAll(socket, body, pace, protocol === IN_BASE64 ? bytesToBase64 : (bytes) => bytes),
  }
}

async function sendAll(
  socket: WebSocket,
  body: ReadableStream<Uint8Array> | null,
  pace: SocketPace,
  written: (bytes: Uint8Array) => Uint8Array | string,
): Promise<void> {
  const reader = body?.getReader()
  let isGone = false
  const gone = (): void => {
    isGone = true
    void reader?.cancel().catch(() => {})
  }
  socket.addEventListener('close', gone)
  socket.addEventListener('error', gone)
  try {
    socket.send(written(new Uint8Array(0)))
    for (;;) {
      const { value } = (await reader?.read()) ?? {}
      if (value === undefined || isGone) break
      await pace.take(value.length)
      for (let at = 0; at < value.length; at += LONGEST) socket.send(written(value.subarray(at, at + LONGEST)))
    }
    socket.close(NORMAL)
  } catch {
    // the client or the node has gone
    close(socket)
  } finally {
    if (!isGone) gone()
  }
}

function close(socket: WebSocket): void {
  try {
    socket.close(NORMAL)
  } catch {
    // the socket is closed
  }
}
