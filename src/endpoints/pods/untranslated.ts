/**
 * A WebSocket that was to be translated into SPDY, and whose kubelet does not take part. kube-apiserver agrees to the
 * WebSocket before it asks the kubelet, so the client reads in the channel of errors what went wrong.
 */
import { joined } from '../../base/bytes.ts'
import { internalError } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { wholeAnswer } from '../../outgoing/bounded-answer.ts'
import type { ExchangeAnswer, WebSocketTranslation } from '../../outgoing/exchange.ts'
import type { CallFailed } from '../../webhooks/outgoing-call.ts'
import { CHANNELS } from './websocket-as-spdy.ts'

type Streams = NonNullable<WebSocketTranslation['streams']>

const [STDOUT, STDERR, ERROR] = [1, 2, 3]
const NORMAL = 1000
const MAX_ERROR = 50_000

/** @param url of the kubelet */
export const notSent = (streams: Streams, url: string, error: CallFailed): Response =>
  statusSocket(streams, `error sending request: Post ${goQuote(url)}: ${error.message}`)

/** The kubelet's answer is not that it speaks SPDY from here on. */
export async function notUpgraded(streams: Streams, answer: ExchangeAnswer): Promise<Response> {
  const why = await wholeAnswer(answer, MAX_ERROR).then(
    ({ text }) => messageOf(text),
    () => 'unable to read error from server response',
  )
  return statusSocket(streams, `unable to upgrade connection: ${why}`)
}

/** The message of a Status, or the text. */
function messageOf(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown } // of null: the text
    for (const said of [message, error]) if (typeof said === 'string' && said.trim() !== '') return said.trim()
  } catch {
    // no Status
  }
  return text.trim() || 'empty server response'
}

function statusSocket(streams: Streams, why: string): Response {
  const [client, socket] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket] // a WebSocketPair has two members
  const { kind: _kind, apiVersion: _apiVersion, ...status } = internalError(why).status
  socket.accept()
  // an empty message says that the connection stands
  socket.send(Uint8Array.of(streams.stdout ? STDOUT : streams.stderr ? STDERR : ERROR))
  socket.send(joined([Uint8Array.of(ERROR), new TextEncoder().encode(JSON.stringify(status))]))
  socket.close(NORMAL)
  return new Response(null, { status: 101, webSocket: client, headers: { 'Sec-WebSocket-Protocol': CHANNELS } })
}
