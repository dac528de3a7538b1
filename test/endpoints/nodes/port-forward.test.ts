import { beforeEach, expect, test, vi } from 'vitest'
import { portForward } from '../../../src/endpoints/nodes/simulated/port-forward.ts'
import { synStream } from '../../../src/spdy/frames.ts'
import { HeaderWriter } from '../../../src/spdy/header-blocks.ts'
import type { Asked } from '../../../src/endpoints/nodes/simulated/kubelet.ts'

type Listen = (event: { readonly data: ArrayBuffer }) => void

/** The server's end of a WebSocket whose client reads nothing, and answers no close. */
class UnreadSocket {
  readonly sent: Uint8Array[] = []
  closed: number | undefined
  message: Listen = () => {}
  private gone: Listen = () => {}

  send(data: Uint8Array): void {
    this.sent.push(data)
  }
  close(code: number): void {
    this.closed ??= code
  }
  leave(): void {
    this.gone({ data: new ArrayBuffer() })
  }
  addEventListener(type: string, listen: Listen): void {
    if (type === 'message') this.message = listen
    if (type === 'close') this.gone = listen
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

test('a client is disconnected when its pod ends, and what it sends on is not read', async () => {
  const client = opened()
  client.message({ data: pings(1) })
  await others()
  const before = client.sent.length
  expect(before).toBeGreaterThan(0)
  podEnds()
  await others()
  expect(client.closed).toBe(1000)
  client.message({ data: pings(1) })
  await others()
  expect(client.sent).toHaveLength(before)
})

/** Opens so many streams, each of which waits for its other half. */
async function openStreams(client: UnreadSocket, count: number): Promise<void> {
  const writer = new HeaderWriter()
  const before = client.sent.length
  const frames = Array.from({ length: count }, (_, n) => {
    const headers = new Map([
      ['streamtype', 'data'],
      ['port', '80'],
      ['requestid', String(n)],
    ])
    return synStream(2 * n + 1, writer.write(headers))
  })
  client.message({ data: new Uint8Array(frames.flatMap((frame) => [...frame])).buffer })
  await vi.waitFor(() => expect(client.sent.length - before).toBe(count))
}

const kindOf = (frame: Uint8Array): number => frame[3]!
const [ACCEPTED, REFUSED] = [2, 3]

test('all streams that clients leave open have a bound, and leave room for others', async () => {
  const clients = Array.from({ length: 17 }, () => opened('greedy'))
  for (const client of clients) await openStreams(client, 500)
  const answers = clients.flatMap(({ sent }) => sent.map(kindOf))
  expect(answers.filter((kind) => kind === ACCEPTED)).toHaveLength(8_192)
  expect(answers.filter((kind) => kind === REFUSED)).toHaveLength(17 * 500 - 8_192)
  const other = opened('other')
  await openStreams(other, 10)
  expect(other.sent.map(kindOf)).toEqual(Array(10).fill(ACCEPTED))
  expect(clients.map(({ closed }) => closed)).toEqual([1013, ...Array<undefined>(16)])
  for (const client of [...clients, other]) client.leave()
  const later = Array.from({ length: 17 }, () => opened('later'))
  for (const client of later) await openStreams(client, 480)
  expect(new Set(later.flatMap(({ sent }) => sent.map(kindOf)))).toEqual(new Set([ACCEPTED]))
  for (const client of later) client.leave()
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
