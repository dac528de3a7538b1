import { describe, expect, test } from 'vitest'
import {
  atOnce,
  heavyWork,
  inTurns,
  LARGE,
  SLICE,
  slicesByLength,
  spend,
  TURN,
  turnOfHeavy,
  turnOfOthers,
} from '../../src/base/slices.ts'
import type { HeavyWork } from '../../src/base/heavy-line.ts'
import type { Steps } from '../../src/base/slices.ts'

describe('slices', () => {
  const lengths = (...of: number[]) => [...slicesByLength(of, (length) => length)].map((slice) => [...slice])

  test('have a bound of items', () => {
    const slices = lengths(...Array.from({ length: 3 * SLICE + 1 }, () => 1))
    expect(slices.map(({ length }) => length)).toEqual([SLICE, SLICE, SLICE, 1])
  })

  test('and of characters, but for what is longer alone', () =>
    expect(lengths(30_000, 40_000, 1, LARGE + 1, 2, 3)).toEqual([[30_000], [40_000, 1], [LARGE + 1], [2, 3]]))

  test('are one, though it is empty', () => expect(lengths()).toEqual([[]]))
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
    expect(turns).toBeLessThan(5)
  })

  test('of several flows take turns', async () => {
    const order: string[] = []
    const step = async (flow: string, work: HeavyWork) => {
      await turnOfHeavy(turnOfOthers, work)
      order.push(flow)
    }
    const many = [1, 2, 3, 4].map(() => heavyWork('many'))
    const few = heavyWork('few')
    await Promise.all([...many.map((work) => step('many', work)), step('few', few)])
    expect(order).toEqual(['many', 'few', 'many', 'many', 'many'])
  })

  test('of one work go on at once while there is room in its turn', async () => {
    let turns = 0
    const turn = async () => void turns++
    const work = heavyWork('one')
    const seen: number[] = []
    for (let step = 0; step < 6; step++) {
      await turnOfHeavy(turn, work, TURN / 8)
      seen.push(turns)
      if (step === 1) spend(TURN / 2)
    }
    expect(seen).toEqual([1, 1, 1, 2, 2, 2])
    // another work has a turn of its own
    await turnOfHeavy(turn, heavyWork('one'), TURN / 2)
    expect(turns).toBe(3)
  })

  test('that are short share a turn, up to its items', async () => {
    const order: string[] = []
    let isOver = false
    const others = (async () => {
      for (; !isOver; await turnOfOthers()) if (order.at(-1) !== 'others') order.push('others')
    })()
    const step = async (n: number) => {
      await turnOfHeavy(turnOfOthers, heavyWork(), TURN / 8)
      order.push(`step ${n}`)
      spend(TURN / 4)
    }
    await Promise.all([1, 2, 3, 4, 5, 6].map(step))
    isOver = true
    await others
    const together = order
      .join()
      .split('others')
      .map((steps) => steps.match(/step/g)?.length ?? 0)
    expect(together.reduce((sum, steps) => sum + steps)).toBe(6)
    expect(Math.max(...together)).toBe(3)
  })
})

test('work that others overtake again and again goes on some time', async () => {
  let turns = 0
  await turnOfHeavy(async () => {
    turns++
    await turnOfHeavy(async () => {}) // another heavy turn begins
  })
  expect(turns).toBe(10_000)
})
