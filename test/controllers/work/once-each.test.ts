import { expect, test } from 'vitest'
import { onceEach } from '../../../src/controllers/work/once-each.ts'

test('a value that several works of a batch need is read once, and anew for the next batch', async () => {
  let reads = 0
  const read = async () => ++reads
  const once = onceEach()
  expect(await Promise.all([once('a', read), once('a', read), once('b', read)])).toEqual([1, 1, 2])
  expect(await once('a', read)).toBe(1)
  expect(await onceEach()('a', read)).toBe(3)
})

test('every caller that shares a failed read gets its error', async () => {
  const once = onceEach()
  const read = async () => {
    throw new Error('no storage')
  }
  const outcomes = await Promise.allSettled([once('a', read), once('a', read)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
