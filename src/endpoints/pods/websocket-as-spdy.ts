/**
 * WebSockets of clients for kubelets that speak only SPDY. As in kube-apiserver, some are translated, and the kubelet
 * gets an SPDY request instead (KEP 4006). The front translates the stream (cli/front/websocket-streams.ts).
 */
import { badRequest } from '../../api/status.ts'
import type { WebSocketTranslation } from '../../outgoing/exchange.ts'
import type { HeaderPairs } from '../../outgoing/proxied-headers.ts'
import type { NodeRequest } from '../nodes/node-connection.ts'

/** Only this sub-protocol is translated: every kubelet understands the older ones. */
export const CHANNELS = 'v5.channel.k8s.io'
const TUNNELED = /^SPDY\/3\.1\+(.*k8s\.io)$/
const OF_WEBSOCKETS = /^sec-websocket-|^upgrade$|^x-stream-protocol-version$/i

/**
 * @param streams of exec and attach; absent: port-forward
 * @returns the changes to the kubelet's request; undefined where nothing is translated
 * @throws StatusError 400 where the request is no handshake
 */
export function asSpdy(
  headers: HeaderPairs,
  streams: WebSocketTranslation['streams'],
): Pick<NodeRequest, 'method' | 'headers' | 'translates'> | undefined {
  const valueOf = (wanted: string): string => headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''
  if (valueOf('upgrade').toLowerCase() !== 'websocket') return undefined
  const asked = valueOf('sec-websocket-protocol').split(',')
  const protocols = asked.map((one) => one.trim())
  const inSpdy =
    streams === undefined
      ? protocols.flatMap((one) => TUNNELED.exec(one)?.[1] ?? [])
      : protocols.includes(CHANNELS)
        ? ['v4.channel.k8s.io']
        : []
  if (inSpdy.length === 0) return undefined
  const key = valueOf('sec-websocket-key')
  if (key === '' || valueOf('sec-websocket-version') !== '13')
    throw badRequest('unable to upgrade: no WebSocket handshake')
  return {
    method: 'POST',
    headers: [
      ...headers.filter(([name]) => !OF_WEBSOCKETS.test(name)),
      ['Upgrade', 'SPDY/3.1'],
      ...inSpdy.map((protocol) => ['X-Stream-Protocol-Version', protocol] as const),
    ],
    translates: { key, ...(streams === undefined ? {} : { streams }) },
  }
}
