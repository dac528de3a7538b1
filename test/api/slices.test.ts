import { expect, test } from 'vitest'
import { SLICE, slicesOf } from '../../src/api/slices.ts'

test.each([0, 1, SLICE, SLICE + 1, 1_000])(
  '%i items, all of them in order, with a turn between two slices',
  async (count) => {
    const items = Array.from({ length: count }, (_, n) => n)
    let turns = 0
    const slices = await Array.fromAsync(slicesOf(items, async () => void turns++))
    expect(slices.flat()).toEqual(items)
    for (const slice of slices) expect(slice.length).toBeLessThanOrEqual(SLICE)
    expect(turns).toBe(Math.max(0, Math.ceil(count / SLICE) - 1))
  },
)

test('others have their turn before the work is done', async () => {
  const order: string[] = []
  const work = (async () => {
    for await (const slice of slicesOf(Array.from({ length: 3 * SLICE }, (_, n) => n))) order.push(`slice ${slice[0]}`)
  })()
  setTimeout(() => order.push('other'), 0)
  await work
  expect(order.indexOf('other')).toBeLessThan(order.length - 1)
})
