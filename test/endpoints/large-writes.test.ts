// It needs modules of its own: the turns are those of all requests of the isolate.
// A large write yields to other requests between its steps; a small write does not yield.
import { expect, test, vi } from 'vitest'
import { LARGE } from '../../src/base/slices.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'

async function serverWithNamespace() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  const finalizers = { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }
  await server.put('', 'namespaces', {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name: 'default' },
    ...finalizers,
  })
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const send = async (method: string, name: string, object: object, type = 'application/json'): Promise<number> => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    const body = JSON.stringify(object)
    const response = await answer(server.request(configMaps + name, { method, body, headers }))
    return response.status
  }
  return send
}

const configMap = (length: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a' },
  data: { text: 'x'.repeat(length) },
})

/** Counts the turns of the event loop until the work is done. A small write to memory needs none. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  const timeout = vi.spyOn(globalThis, 'setTimeout')
  try {
    await work()
    return timeout.mock.calls.filter(([, delay]) => delay === 0).length
  } finally {
    timeout.mockRestore()
  }
}

test('a create, an update and a patch of a large object are done in steps', async () => {
  const send = await serverWithNamespace()
  const steps = { POST: ['', configMap(LARGE)], PUT: ['/a', configMap(LARGE + 1)] } as const
  for (const [method, [name, object]] of Object.entries(steps))
    expect(await turnsDuring(() => send(method, name, object))).toBeGreaterThanOrEqual(5)
  const label = { metadata: { labels: { a: 'b' } } }
  expect(await turnsDuring(() => send('PATCH', '/a', label, 'application/merge-patch+json'))).toBeGreaterThanOrEqual(5)
})

test('a small write is done without a turn of the event loop', async () => {
  const send = await serverWithNamespace()
  await send('POST', '', configMap(1))
  expect(await turnsDuring(() => send('PUT', '/a', configMap(2)))).toBe(0)
})

test('twice as many values are twice as many parts, none of them longer', async () => {
  const keys = (name: string, n: number) => ({
    ...configMap(0),
    metadata: { name },
    data: Object.fromEntries(Array.from({ length: n }, (_, at) => [`key-${at}`, 'v'])),
  })
  const send = await serverWithNamespace()
  const once = await turnsDuring(() => send('POST', '', keys('once', 10_000)))
  const twice = await turnsDuring(() => send('POST', '', keys('twice', 20_000)))
  const four = await turnsDuring(() => send('POST', '', keys('four', 40_000)))
  expect(twice - once).toBeGreaterThan(15)
  expect((four - twice) / (twice - once)).toBeCloseTo(2, 0)
})
