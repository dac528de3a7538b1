import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Env } from '../../src/env.ts'
import { Arrivals, MOST_ARRIVED, received } from '../../src/flowcontrol/arrivals.ts'
import { parseQuery } from '../../src/request/query-parameters.ts'
import { requestInfoOf } from '../../src/request/request-info.ts'

const KIB = 1024
/** Milliseconds that a request may take. */
const LONGEST = 60_000

/** Bodies that arrive, by name. `ended` has those that had to make room. */
function arrivalsOf(most: number) {
  const arrivals = new Arrivals(most)
  const ended: string[] = []
  return {
    ended,
    begin: (flow: string, name: string, since = 0) => arrivals.begin(flow, since, () => ended.push(name)),
  }
}

describe('where the bodies that arrive are too large together', () => {
  test('nobody ends up to the bound', () => {
    const { ended, begin } = arrivalsOf(100 * KIB)
    begin('a', 'first').grew(50 * KIB, 1)
    begin('b', 'second').grew(50 * KIB, 1)
    expect(ended).toEqual([])
  })

  test('a slow one of the user who has most of them ends, and not the quick one of another', () => {
    const { ended, begin } = arrivalsOf(100 * KIB)
    const slow = [0, 1, 2].map((n) => begin('many', `slow ${n}`, n))
    for (const one of slow) one.grew(30 * KIB, 10)
    const quick = begin('one', 'quick', 5_000)
    quick.grew(20 * KIB, 5_000)
    expect(ended).toEqual(['slow 0'])
    quick.grew(40 * KIB, 5_010)
    expect(ended).toEqual(['slow 0'])
  })

  test('many users with a slow one each do not end a larger one that comes quickly', () => {
    const { ended, begin } = arrivalsOf(100 * KIB)
    for (let n = 0; n < 9; n++) begin(`user ${n}`, `slow ${n}`).grew(10 * KIB, 10)
    begin('one', 'quick', 10_000).grew(60 * KIB, 10_001)
    expect(ended).toHaveLength(5)
    expect(ended).not.toContain('quick')
  })

  test('those that are complete, and small ones, do not count', () => {
    const { ended, begin } = arrivalsOf(100 * KIB)
    for (let n = 0; n < 100; n++) {
      const one = begin('a', `complete ${n}`)
      one.grew(90 * KIB, 1)
      one.leave()
      one.grew(95 * KIB, 1)
      begin('a', `small ${n}`).grew(8 * KIB, 1)
    }
    expect(ended).toEqual([])
  })

  test('one that ended counts no more, whatever still comes of it', () => {
    const { ended, begin } = arrivalsOf(100 * KIB)
    const first = begin('a', 'first')
    first.grew(80 * KIB, 1_000)
    begin('a', 'second', 1_000).grew(80 * KIB, 1_001)
    for (let n = 0; n < 10; n++) first.grew((90 + n) * KIB, 1_002)
    first.leave()
    expect(ended).toEqual(['first'])
  })
})

describe('a body', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  const request = (tenant: string, name = 'jane', query = '') => ({
    tenant: { uid: tenant },
    user: { name, groups: [], extra: {}, uid: '' },
    clock: () => Date.now(),
    now: new Date(),
    env: {} as Env,
    info: requestInfoOf('POST', '/api/v1/pods', parseQuery('')),
    query: parseQuery(query),
  })
  const never = () => new Promise<never>(() => undefined)

  test('of slow clients makes room for a quick one', async () => {
    const givenUp = vi.fn()
    const slow = Array.from({ length: 8 }, () =>
      received(
        request('slow'),
        (grew) => {
          grew(MOST_ARRIVED / 16)
          return never()
        },
        givenUp,
      ),
    )
    const refused = Promise.allSettled(slow)
    await vi.advanceTimersByTimeAsync(1_000)
    const quick = received(
      request('slow'),
      async (grew) => {
        grew(1_000_000)
        return 'all'
      },
      () => undefined,
    )
    expect(await quick).toBe('all')
    expect(givenUp).toHaveBeenCalledOnce()
    await vi.advanceTimersByTimeAsync(LONGEST)
    const messages = (await refused).map((one) => (one.status === 'rejected' ? (one.reason as Error).message : ''))
    expect(messages.toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => 'Timeout: request did not complete within the allotted timeout'),
      'Too many large requests, please try again later.',
    ])
  })

  test('of one of many ServiceAccounts of a namespace makes room, because they count as one user', async () => {
    const ended: string[] = []
    const begin = (name: string, size: number) =>
      received(
        request('accounts', name),
        (grew) => {
          grew(size)
          return never()
        },
        () => ended.push(name),
      ).catch(() => undefined)
    const all = [begin('jane', MOST_ARRIVED / 8)]
    for (let n = 0; n < 6; n++) all.push(begin(`system:serviceaccount:team:${n}`, MOST_ARRIVED / 16))
    await vi.advanceTimersByTimeAsync(1_000)
    all.push(begin('john', MOST_ARRIVED / 32))
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toEqual(['system:serviceaccount:team:0'])
    await vi.advanceTimersByTimeAsync(LONGEST)
    await Promise.all(all)
  })

  test.each([
    ['', LONGEST],
    ['?timeout=2s', 2_000],
  ])('that takes too long is 504: %j', async (query, milliseconds) => {
    const givenUp = vi.fn()
    const refused = expect(received(request('one', 'jane', query), never, givenUp)).rejects.toMatchObject({
      status: { code: 504, reason: 'Timeout' },
    })
    await vi.advanceTimersByTimeAsync(milliseconds)
    await refused
    expect(givenUp).toHaveBeenCalledOnce()
  })
})
