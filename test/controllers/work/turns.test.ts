import { expect, test } from 'vitest'
import { Turns } from '../../../src/controllers/work/turns.ts'

const step = () => new Promise<void>((resolve) => setTimeout(resolve))

test('work of one name waits for what came before it, also where that failed; other names do not', async () => {
  const turns = new Turns()
  const done: string[] = []
  const work =
    (text: string, fails = false) =>
    async () => {
      done.push(`${text} begins`)
      await step()
      done.push(`${text} ends`)
      if (fails) throw new Error(text)
      return text
    }
  const results = await Promise.allSettled([
    turns.run('a', work('a1', true)),
    turns.run('a', work('a2')),
    turns.run('b', work('b1')),
    turns.run('a', work('a3')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(done.filter((text) => text.startsWith('a'))).toEqual([
    'a1 begins',
    'a1 ends',
    'a2 begins',
    'a2 ends',
    'a3 begins',
    'a3 ends',
  ])
  expect(done.indexOf('b1 begins')).toBeLessThan(done.indexOf('a1 ends'))
})

test('nothing is kept of what is done', async () => {
  const turns = new Turns()
  await Promise.all([turns.run('a', step), turns.run('a', step), turns.run('b', step)])
  expect(turns.size).toBe(0)
})
