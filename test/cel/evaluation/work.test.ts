import { expect, test } from 'vitest'
import { metered, visit, work, WorkExceeded } from '../../../src/cel/evaluation/work.ts'

test('the meter counts work, and five for a visited element', () => {
  expect(
    metered(100, () => {
      work(3)
      visit(4)
      return 'made'
    }),
  ).toEqual({ made: 'made', done: 23 })
})

test('a nested evaluation has its own count', () => {
  const { done } = metered(100, () => {
    work(1)
    expect(metered(10, () => work(7)).done).toBe(7)
    expect(() => metered(10, () => work(11))).toThrow(WorkExceeded)
    work(2)
  })
  expect(done).toBe(3)
})

test('outside of evaluations nothing is counted', () => {
  expect(() => work(Number.MAX_SAFE_INTEGER)).not.toThrow()
})
