import { beforeEach, expect, test, vi } from 'vitest'
import { portForward } from '../../../src/endpoints/nodes/simulated/port-forward.ts'
import type { Asked } from '../../../src/endpoints/nodes/simulated/kubelet.ts'

type Listen = (event: { readonly data: ArrayBuffer }) => void

/** The server's end of a WebSocket whose client reads nothing, and answers no close. */
class UnreadSocket {
  bufferedAmount = 0
  closed: number | undefined
  message: Listen = () => {}

  send(data: Uint8Array): void {
    this.bufferedAmount += data.length
  }
  close(code: number): void {
    this.closed ??= code
  }
  addEventListener(type: string, listen: Listen): void {
    if (type === 'message') this.message = listen
  }
}

let socket: UnreadSocket
let podEnds = (): void => {}
let stopped = 0
vi.mock('../../../src/endpoints/nodes/simulated/socket.ts', async (original) => ({
  ...(await original<object>()),
  acceptSocket: () => ({ socket, protocol: 'SPDY/3.1+portforward.k8s.io', answer: {} }),
}))
vi.mock('../../../src/endpoints/nodes/simulated/follow-pod.ts', () => ({
  followPod: () => ({ ended: new Promise<void>((resolve) => (podEnds = resolve)), stop: () => stopped++ }),
}))

function opened(user = 'jane'): UnreadSocket {
  socket = new UnreadSocket()
  portForward({
    request: { tenant: { uid: 'root' }, user: { name: user } },
    call: { method: 'POST', target: '/', headers: [['Sec-WebSocket-Protocol', 'SPDY/3.1+portforward.k8s.io']] },
    query: new URLSearchParams(),
    pod: { metadata: { name: 'p' }, status: { phase: 'Running', podIP: '10.0.0.1' } },
  } as unknown as Asked)
  return socket
}

const others = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))
const PING = [0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]
const pings = (count: number): ArrayBuffer => new Uint8Array(Array.from({ length: count }, () => PING).flat()).buffer

beforeEach(() => void (stopped = 0))

test('a client that asks for much and reads nothing is disconnected', async () => {
  const client = opened()
  client.bufferedAmount = 1024 * 1024 - 1_000
  client.message({ data: pings(8_000) })
  await vi.waitFor(() => expect(client.closed).toBe(1013))
  expect(client.bufferedAmount).toBeLessThan(1024 * 1024 + 100)
  expect(stopped).toBeGreaterThan(0)
})

test('a client is disconnected when its pod ends, and what it sends on is not read', async () => {
  const client = opened()
  client.message({ data: pings(1) })
  await others()
  const before = client.bufferedAmount
  expect(before).toBeGreaterThan(0)
  podEnds()
  await others()
  expect(client.closed).toBe(1000)
  client.message({ data: pings(1) })
  await others()
  expect(client.bufferedAmount).toBe(before)
})

test('clients that send faster than is read leave room for others', async () => {
  const empty = new Uint8Array(1024 * 1024).buffer
  const clients = Array.from({ length: 20 }, () => opened('greedy'))
  for (const client of clients) client.message({ data: empty })
  expect(clients.filter(({ closed }) => closed === 1013).length).toBeGreaterThanOrEqual(4)
  const other = opened('other')
  other.message({ data: empty })
  await others()
  expect(other.closed).toBeUndefined()
  podEnds()
})
