// What is held has a bound together, which ends the longest.
import { expect, test } from 'vitest'
import { Held, HeldTogether } from '../../src/cli/held-together.ts'

const MOST = 100

function held(count: number) {
  const all = new HeldTogether(MOST)
  const ended: number[] = []
  const each = Array.from({ length: count }, (_, index) => new Held(all, () => void ended.push(index)))
  return { all, ended, each }
}

test('what is too long together ends the longest', () => {
  const { all, ended, each } = held(3)
  each[0]!.holds(MOST / 2)
  each[1]!.holds(MOST / 4)
  each[2]!.holds(MOST / 4)
  expect(ended).toEqual([])
  each[2]!.holds(MOST / 4 + 1)
  expect(ended).toEqual([0])
  expect(all.octets).toBe(MOST / 2 + 1)
  // what still comes of one that was ended does not count
  each[0]!.holds(MOST)
  expect(ended).toEqual([0])
})

test('what is taken makes room', () => {
  const { all, ended, each } = held(2)
  each[0]!.holds(MOST)
  each[0]!.leave()
  each[1]!.holds(MOST)
  expect(ended).toEqual([])
  each[1]!.leave()
  expect(all.octets).toBe(0)
})
