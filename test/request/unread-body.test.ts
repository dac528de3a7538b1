import { afterEach, expect, test, vi } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import { LONGEST_UNREAD, MOST_UNREAD, readRest } from '../../src/request/unread-body.ts'
import { serve } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

afterEach(() => vi.useRealTimers())

const MIB = 1024 * 1024

/** A request with a body of pieces of a MiB. `sent` counts those that were taken. */
function uploading(pieces: number, headers: Record<string, string> = {}) {
  const state = { sent: 0, isCanceled: false, isOver: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.sent < pieces) {
          state.sent++
          return controller.enqueue(new Uint8Array(MIB))
        }
        state.isOver = true
        controller.close()
      },
      cancel: () => void (state.isCanceled = true),
    },
    { highWaterMark: 0 },
  )
  const init = { method: 'POST', body, duplex: 'half', headers: { 'Content-Type': 'application/json', ...headers } }
  return { state, request: new Request('https://server/api/v1/namespaces/default/configmaps', init as RequestInit) }
}

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const { env } = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
const execution = { waitUntil: () => undefined } as unknown as ExecutionContext

test.each([
  [
    'whose length is said to be too large',
    { Authorization: `Bearer ${TOKEN}`, 'Content-Length': String(5 * MIB) },
    413,
  ],
  ['that is too large', { Authorization: `Bearer ${TOKEN}` }, 413],
  ['of a stranger', { Authorization: 'Bearer wrong' }, 401],
])('a body %s was read when its answer leaves', async (_, headers, status) => {
  const { request, state } = uploading(5, headers)
  expect((await serve(request, env, execution, platformClock)).status).toBe(status)
  expect(state).toEqual({ sent: 5, isCanceled: false, isOver: true })
})

test('a body without an end is left', async () => {
  const { request, state } = uploading(Infinity)
  await readRest(request)
  expect(state).toEqual({ sent: MOST_UNREAD / MIB, isCanceled: true, isOver: false })
})

test('so is one that does not come', async () => {
  vi.useFakeTimers()
  const canceled = vi.fn()
  const body = new ReadableStream<Uint8Array>({ cancel: canceled })
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  const read = readRest(new Request('https://server/', init))
  await vi.advanceTimersByTimeAsync(LONGEST_UNREAD)
  await read
  expect(canceled).toHaveBeenCalledOnce()
})

test('the front of a local server reads what is left', async () => {
  const { request, state } = uploading(5, { Authorization: 'Bearer wrong' })
  // the binding of a local server, which nothing here calls
  const local = { ...env, CONFIGURATION: {} as Fetcher }
  expect((await serve(request, local, execution, platformClock)).status).toBe(401)
  expect(state.sent).toBe(0)
})
