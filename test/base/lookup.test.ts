import { expect, test } from 'vitest'
import { addTo, firstBy, lastBy, repeatsIn } from '../../src/base/lookup.ts'

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

test('items of one key are in one list, in their order', () => {
  const lists = new Map<string, number[]>()
  for (const [at, key] of ['a', 'b', 'a'].entries()) addTo(lists, key, at)
  expect([...lists]).toEqual([
    ['a', [0, 2]],
    ['b', [1]],
  ])
})
