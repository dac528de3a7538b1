import { expect, test } from 'vitest'
import { leastOf, mostOf } from '../../src/base/extremes.ts'

test('numbers of any number have a least and a most', () => {
  const many = Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 300_000)
  expect([leastOf(many), mostOf(many)]).toEqual([0, 299_999])
  expect([leastOf([]), mostOf([]), mostOf([-5], 0)]).toEqual([Infinity, -Infinity, 0])
  expect([leastOf([1, NaN]), mostOf([NaN, 1])]).toEqual([NaN, NaN])
})
