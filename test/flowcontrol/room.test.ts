import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Room } from '../../src/flowcontrol/room.ts'
import type { Share } from '../../src/flowcontrol/room.ts'

const PATIENCE = 15_000

function roomOf(most: number, mostWaiting = 1_000) {
  const room = new Room(most, mostWaiting)
  return {
    take: (flow: string, size: number, gone?: AbortSignal) => room.take(flow, size, Date.now(), PATIENCE, gone),
  }
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** The present state of a value: in, refused or waiting. */
async function now(taken: Share | undefined | Promise<Share | undefined>): Promise<string> {
  const name = (found: Share | undefined) => (found === undefined ? 'refused' : `has ${found.size}`)
  return taken instanceof Promise
    ? Promise.race([taken.then(name), vi.advanceTimersByTimeAsync(0).then(() => 'waits')])
    : name(taken)
}

test('values have room up to its size, and the last one may go beyond it', async () => {
  const room = roomOf(10)
  expect(await now(room.take('a', 9))).toBe('has 9')
  expect(await now(room.take('a', 50))).toBe('has 50')
  expect(await now(room.take('a', 1))).toBe('waits')
})

test('a share that is left lets in those who wait, once', async () => {
  const room = roomOf(10)
  const first = room.take('a', 10) as Share
  const waiting = [8, 8, 8].map((size) => room.take('a', size))
  first.leave()
  first.leave()
  expect(await Promise.all(waiting.map(now))).toEqual(['has 8', 'has 8', 'waits'])
})

test('users who wait take turns', async () => {
  const room = roomOf(1)
  const first = room.take('many', 1) as Share
  const many = Array.from({ length: 100 }, () => room.take('many', 1))
  const other = room.take('other', 1)
  let left: Share | undefined = first
  let turns = 0
  while ((await now(other)) === 'waits') {
    left?.leave()
    turns++
    const served: (Share | undefined)[] = []
    for (const one of many) if ((await now(one)).startsWith('has')) served.push(await one)
    left = served.at(-1)
    for (const one of served) one?.leave()
  }
  expect(turns).toBeLessThan(10)
})

test('whoever waits too long is refused, and takes nothing later', async () => {
  const room = roomOf(1)
  const first = room.take('a', 1) as Share
  const second = room.take('a', 1)
  await vi.advanceTimersByTimeAsync(PATIENCE)
  expect(await now(second)).toBe('refused')
  first.leave()
  expect(await now(room.take('a', 1))).toBe('has 1')
})

test('a queue that is full refuses', async () => {
  const room = roomOf(1)
  void room.take('a', 1)
  const states = await Promise.all(Array.from({ length: 400 }, () => now(room.take('a', 1))))
  expect(states.filter((state) => state === 'waits').length).toBe(6 * 50)
  expect(states.at(-1)).toBe('refused')
})

test('a share of a request that the engine dropped counts as left after two minutes', async () => {
  const room = roomOf(1)
  const lost = room.take('a', 1) as Share
  await vi.advanceTimersByTimeAsync(121_000)
  expect(await now(room.take('a', 1))).toBe('has 1')
  lost.leave()
  expect(await now(room.take('a', 1))).toBe('waits')
})

test('a share of a request that says that it is there counts, however long it takes', async () => {
  const room = roomOf(2)
  const [slow] = [room.take('a', 1) as Share, room.take('a', 1)]
  for (let minute = 0; minute < 5; minute++) {
    await vi.advanceTimersByTimeAsync(60_000)
    slow.renew(Date.now())
  }
  expect(await now(room.take('a', 1))).toBe('has 1')
  const next = room.take('a', 1)
  expect(await now(next)).toBe('waits')
  slow.leave()
  // what was left is not taken again
  slow.renew(Date.now())
  expect(await now(next)).toBe('has 1')
})

test('what waits has a bound, of which one user has half', async () => {
  const room = roomOf(1, 100)
  void room.take('a', 1)
  const states = async (flow: string, ...sizes: number[]) =>
    Promise.all(sizes.map((size) => now(room.take(flow, size))))
  expect(await states('a', 30, 30, 1)).toEqual(['waits', 'waits', 'refused'])
  expect(await states('b', 30, 30)).toEqual(['waits', 'waits'])
  expect(await states('c', 1)).toEqual(['refused'])
  await vi.advanceTimersByTimeAsync(PATIENCE)
  expect(await states('a', 60, 1)).toEqual(['waits', 'refused'])
})

test('a client that hangs up waits no longer', async () => {
  const room = roomOf(1, 10)
  const first = room.take('a', 1) as Share
  const gone = new AbortController()
  const waiting = room.take('a', 10, gone.signal)
  expect(await now(room.take('a', 1))).toBe('refused')
  gone.abort()
  expect(await now(waiting)).toBe('refused')
  const other = room.take('a', 1)
  first.leave()
  expect(await now(other)).toBe('has 1')
})
