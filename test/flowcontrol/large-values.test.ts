import { afterEach, expect, test, vi } from 'vitest'
import { takesRoom } from '../../src/flowcontrol/large-values.ts'
import { MOST_HELD, Room } from '../../src/flowcontrol/room.ts'
import type { Share } from '../../src/flowcontrol/room.ts'
import { answer } from '../../src/server.ts'
import { memoryServer } from '../request-in-memory.ts'

const TOKEN = 'an-administrator-whose-token-is-long-enough'
const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
const PATH = '/api/v1/namespaces/default/configmaps'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function newRequest(tenant = 'one', name = 'system:anonymous') {
  const request = server.request(PATH)
  Object.assign(request, { tenant: { uid: tenant }, user: { ...request.user, name } })
  return { leave: takesRoom(request), take: request.takeRoom! }
}

const state = (work: Promise<void>): Promise<string> =>
  Promise.race([
    work.then(
      () => 'has room',
      (error: unknown) => String(error),
    ),
    new Promise<string>((resolve) => setTimeout(resolve, 20, 'waits')),
  ])

test('a request has room for its body and for an object, and gives back both', async () => {
  const first = newRequest()
  await first.take('body', MOST_HELD)
  await first.take('object', MOST_HELD)
  const [second, third] = [newRequest(), newRequest()]
  const waiting = [second.take('body', 1), third.take('object', 1)]
  expect(await Promise.all(waiting.map(state))).toEqual(['waits', 'waits'])
  first.leave()
  expect(await Promise.all(waiting.map(state))).toEqual(['has room', 'has room'])
  second.leave()
  third.leave()
})

test('a larger object takes the place of the one before, and a smaller one needs no more', async () => {
  const request = newRequest()
  await request.take('object', MOST_HELD)
  expect(await state(request.take('object', 5))).toBe('has room')
  expect(await state(request.take('object', MOST_HELD + 1))).toBe('has room')
  request.leave()
  const next = newRequest()
  expect(await state(next.take('object', 1))).toBe('has room')
  next.leave()
})

test('a request that finds no room in time is told to come again', async () => {
  const first = newRequest()
  await first.take('body', MOST_HELD)
  vi.useFakeTimers()
  const refused = expect(newRequest().take('body', 1)).rejects.toMatchObject({
    status: { code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } },
  })
  await vi.advanceTimersByTimeAsync(15_000)
  await refused
  first.leave()
})

test('a control plane leaves room for others, however long its requests take', async () => {
  const own = newRequest()
  await own.take('body', MOST_HELD / 2)
  const waiting = newRequest()
  const waits = waiting.take('body', 1)
  expect(await state(waits)).toBe('waits')
  const other = newRequest('another')
  expect(await state(other.take('body', MOST_HELD / 2))).toBe('has room')
  other.leave()
  own.leave()
  await waits
  waiting.leave()
})

test('the ServiceAccounts of a namespace are one user of the room', async () => {
  const take = vi.spyOn(Room.prototype, 'take')
  for (const name of ['system:serviceaccount:team:one', 'system:serviceaccount:team:two', 'anna']) {
    const request = newRequest('one', name)
    await request.take('body', 1)
    request.leave()
  }
  // each takes of the control plane's room, and then of the isolate's
  const flows = take.mock.calls.filter((_, at) => at % 2 === 0).map(([flow]) => flow)
  expect(flows).toEqual(['system:serviceaccount:team:', 'system:serviceaccount:team:', 'anna'])
})

test('a request that ended while it waited keeps no room', async () => {
  const [first, second, third] = [newRequest(), newRequest(), newRequest()]
  await first.take('body', MOST_HELD)
  const waiting = second.take('body', MOST_HELD)
  second.leave()
  first.leave()
  await waiting
  expect(await state(third.take('body', 1))).toBe('has room')
  third.leave()
})

test.each([
  ['a create', 'POST', '', 'application/json', 1],
  ['a get in another form', 'GET', '/large', 'application/yaml', 1],
  ['an update', 'PUT', '/large', 'application/json', 2],
  ['a patch', 'PATCH', '/large', 'application/merge-patch+json', 2],
])('%s of a large object takes room and gives it back', async (_, method, name, type, times) => {
  const left: Promise<void>[] = []
  const take = Room.prototype.take
  vi.spyOn(Room.prototype, 'take').mockImplementation(function (this: Room, ...args) {
    const share = take.apply(this, args) as Share
    const { promise, resolve } = Promise.withResolvers<void>()
    left.push(promise)
    const { leave } = share
    return Object.assign(share, {
      leave: () => {
        leave()
        resolve()
      },
    })
  })
  const data = { text: method + 'x'.repeat(100_000) }
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data })
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type, Accept: method === 'GET' ? type : '*/*' }
  const init = method === 'GET' ? { method, headers } : { method, headers, body }
  const response = await answer(server.request(PATH + name, init))
  expect(response.ok).toBe(true)
  // of the control plane's room, and of the isolate's
  expect(left).toHaveLength(2 * times)
  await Promise.all(left)
})

test('a delete of a collection takes room before it parses a large object', async () => {
  const large = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'large' }, data: { text: 'x'.repeat(50_000) } }
  const other = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  await other.put('', 'configmaps', { ...large, metadata: { name: 'large', namespace: 'default' } })
  const seen: string[] = []
  const { parse } = JSON
  vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    if (text.includes('xxxxx')) seen.push('parsed')
    return parse(text) as unknown
  })
  const take = Room.prototype.take
  vi.spyOn(Room.prototype, 'take').mockImplementation(function (this: Room, ...args) {
    seen.push('took room')
    return take.apply(this, args)
  })
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const response = await answer(other.request(`${PATH}?dryRun=All`, { method: 'DELETE', headers }))
  expect(response.ok).toBe(true)
  expect(seen[0]).toBe('took room')
  expect(seen).toContain('parsed')
})

test('a request has room for what it reads beside its object', async () => {
  const [first, second] = [newRequest(), newRequest('another')]
  await first.take('others', MOST_HELD / 2)
  await second.take('others', MOST_HELD / 2)
  const third = newRequest('a third')
  const waits = third.take('others', 1)
  expect(await state(waits)).toBe('waits')
  first.leave()
  expect(await state(waits)).toBe('has room')
  second.leave()
  third.leave()
})
