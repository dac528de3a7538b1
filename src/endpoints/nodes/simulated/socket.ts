/** A simulated kubelet's end of a WebSocket. */
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import type { NodeRequest } from '../node-connection.ts'
import { answer } from './plain-answer.ts'

type Accepted =
  | { readonly socket: WebSocket; readonly protocol: string; readonly answer: Upgraded }
  | { readonly refused: ExchangeAnswer }

/** @param protocols what the server speaks: the client's first choice among them is taken */
export function acceptSocket({ headers }: NodeRequest, protocols: ReadonlySet<string>): Accepted {
  const headerOf = (name: string): string => headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? ''
  if (headerOf('upgrade').toLowerCase() !== 'websocket')
    return { refused: answer(400, 'simulated nodes speak WebSocket, and SPDY inside of it alone') }
  const asked = headerOf('sec-websocket-protocol')
    .split(',')
    .map((one) => one.trim())
  const protocol = asked.find((one) => protocols.has(one))
  if (protocol === undefined)
    return { refused: answer(403, `the server speaks ${[...protocols].join(', ')}, and none of: ${asked.join(', ')}`) }
  const [client, socket] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket] // a pair has two
  socket.binaryType = 'arraybuffer'
  socket.accept()
  const response = new Response(null, {
    status: 101,
    webSocket: client,
    headers: { 'Sec-WebSocket-Protocol': protocol },
  })
  return { socket, protocol, answer: { upgraded: response } }
}
