/** Counts the calls that a request makes to Durable Objects: round trips, not time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from '../eventually.ts'
import { beginFirstRead } from '../../src/registry/first-read.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'

/** A server that counts the calls to its Durable Objects, and can delay them. */
function countingServer() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  // the test's own binding
  const namespace = server.env.SHARDS as unknown as {
    get(name: string): Record<string, (...more: unknown[]) => unknown>
  }
  const stubOf = namespace.get
  const calls: string[] = []
  let underWay = 0
  /** Concurrent calls count as one round trip. */
  const rounds = { count: 0 }
  let gate: Promise<void> | undefined
  namespace.get = (name) =>
    Object.fromEntries(
      Object.entries(stubOf(name)).map(([method, call]) => [
        method,
        async (...more: unknown[]) => {
          calls.push(`${method} ${name.slice(name.indexOf('/') + 1)}`)
          if (underWay++ === 0) rounds.count++
          try {
            await gate
            return await call(...more)
          } finally {
            underWay--
          }
        },
      ]),
    )
  const ask = (method: string, target: string, body?: object, token: string | undefined = TOKEN) =>
    answer(
      server.request(target, {
        method,
        headers: {
          ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
          'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  return { server, calls, rounds, ask, hold: (until: Promise<void>) => void (gate = until) }
}

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'i' }] },
})
const configMap = (name: string, data?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})
const PODS = '/api/v1/namespaces/default/pods'

async function warm() {
  const counting = countingServer()
  const { ask, calls, rounds } = counting
  await ask('GET', '/api/v1/namespaces/default')
  expect((await ask('POST', PODS, pod('first'))).status).toBe(201)
  expect((await ask('POST', '/api/v1/namespaces/default/configmaps', configMap('first'))).status).toBe(201)
  calls.length = 0
  rounds.count = 0
  return counting
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.stubGlobal('IdentityTransformStream', TransformStream) // workerd has it, Node does not
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test.each<[what: string, rounds: number, calls: number, method: string, target: string, body?: object]>([
  ['a get', 1, 1, 'GET', `${PODS}/first`],
  ['a get of what is not there', 1, 1, 'GET', `${PODS}/none`],
  ['a list', 1, 1, 'GET', PODS],
  // the first create has read LimitRanges, PriorityClasses and the ServiceAccount
  ['a create of a Pod', 1, 1, 'POST', PODS, pod('second')],
  ['a create of a ConfigMap', 1, 1, 'POST', '/api/v1/namespaces/default/configmaps', configMap('a')],
  ['an update', 2, 2, 'PUT', '/api/v1/namespaces/default/configmaps/first', configMap('first', { a: 'b' })],
  ['a patch', 2, 2, 'PATCH', '/api/v1/namespaces/default/configmaps/first', { data: { a: 'b' } }],
  ['a patch of a Pod', 2, 2, 'PATCH', `${PODS}/first`, { metadata: { labels: { a: 'b' } } }],
])('%s is %i round trips, in %i calls', async (_what, expected, all, method, target, body) => {
  const { ask, calls, rounds } = await warm()
  const answered = await ask(method, target, body).catch((error: unknown) => error)
  expect(answered).toHaveProperty(
    answered instanceof Response ? 'ok' : 'code',
    answered instanceof Response ? true : 404,
  )
  expect({ rounds: rounds.count, calls: calls.length }).toEqual({ rounds: expected, calls: all })
})

const SNAPSHOT_IS_OLD = 5_000

test('a second later a create of a Pod reads the snapshot, and then its limits concurrently', async () => {
  const { ask, calls, rounds } = await warm()
  vi.advanceTimersByTime(SNAPSHOT_IS_OLD)
  expect((await ask('POST', PODS, pod('second'))).status).toBe(201)
  expect(calls.toSorted()).toEqual([
    'changes control',
    'create pods',
    'fetch limitranges',
    'fetch priorityclasses.scheduling.k8s.io',
    'get serviceaccounts',
  ])
  expect(rounds.count).toBe(3)
})

test.each([
  ['GET', undefined, 2],
  ['PATCH', { metadata: { labels: { a: 'b' } } }, 3],
])('without a snapshot at hand, a %s reads its object beside the call for one', async (method, body, all) => {
  const { ask, calls, hold } = await warm()
  vi.advanceTimersByTime(SNAPSHOT_IS_OLD)
  const { promise, resolve } = Promise.withResolvers<void>()
  hold(promise)
  const answered = ask(method, `${PODS}/first`, body)
  await eventually(() => expect(calls.map((call) => call.split(' ')[0]).sort()).toEqual(['changes', 'get']))
  resolve()
  expect((await answered).status).toBe(200)
  expect(calls).toHaveLength(all)
})

test('an early read is dropped where the request is denied', async () => {
  const { server, ask, calls } = await warm()
  vi.advanceTimersByTime(SNAPSHOT_IS_OLD)
  // nobody has granted anything to eve
  beginFirstRead({ ...server.request(`${PODS}/first`), user: authenticated({ name: 'eve', groups: [] }) })
  expect(calls).toEqual(['get pods'])
  // another request reads for itself
  calls.length = 0
  expect((await ask('GET', `${PODS}/first`)).status).toBe(200)
  expect(calls.toSorted()).toEqual(['changes control', 'get pods'])
})

test('a denied anonymous request calls no object but the control shard', async () => {
  const { ask, calls } = await warm()
  vi.setSystemTime(Date.now() + 60_000)
  await expect(ask('GET', '/api/v1/namespaces/default/secrets/a', undefined, '')).rejects.toMatchObject({ code: 403 })
  expect(calls.filter((call) => !call.endsWith(' control'))).toEqual([])
})

test('thirty concurrent anonymous requests share at most three calls', async () => {
  const { ask, calls } = await warm()
  vi.setSystemTime(Date.now() + 60_000)
  calls.length = 0
  const denied = Array.from({ length: 30 }, () => ask('GET', '/api/v1/namespaces/default/secrets/a', undefined, ''))
  for (const one of await Promise.allSettled(denied)) expect(one).toMatchObject({ reason: { code: 403 } })
  expect(calls.length).toBeLessThanOrEqual(3)
})

const denied = (ask: (...asked: [string, string, undefined, string]) => Promise<unknown>) =>
  expect(ask('GET', '/api/v1/namespaces/default/secrets/a', undefined, '')).rejects.toMatchObject({ code: 403 })

test('each denial in a row makes one call to the control shard, and two without a snapshot', async () => {
  const { ask, calls } = await warm()
  for (let n = 1; n <= 10; n++) {
    await denied(ask)
    expect(calls).toEqual(Array.from({ length: n }, () => 'changes control'))
  }
  vi.advanceTimersByTime(SNAPSHOT_IS_OLD)
  calls.length = 0
  await denied(ask)
  expect(calls).toEqual(['changes control', 'changes control'])
  await denied(ask)
  expect(calls).toHaveLength(3)
})

test('hundreds of concurrent denials make at most three calls to the control shard, in any order', async () => {
  const { ask, calls, hold } = await warm()
  vi.advanceTimersByTime(SNAPSHOT_IS_OLD)
  const { promise, resolve } = Promise.withResolvers<void>()
  hold(promise)
  const first = denied(ask)
  await eventually(() => expect(calls).toHaveLength(1))
  const others = Array.from({ length: 300 }, () => denied(ask))
  resolve()
  await Promise.all([first, ...others])
  expect(calls.length).toBeLessThanOrEqual(3)
})

test.each([
  ['GET', undefined],
  ['PATCH', { metadata: { labels: { a: 'b' } } }],
])('the first request to a fresh control plane finds what that has: %s', async (method, body) => {
  const { ask } = countingServer()
  const { status } = await ask(method, '/api/v1/namespaces/kube-system/serviceaccounts/default', body)
  expect(status).toBe(200)
})
