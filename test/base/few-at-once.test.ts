import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { FewAtOnce } from '../../src/base/few-at-once.ts'

/** Runs items of these sizes. @returns the most that were made at the same time, in units of text */
async function mostHeld(items: FewAtOnce, sizes: readonly number[]): Promise<number> {
  let held = 0
  let most = 0
  const made = sizes.map((size) =>
    items.run(size, async () => {
      most = Math.max(most, (held += size))
      await pause(2)
      held -= size
    }),
  )
  await Promise.all(made)
  return most
}

test.each<[string, number[], number]>([
  ['items that fit together are made together', [40, 50], 90],
  ['the last one may go beyond the bound', [60, 60], 120],
  ['what comes then waits', [60, 60, 60, 60, 60], 120],
  ['an item that is larger than the bound is made alone', [500, 500, 500], 500],
])('%s', async (_what, sizes, most) => {
  expect(await mostHeld(new FewAtOnce(100), sizes)).toBe(most)
})

test('a failed item makes room', async () => {
  const items = new FewAtOnce(100)
  await expect(items.run(100, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await items.run(100, async () => 'made')).toBe('made')
})

test('an item that the engine gave up makes room after a while', async () => {
  let now = 0
  const items = new FewAtOnce(100, 60_000, () => now)
  void items.run(100, () => new Promise(() => {}))
  const second = items.run(100, async () => 'made')
  expect(await Promise.race([second, pause(20)])).toBeUndefined()
  now = 60_000
  expect(await second).toBe('made')
})

test('an item that takes long makes no room before it is made', async () => {
  vi.useFakeTimers()
  try {
    const items = new FewAtOnce(100, 60_000, Date.now)
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = items.run(100, () => promise)
    let isSecond = false
    const second = items.run(100, async () => (isSecond = true))
    await vi.advanceTimersByTimeAsync(300_000)
    expect(isSecond).toBe(false)
    resolve('made')
    await vi.advanceTimersByTimeAsync(1_000)
    expect([await first, await second]).toEqual(['made', true])
  } finally {
    vi.useRealTimers()
  }
})

test('an item that waits is made as soon as there is room', async () => {
  vi.useFakeTimers()
  try {
    const items = new FewAtOnce(100)
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = items.run(100, () => promise)
    const second = items.run(100, async () => 'made')
    resolve()
    await first
    // no timer runs meanwhile
    expect(await second).toBe('made')
  } finally {
    vi.useRealTimers()
  }
})

test('one that was dropped while it waited keeps none behind it waiting', async () => {
  const items = new FewAtOnce(100)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = items.run(100, () => promise)
  let isDropped = false
  void items
    .run(
      100,
      async () => 'never',
      () => {
        // the engine runs nothing more of a request that it has dropped
        isDropped = true
        throw new Error('dropped')
      },
    )
    .catch(() => {})
  const third = items.run(100, async () => 'made')
  resolve()
  await first
  expect(await third).toBe('made')
  expect(isDropped).toBe(true)
})

test('an item whose client has gone waits no longer', async () => {
  const items = new FewAtOnce(100)
  void items.run(100, () => new Promise(() => {}))
  let hasGone = false
  const made = vi.fn()
  const waiting = items.run(100, made, () => hasGone)
  expect(await Promise.race([waiting, pause(20)])).toBeUndefined()
  hasGone = true
  await expect(waiting).rejects.toThrow('the client is gone')
  expect(made).not.toHaveBeenCalled()
})
