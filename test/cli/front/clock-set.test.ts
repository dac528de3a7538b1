// The machine's clock is set while clients are connected. Deadlines go on as if it were not.
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Deadlines } from '../../../src/cli/front/client-connection.ts'
import { DEADLINES } from '../../../src/cli/front/client-connection.ts'
import { authority, startBefore } from './running-front.ts'
import type { RunningFront } from './running-front.ts'

const HOUR = 3_600_000
/** Longer than the front's time between two looks at its deadlines. */
const A_LOOK = 2_200

let running: RunningFront | undefined
let plain: TLSSocket | undefined
let session: ClientHttp2Session | undefined

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(async () => {
  vi.useRealTimers()
  plain?.destroy()
  session?.destroy()
  await running?.stop()
})

async function open(deadlines: Deadlines): Promise<[plain: TLSSocket, session: ClientHttp2Session]> {
  running = await startBefore(
    createServer((_request, response) => response.end('ok')),
    { deadlines },
  )
  const { port } = running.front
  const ca = authority.certificate
  const socket = connectTls({ host: '127.0.0.1', port, ca })
  const inHttp2 = connect(`https://127.0.0.1:${port}`, { ca })
  for (const one of [socket, inHttp2]) one.on('error', () => {})
  await Promise.all([
    new Promise((resolve) => socket.once('secureConnect', resolve)),
    new Promise((resolve) => inHttp2.once('remoteSettings', resolve)),
  ])
  plain = socket.resume()
  session = inHttp2
  return [socket, inHttp2]
}

const set = (milliseconds: number): void => void vi.setSystemTime(Date.now() + milliseconds)
const aLook = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, A_LOOK))

test('set forward, it ends no client that has time left', async () => {
  const [socket, inHttp2] = await open(DEADLINES)
  set(HOUR)
  await aLook()
  expect({ plain: socket.closed, http2: inHttp2.closed }).toEqual({ plain: false, http2: false })
})

test('set back, it leaves no client whose time is over', async () => {
  const [socket, inHttp2] = await open({ ...DEADLINES, head: 1 })
  set(-HOUR)
  await aLook()
  expect({ plain: socket.closed, http2: inHttp2.closed }).toEqual({ plain: true, http2: true })
})
