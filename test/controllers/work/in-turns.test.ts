import { expect, test } from 'vitest'
import { eachPart, kept } from '../../../src/base/parts.ts'
import { turnOfOthers } from '../../../src/base/slices.ts'
import { MOST, PLANNED, eachInTurns, inTurns, planned } from '../../../src/controllers/work/in-turns.ts'

/** Turns without an end. */
const endless = { room: async () => {}, turn: turnOfOthers }

test('each piece of work begins in a turn that has time left', async () => {
  const order: string[] = []
  const room = async () => void order.push('room')
  await inTurns([1, 2], async (item) => void order.push(`work ${item}`), { ...endless, room })
  expect(order).toEqual(['room', 'work 1', 'room', 'work 2'])
})

test('pieces of work run beside each other', async () => {
  let open = 0
  let most = 0
  let release: () => void = () => {}
  const all = new Promise<void>((resolve) => (release = resolve))
  await inTurns(
    [1, 2, 3],
    async () => {
      most = Math.max(most, ++open)
      if (open === 3) release()
      await all
      open--
    },
    endless,
  )
  expect(most).toBe(3)
})

test('a failure is thrown when all has begun', async () => {
  let begun = 0
  const failing = inTurns(
    [1, 2, 3],
    async (item) => {
      begun++
      if (item === 1) throw new Error('broken')
    },
    endless,
  )
  await expect(failing).rejects.toThrow('broken')
  expect(begun).toBe(3)
})

test('no more than a few are under way at a time', async () => {
  let open = 0
  let most = 0
  await inTurns(
    Array.from({ length: 5 * MOST }, (_, n) => n),
    async () => {
      most = Math.max(most, ++open)
      for (let turn = 0; turn < MOST; turn++) await turnOfOthers()
      open--
    },
    endless,
  )
  expect(most).toBe(MOST)
})

test('items come one after the other, a slice a turn', async () => {
  const seen: (number | 'turn')[] = []
  const items = Array.from({ length: 130 }, (_, n) => n)
  for await (const n of eachInTurns(items, async () => void seen.push('turn'))) seen.push(n)
  expect(seen.flatMap((one, at) => (one === 'turn' ? [at] : []))).toEqual([64, 129])
  expect(seen.filter((one) => one !== 'turn')).toEqual(items)
})

test.each([
  ['few objects is made at once', 64, 0],
  ['many is made in parts', 5_000, 78],
])('a plan over %s', async (_, count, least) => {
  const items = Array.from({ length: count }, (_, n) => n)
  let turns = 0
  const sum = (): number => {
    const so = kept(items, () => ({ sum: 0 }))
    eachPart(items, (n) => void (so.sum += n), PLANNED)
    return so.sum
  }
  expect(await planned(items, sum, async () => void turns++)).toBe((count * (count - 1)) / 2)
  expect(turns).toBeGreaterThanOrEqual(least)
  expect(turns).toBeLessThan(least + 3)
})
