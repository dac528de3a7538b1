import { expect, test, vi } from 'vitest'
import { portForward } from '../../../src/endpoints/nodes/simulated/port-forward.ts'
import type { Asked } from '../../../src/endpoints/nodes/simulated/kubelet.ts'

type Listen = (event: { readonly data: ArrayBuffer }) => void

/** The server's end of a WebSocket whose client reads nothing. */
class UnreadSocket {
  bufferedAmount = 0
  closed: number | undefined
  message: Listen = () => {}

  send(data: Uint8Array): void {
    this.bufferedAmount += data.length
  }
  close(code: number): void {
    this.closed = code
  }
  addEventListener(type: string, listen: Listen): void {
    if (type === 'message') this.message = listen
  }
}

const socket = new UnreadSocket()
vi.mock('../../../src/endpoints/nodes/simulated/socket.ts', async (original) => ({
  ...(await original<object>()),
  acceptSocket: () => ({ socket, protocol: 'SPDY/3.1+portforward.k8s.io', answer: {} }),
}))

test('a client that asks for much and reads nothing is disconnected', async () => {
  portForward({
    call: { method: 'POST', target: '/', headers: [['Sec-WebSocket-Protocol', 'SPDY/3.1+portforward.k8s.io']] },
    query: new URLSearchParams(),
    pod: { metadata: { name: 'p' }, status: { phase: 'Running', podIP: '10.0.0.1' } },
  } as unknown as Asked)
  const ping = [0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]
  const pings = new Uint8Array(Array.from({ length: 20_000 }, () => ping).flat()).buffer
  for (let n = 0; n < 20 && socket.closed === undefined; n++) {
    socket.message({ data: pings })
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  expect(socket.closed).toBe(1013)
  expect(socket.bufferedAmount).toBeLessThan(2 * 1024 * 1024)
})
