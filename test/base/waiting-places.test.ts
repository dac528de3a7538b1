import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WaitingPlaces } from '../../src/base/waiting-places.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = (): Promise<never> => new Promise(() => {})
const nobody = {}
const isRefused = { status: { code: 429, details: { retryAfterSeconds: 1 } } }

test('so many wait at once, and a place is free when its work is done, well or not', async () => {
  const places = new WaitingPlaces(2, 1_000)
  const first = Promise.withResolvers<string>()
  const held = places.hold(nobody, () => first.promise)
  const failing = Promise.withResolvers<string>()
  const failed = places.hold(nobody, () => failing.promise)
  await expect(places.hold(nobody, never)).rejects.toMatchObject(isRefused)
  first.resolve('done')
  expect(await held).toBe('done')
  expect(await places.hold(nobody, () => Promise.resolve('next'))).toBe('next')
  failing.reject(new Error('bad'))
  await expect(failed).rejects.toThrow('bad')
  void places.hold(nobody, never)
  void places.hold(nobody, never)
  await expect(places.hold(nobody, never)).rejects.toMatchObject(isRefused)
})

test('a place whose request was ended in the middle is free after a while', async () => {
  const places = new WaitingPlaces(1, 1_000)
  void places.hold(nobody, never)
  await vi.advanceTimersByTimeAsync(999)
  await expect(places.hold(nobody, never)).rejects.toMatchObject(isRefused)
  await vi.advanceTimersByTimeAsync(1)
  expect(await places.hold(nobody, () => Promise.resolve('served'))).toBe('served')
})

test('the work goes on by itself, and only its caller gets its error', async () => {
  const kept: Promise<unknown>[] = []
  const waiting = { waitUntil: (work: Promise<unknown>) => void kept.push(work) }
  const places = new WaitingPlaces(1, 1_000)
  await expect(places.hold(waiting, () => Promise.reject(new Error('bad')))).rejects.toThrow('bad')
  expect(await Promise.all(kept)).toEqual([undefined])
})
