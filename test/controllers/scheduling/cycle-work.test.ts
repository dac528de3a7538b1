// Work of a cycle of the scheduler, in steps.
import { expect, test } from 'vitest'
import { atOnce } from '../../../src/base/slices.ts'
import { CycleWork } from '../../../src/controllers/scheduling/cycle-work.ts'

const times = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test.each([0, 1, 2, 3, 7, 8, 9, 100])('sorts %i items, and keeps the order of equal ones', (count) => {
  const items = times(count).map((at) => ({ at, value: (at * 37) % 11 }))
  const compare = (a: { value: number }, b: { value: number }) => a.value - b.value
  expect(atOnce(new CycleWork().sorted(items, compare))).toEqual(items.toSorted(compare))
})

test('a long list is sorted in many steps', () => {
  const work = new CycleWork()
  const steps = work.sorted(times(10_000), (a, b) => b - a)
  let count = 0
  for (let before = 0; steps.next(true).done !== true; before = work.total) {
    expect(work.total - before).toBeLessThanOrEqual(4_000)
    count++
  }
  expect(count).toBeGreaterThan(20)
})
