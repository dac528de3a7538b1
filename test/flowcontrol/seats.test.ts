import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LevelLimits } from '../../src/flowcontrol/level-limits.ts'
import { Seats } from '../../src/flowcontrol/seats.ts'
import type { PriorityLevel, Refusal, Seat } from '../../src/flowcontrol/seats.ts'
import { dealtQueues } from '../../src/flowcontrol/shuffle-shard.ts'

const limited = (nominal: number, more: Partial<Extract<LevelLimits, { kind: 'limited' }>> = {}): LevelLimits => ({
  kind: 'limited',
  nominal,
  lower: nominal,
  upper: nominal,
  ...more,
})
const queuing = { queues: 8, handSize: 1, queueLengthLimit: 3 }

function seatsOf(total: number, limits: Record<string, LevelLimits>) {
  const seats = new Seats(() => Date.now())
  seats.configure(new Map(Object.entries(limits)), total)
  const level = (name: string): PriorityLevel => seats.level(name)!
  return { seats, level, take: (name: string, flow = 'f') => seats.take(level(name), () => flow, 15_000) }
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** The present state of a request: seated, refused or waiting. */
async function now(taken: Seat | Refusal | Promise<Seat | Refusal>): Promise<string> {
  const name = (found: Seat | Refusal) => (typeof found === 'string' ? found : `seat in ${found.level.name}`)
  return taken instanceof Promise
    ? Promise.race([taken.then(name), vi.advanceTimersByTimeAsync(0).then(() => 'waits')])
    : name(taken)
}

test('a free seat is taken at once, without a promise', () => {
  const { take } = seatsOf(2, { a: limited(2) })
  expect(take('a')).not.toBeInstanceOf(Promise)
})

test('without a seat a level that rejects refuses, and one that queues lets wait', async () => {
  const { take } = seatsOf(2, { rejects: limited(1), queues: limited(1, { queuing }) })
  expect([await now(take('rejects')), await now(take('rejects'))]).toEqual(['seat in rejects', 'concurrency-limit'])
  expect([await now(take('queues')), await now(take('queues'))]).toEqual(['seat in queues', 'waits'])
})

test('a seat that is left goes to the first waiter', async () => {
  const { seats, level, take } = seatsOf(1, { a: limited(1, { queuing }) })
  const first = take('a') as Seat
  const second = take('a')
  seats.leave(first)
  expect(await now(second)).toBe('seat in a')
  expect([level('a').taken, level('a').waiting.length]).toEqual([1, 0])
})

test('a waiter goes on when requests that have arrived meanwhile were read', async () => {
  const { seats, take } = seatsOf(2, { many: limited(1, { queuing }), few: limited(1, { queuing }) })
  const served: string[] = []
  const serve = async (name: string): Promise<void> => {
    const seat = (await take(name)) as Seat
    served.push(name)
    seats.leave(seat)
  }
  for (let n = 0; n < 3; n++) void serve('many')
  setTimeout(() => void serve('few'), 0)
  await vi.advanceTimersByTimeAsync(10)
  expect(served).toEqual(['many', 'few', 'many', 'many'])
})

test('lent seats come back, up to the share of the level that lent them, although the borrower wants more', async () => {
  const { seats, level, take } = seatsOf(4, {
    greedy: limited(1, { upper: 9, queuing }),
    lender: limited(3, { lower: 0, queuing }),
  })
  const borrowed = [1, 2, 3, 4].map(() => take('greedy') as Seat)
  for (const flow of 'abcd') void take('greedy', flow)
  for (const flow of 'abcd') void take('lender', flow)
  const shares = borrowed.map((seat) => {
    seats.leave(seat)
    return [level('greedy').taken, level('lender').taken]
  })
  expect(shares).toEqual([
    [3, 1],
    [2, 2],
    [1, 3],
    [1, 3],
  ])
})

test('a queue that is full refuses; another flow has a queue of its own', async () => {
  const { take } = seatsOf(1, { a: limited(1, { queuing }) })
  void take('a')
  const busy = ['one', 'two', 'three', 'four'].map(() => take('a', 'busy'))
  expect(await Promise.all(busy.map(now))).toEqual(['waits', 'waits', 'waits', 'queue-full'])
  const other = ['x', 'y', 'z', 'w'].find((flow) => dealtQueues(flow, 8, 1)[0] !== dealtQueues('busy', 8, 1)[0])!
  expect(await now(take('a', other))).toBe('waits')
})

test('flows take turns, however many wait in one of them', async () => {
  const { seats, take } = seatsOf(1, { a: limited(1, { queuing: { ...queuing, queueLengthLimit: 50 } }) })
  const order: string[] = []
  let seat = take('a') as Seat
  const other = ['x', 'y', 'z', 'w'].find((flow) => dealtQueues(flow, 8, 1)[0] !== dealtQueues('busy', 8, 1)[0])!
  for (const flow of ['busy', 'busy', 'busy', 'busy', other, other])
    void (take('a', flow) as Promise<Seat>).then((found) => {
      order.push(flow === 'busy' ? 'busy' : 'other')
      seat = found
    })
  for (let n = 0; n < 6; n++) {
    seats.leave(seat)
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(order).toEqual(['busy', 'other', 'busy', 'other', 'busy', 'busy'])
})

test('no request waits longer than its patience', async () => {
  const { level, take } = seatsOf(1, { a: limited(1, { queuing }) })
  void take('a')
  const waiting = take('a')
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await waiting).toBe('time-out')
  expect(level('a').waiting.length).toBe(0)
})

describe('borrowing', () => {
  test('seats that are lent and empty may be used by another level, up to its limit', async () => {
    const { take } = seatsOf(10, { a: limited(5, { upper: 8 }), b: limited(5, { lower: 1 }) })
    const taken = await Promise.all(Array.from({ length: 10 }, () => now(take('a'))))
    expect(taken.filter((one) => one === 'seat in a')).toHaveLength(8)
  })

  test('seats that are not lent stay', async () => {
    const { take } = seatsOf(10, { a: limited(5, { upper: 99 }), b: limited(5, { lower: 4 }) })
    const taken = await Promise.all(Array.from({ length: 10 }, () => now(take('a'))))
    expect(taken.filter((one) => one === 'seat in a')).toHaveLength(6)
    expect(await Promise.all(Array.from({ length: 5 }, () => now(take('b'))))).toEqual([
      ...Array.from({ length: 4 }, () => 'seat in b'),
      'concurrency-limit',
    ])
  })

  test('a seat that comes back serves a waiter in another level', async () => {
    const { seats, take } = seatsOf(2, { a: limited(1, { upper: 2 }), b: limited(1, { lower: 0, queuing }) })
    const borrowed = [take('a'), take('a')] as Seat[]
    const waiting = take('b')
    expect(await now(waiting)).toBe('waits')
    seats.leave(borrowed[0]!)
    expect(await now(waiting)).toBe('seat in b')
  })

  test('exempt requests are always served, and take nothing from others', async () => {
    const { take } = seatsOf(1, { exempt: { kind: 'exempt' }, a: limited(1) })
    for (let n = 0; n < 100; n++) expect(await now(take('exempt'))).toBe('seat in exempt')
    expect(await now(take('a'))).toBe('seat in a')
  })
})

test('a seat whose request was given up by the engine is free again after a minute', async () => {
  const { take } = seatsOf(1, { a: limited(1) })
  void take('a')
  expect(await now(take('a'))).toBe('concurrency-limit')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await now(take('a'))).toBe('seat in a')
})

test('seats of requests that were given up are not counted for ever, though nobody asks for another', async () => {
  const { seats, level, take } = seatsOf(4, { exempt: { kind: 'exempt' }, a: limited(4) })
  void take('exempt')
  void take('a')
  await vi.advanceTimersByTimeAsync(59_999)
  const young = take('a') as Seat
  seats.reclaimLost()
  expect([seats.count, level('exempt').taken, level('a').taken]).toEqual([3, 1, 2])
  await vi.advanceTimersByTimeAsync(1)
  seats.reclaimLost()
  expect([seats.count, level('exempt').taken, level('a').taken]).toEqual([1, 0, 1])
  seats.leave(young)
  expect([seats.count, level('a').taken]).toEqual([0, 0])
})

test('new limits count at once, for waiters too', async () => {
  const { seats, take } = seatsOf(1, { a: limited(1, { queuing }) })
  void take('a')
  const waiting = take('a')
  seats.configure(new Map([['a', limited(2, { queuing })]]), 2)
  expect(await now(waiting)).toBe('seat in a')
})

test('whatever is taken and left, no seat is lost and none is used twice', () => {
  const limits = { a: limited(4, { lower: 2, upper: 8 }), b: limited(4, { lower: 3, upper: 5 }), c: limited(2) }
  const { seats, level, take } = seatsOf(10, limits)
  const held: Seat[] = []
  let state = 1
  const random = (n: number) => (state = (state * 48_271) % 2_147_483_647) % n
  for (let n = 0; n < 10_000; n++) {
    if (random(2) === 0 && held.length > 0) seats.leave(held.splice(random(held.length), 1)[0]!)
    else {
      const found = take('abc'[random(3)]!)
      if (typeof found === 'object' && !(found instanceof Promise)) held.push(found)
    }
    expect(held.length).toBeLessThanOrEqual(10)
    expect(level('a').taken + level('b').taken + level('c').taken).toBe(held.length)
  }
  for (const seat of held) seats.leave(seat)
  expect(['a', 'b', 'c'].map((name) => level(name).taken)).toEqual([0, 0, 0])
  const alone = Array.from({ length: 9 }, () => take('a')).filter((found) => typeof found === 'object')
  expect(alone).toHaveLength(5) // 10 seats, less those that b and c reserve
})

describe('a request that was given up leaves its seat to nobody', () => {
  test('seats are scarce from a quarter on: of the level, or of all', () => {
    const { seats, level, take } = seatsOf(40, { a: limited(8), b: limited(32), free: { kind: 'exempt' } })
    const scarce = (name: string) => seats.isScarce(level(name))
    void take('a')
    void take('a')
    expect([scarce('a'), scarce('b'), scarce('free')]).toEqual([false, false, false])
    void take('a')
    expect([scarce('a'), scarce('b')]).toEqual([true, false])
    for (let n = 0; n < 9; n++) void take('b')
    expect([scarce('b'), scarce('free')]).toEqual([true, false])
  })

  test('onLeave is called once when a seat is left', () => {
    const { seats, take } = seatsOf(1, { a: limited(1) })
    const seat = take('a') as Seat
    const left = vi.fn<() => void>()
    seat.onLeave = left
    seats.leave(seat)
    seats.leave(seat)
    expect(left).toHaveBeenCalledTimes(1)
  })

  test('also where seats have no limit, those that nobody left are forgotten a minute later', () => {
    const { seats, level, take } = seatsOf(1, { free: { kind: 'exempt' } })
    for (let n = 0; n < 10_000; n++) {
      void take('free')
      vi.advanceTimersByTime(100)
    }
    expect(seats.count).toBeLessThanOrEqual(602)
    expect(level('free').taken).toBe(seats.count)
  })
})
