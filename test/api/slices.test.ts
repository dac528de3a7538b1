import { describe, expect, test } from 'vitest'
import { atOnce, inTurns, SLICE, slicesOf, turnOfHeavy, turnOfOthers } from '../../src/api/slices.ts'
import type { Steps } from '../../src/api/slices.ts'

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

describe('steps', () => {
  function* counting(seen: number[]): Steps<string> {
    for (const step of [1, 2, 3]) {
      seen.push(step)
      yield
    }
    return 'done'
  }

  test('run at once without a turn', () => {
    const seen: number[] = []
    expect(atOnce(counting(seen))).toBe('done')
    expect(seen).toEqual([1, 2, 3])
  })

  test('run with a turn between two of them', async () => {
    const seen: number[] = []
    const turn = async () => void seen.push(0)
    expect(await inTurns(counting(seen), turn)).toBe('done')
    expect(seen).toEqual([1, 0, 2, 0, 3, 0])
  })

  test('throw what a step throws', async () => {
    const failing = function* (): Steps<void> {
      yield
      throw new Error('no')
    }
    expect(() => atOnce(failing())).toThrow('no')
    await expect(inTurns(failing(), async () => {})).rejects.toThrow('no')
  })
})

describe('heavy steps', () => {
  test('begin one at a time, in their order, and everybody has a turn between two of them', async () => {
    const order: string[] = []
    let isOver = false
    const others = (async () => {
      for (; !isOver; await turnOfOthers()) order.push('others')
    })()
    const step = async (n: number) => {
      await turnOfHeavy()
      order.push(`step ${n}`)
    }
    await Promise.all([1, 2, 3, 4].map(step))
    isOver = true
    await others
    const steps = order.filter((one) => one !== 'others')
    expect(steps).toEqual(['step 1', 'step 2', 'step 3', 'step 4'])
    for (const [at, one] of order.entries()) if (one !== 'others') expect(order[at - 1]).toBe('others')
  })

  test('wait for nobody whose turn never comes', async () => {
    let turns = 0
    void turnOfHeavy(() => new Promise(() => {}))
    await turnOfHeavy(async () => void turns++)
    expect(turns).toBe(1)
  })
})

test('who others come ahead of again and again goes on some time', async () => {
  let turns = 0
  await turnOfHeavy(async () => {
    turns++
    await turnOfHeavy(async () => {}) // another one begins
  })
  expect(turns).toBe(500)
})
