import { expect, test } from 'vitest'
import { HeavyLine } from '../../src/base/heavy-line.ts'
import type { Waiting } from '../../src/base/heavy-line.ts'

/** Lets all look again and again, and takes out whoever is next. @returns their numbers in that order */
function served(line: HeavyLine, all: readonly Waiting[], rounds = 100): number[] {
  const order: number[] = []
  const left = new Set(all)
  for (let round = 0; round < rounds && left.size > 0; round++) {
    const next = [...left].find((waiting) => line.isNext(waiting))
    if (next === undefined) continue
    left.delete(next)
    line.leave(next)
    order.push(next.number)
  }
  return order
}

test('in a flow, what began first is first, also where it has waited before', () => {
  const line = new HeavyLine()
  const all = [3, 1, 2].map((number) => line.join({ flow: 'a', number }))
  expect(served(line, all)).toEqual([1, 2, 3])
})

test('flows take turns, however much one of them has to do', () => {
  const line = new HeavyLine()
  const many = [1, 2, 3, 4].map((number) => line.join({ flow: 'many', number }))
  const few = [5, 6].map((number) => line.join({ flow: 'few', number }))
  expect(served(line, [...many, ...few])).toEqual([1, 5, 2, 6, 3, 4])
})

test('who does not look any more holds up nobody', () => {
  const line = new HeavyLine()
  for (let number = 0; number < 1000; number++) line.join({ flow: `flow ${number % 3}`, number })
  const live = [1001, 1002].map((number) => line.join({ flow: 'flow 1', number }))
  expect(served(line, live, 10)).toEqual([1001, 1002])
  const last = line.join({ flow: 'other', number: 1003 })
  expect(line.pauseOf(last)).toBe(0)
})

test('who was taken for gone is in the line again at its next look', () => {
  const line = new HeavyLine()
  const slow = line.join({ flow: 'a', number: 1 })
  const quick = line.join({ flow: 'b', number: 2 })
  expect([1, 2, 3].map(() => line.isNext(quick)).at(-1)).toBe(true)
  expect(line.isNext(slow)).toBe(false)
  line.leave(quick)
  expect(line.isNext(slow)).toBe(true)
})

test('where many wait, few of them look in each turn', () => {
  const line = new HeavyLine()
  const all = Array.from({ length: 1000 }, (_, number) => line.join({ flow: 'a', number }))
  expect(all.slice(0, 10).map((waiting) => line.pauseOf(waiting))).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 125, 125])
  for (const waiting of all.slice(0, 990)) line.leave(waiting)
  expect(all.slice(990).map((waiting) => line.pauseOf(waiting))).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
})
