import { expect, test } from 'vitest'
import { firstBy, lastBy, repeatsIn } from '../../src/base/lookup.ts'

test('repeats are the places of what stood before', () => {
  expect([...repeatsIn(['a', 'b', 'a', 'c', 'a', 'b'])]).toEqual([2, 4, 5])
  expect(repeatsIn([]).size).toBe(0)
})

test('of elements with one key, the first or the last', () => {
  const items = [
    { name: 'a', at: 0 },
    { name: 'b', at: 1 },
    { name: 'a', at: 2 },
  ]
  expect(firstBy(items, ({ name }) => name).get('a')?.at).toBe(0)
  expect(lastBy(items, ({ name }) => name).get('a')?.at).toBe(2)
  expect(firstBy(items, ({ name }) => name).get('c')).toBeUndefined()
})
