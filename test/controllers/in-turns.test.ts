import { expect, test } from 'vitest'
import { inTurns } from '../../src/controllers/in-turns.ts'

test('requests are served between the beginnings of any two pieces of work', async () => {
  const order: string[] = []
  const work = async (item: string) => {
    order.push(item)
    setTimeout(() => order.push(`request after ${item}`), 0)
  }
  await inTurns(['a', 'b', 'c'], work)
  expect(order).toEqual(['a', 'request after a', 'b', 'request after b', 'c'])
})

test('pieces of work run beside each other', async () => {
  let open = 0
  let most = 0
  let release: () => void = () => {}
  const all = new Promise<void>((resolve) => (release = resolve))
  await inTurns([1, 2, 3], async () => {
    most = Math.max(most, ++open)
    if (open === 3) release()
    await all
    open--
  })
  expect(most).toBe(3)
})

test('a failure is told when all has begun', async () => {
  let begun = 0
  const failing = inTurns([1, 2, 3], async (item) => {
    begun++
    if (item === 1) throw new Error('broken')
  })
  await expect(failing).rejects.toThrow('broken')
  expect(begun).toBe(3)
})
