/** The WebSocket of a simulated kubelet. */
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import type { NodeRequest } from '../node-connection.ts'
import { answer } from './plain-answer.ts'

type Accepted =
  | { readonly socket: WebSocket; readonly protocol: string; readonly answer: Upgraded }
  | { readonly refused: ExchangeAnswer }

const headerOf = ({ headers }: NodeRequest, wanted: string): string =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''

/** The sub-protocols that the client offers; `''` where it offers none. */
export const protocolsOf = (call: NodeRequest): readonly string[] =>
  headerOf(call, 'sec-websocket-protocol')
    .split(',')
    .map((one) => one.trim())

/**
 * Accepts the first sub-protocol of the client that the server knows.
 * @param protocols of the server, with `''` where the client may offer none
 * @param wins a sub-protocol that goes before all others, because kube-apiserver answers it itself
 */
export function acceptSocket(call: NodeRequest, protocols: ReadonlySet<string>, wins: string): Accepted {
  if (headerOf(call, 'upgrade').toLowerCase() !== 'websocket')
    return { refused: answer(400, 'simulated nodes speak WebSocket, and SPDY inside of it alone') }
  const asked = protocolsOf(call)
  // few: the header of one request
  const protocol = asked.includes(wins) ? wins : asked.find((one) => protocols.has(one))
  if (protocol === undefined) {
    const spoken = [...protocols, wins].filter((one) => one !== '')
    return { refused: answer(403, `the server speaks ${spoken.join(', ')}, and none of: ${asked.join(', ')}`) }
  }
  const [client, socket] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket] // a WebSocketPair has two members
  socket.binaryType = 'arraybuffer'
  socket.accept()
  const response = new Response(null, {
    status: 101,
    webSocket: client,
    headers: protocol === '' ? {} : { 'Sec-WebSocket-Protocol': protocol },
  })
  return { socket, protocol, answer: { upgraded: response } }
}
