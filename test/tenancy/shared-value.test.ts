import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SharedValue } from '../../src/tenancy/shared-value.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('it is made once, for callers at the same time and for later ones', async () => {
  const shared = new SharedValue<string | undefined>()
  const make = vi.fn(async () => Promise.resolve(undefined))
  expect(await Promise.all([shared.get(make), shared.get(make)])).toEqual([undefined, undefined])
  await shared.get(make)
  expect(make).toHaveBeenCalledTimes(1)
})

test('a failure rejects the waiting callers, and the next one makes the value', async () => {
  const shared = new SharedValue<string>()
  const bad = () => Promise.reject(new Error('bad'))
  expect(await Promise.allSettled([shared.get(bad), shared.get(bad)])).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  expect(await shared.get(() => Promise.resolve('good'))).toBe('good')
})

test('where the one who made it was ended in the middle, another makes it', async () => {
  const shared = new SharedValue<string>(1_000)
  void shared.get(() => new Promise(() => {}))
  const waited = Promise.all([1, 2, 3].map((n) => shared.get(() => Promise.resolve(`made by ${n}`))))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(new Set(await waited)).toEqual(new Set(['made by 1']))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await shared.get(() => Promise.resolve('late'))).toBe('made by 1')
})

test('one that counted as lost and was only slow changes nothing', async () => {
  const shared = new SharedValue<string>(1_000)
  const slow = Promise.withResolvers<string>()
  const first = shared.get(() => slow.promise)
  await vi.advanceTimersByTimeAsync(1_000)
  const second = shared.get(() => Promise.resolve('second'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await second).toBe('second')
  slow.resolve('first')
  expect(await first).toBe('second')
})
