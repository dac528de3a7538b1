// Requests that clients cancel at once. The engine keeps the connection of each until it gets to notice, and must not
// run out of descriptors before.
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { END_HEADERS, END_STREAM, FRAME, frame, headerBlock, PREFACE } from '../cli/front/http2/frames.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

let server: KedgeProcess
let client: ApiClient

beforeAll(async () => {
  server = await startKedge(undefined, undefined, ['sh', '-c', 'ulimit -n 600 && exec "$@"', 'sh'])
  client = new ApiClient(server.kubeconfig)
})
afterAll(() => server.stop())

const LIST = headerBlock(
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/api/v1/namespaces/default/pods'],
  [':authority', 'h'],
)
const CANCEL = Buffer.from([0, 0, 0, 8])

const cancelled = (n: number): Buffer =>
  Buffer.concat([
    frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * n + 1, LIST),
    frame(FRAME.reset, 0, 2 * n + 1, CANCEL),
  ])

async function open(): Promise<TLSSocket> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await once(
    socket.on('error', () => {}),
    'secureConnect',
  )
  socket.resume().write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]))
  return socket
}

test('more than the engine has descriptors do not end it', async () => {
  const sockets = await Promise.all(Array.from({ length: 8 }, open))
  for (let n = 0; n < 900; n += 30)
    for (const socket of sockets)
      if (!socket.destroyed) socket.write(Buffer.concat(Array.from({ length: 30 }, (_, i) => cancelled(n + i))))
  for (let n = 0; n < 20; n++)
    expect(await client.send('GET', '/api/v1/namespaces/default')).toMatchObject({ status: 200 })
  for (const socket of sockets) socket.destroy()
  expect(server.output()).not.toContain('ended unexpectedly')
})
