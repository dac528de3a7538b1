import { describe, expect, test } from 'vitest'
import fc from '../chance.ts'
import { medianInterval } from './median-interval.ts'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

describe('ranks of the sign test', () => {
  // as in tables of the sign test: for n values, the k-th from either end bounds the median with 95 % confidence
  test.each([
    [6, 1],
    [8, 1],
    [9, 2],
    [15, 4],
    [20, 6],
    [25, 8],
    [50, 18],
    [100, 40],
  ])('of %i values the %i-th from both ends', (count, rank) => {
    expect(medianInterval(upTo(count))).toEqual([rank, count + 1 - rank])
  })

  test('thousands of values', () => {
    const [from, to] = medianInterval(upTo(5_000))
    expect(from).toBe(2_431)
    expect(to).toBe(2_570)
  })

  test('five say nothing', () => expect(() => medianInterval(upTo(5))).toThrow('too few'))
})

test('in any order, and whatever one value is', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 6, maxLength: 80 }), (values) => {
      const [from, to] = medianInterval(values)
      expect(medianInterval(values.toReversed())).toEqual([from, to])
      const most = Math.max(...values)
      const [wilder] = medianInterval(values.map((value) => (value === most ? 1e9 : value)))
      expect(wilder).toBeGreaterThanOrEqual(from)
      expect(from).toBeLessThanOrEqual(to)
    }),
  )
})

test('nineteen of twenty intervals hold the median of what they are drawn from', () => {
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 0x7fffffff) / 0x7fffffff
  const held = upTo(2_000).filter(() => {
    const [from, to] = medianInterval(Array.from({ length: 60 }, random))
    return from <= 0.5 && 0.5 <= to
  })
  expect(held.length).toBeGreaterThanOrEqual(1_900 - 30)
})
