import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EngineRoom } from '../../../src/cli/front/engine-room.ts'
import type { Begun } from '../../../src/cli/front/engine-room.ts'

/** What the system tells of the engine. */
let descriptors: number | undefined
let room: EngineRoom
let begun: Begun[]
let late: number

beforeEach(() => {
  vi.useFakeTimers()
  descriptors = 0
  begun = []
  late = 0
  room = new EngineRoom({ most: 3, descriptors: () => descriptors })
})
afterEach(() => void vi.useRealTimers())

const enter = (patience = 1_000): (() => void) =>
  room.enter(
    (one) => begun.push(one),
    patience,
    () => late++,
  )

test('connections that the engine may not have accepted count', () => {
  for (let n = 0; n < 5; n++) enter()
  expect(begun.length).toBe(3)
  begun[0]!.answered()
  vi.advanceTimersByTime(20)
  expect(begun.length).toBe(4)
})

test('connections count that have ended before the engine has answered', () => {
  for (let n = 0; n < 5; n++) enter(60_000)
  for (const one of begun) one.ended()
  vi.advanceTimersByTime(4_000)
  expect(begun.length).toBe(3)
  vi.advanceTimersByTime(1_100)
  expect(begun.length).toBe(5)
})

test('descriptors count that the engine has', () => {
  descriptors = 2
  enter()
  begun[0]!.answered()
  descriptors = 3
  vi.advanceTimersByTime(20)
  enter()
  expect(begun.length).toBe(1)
  descriptors = 2 // the engine has closed one
  vi.advanceTimersByTime(20)
  expect(begun.length).toBe(2)
})

test('open connections count where the system does not tell', () => {
  descriptors = undefined
  for (let n = 0; n < 4; n++) enter()
  for (const one of begun) one.answered()
  vi.advanceTimersByTime(20)
  expect(begun.length).toBe(3)
  begun[0]!.ended()
  vi.advanceTimersByTime(20)
  expect(begun.length).toBe(4)
})

test('who waits too long is told, and who gives up is not', () => {
  descriptors = 3
  enter(100)
  const giveUp = enter(100)
  giveUp()
  expect(room.waiting).toBe(1)
  vi.advanceTimersByTime(120)
  expect({ late, waiting: room.waiting, begun: begun.length }).toEqual({ late: 1, waiting: 0, begun: 0 })
  expect(vi.getTimerCount()).toBe(0)
})

test('the first to come begins first', () => {
  descriptors = 3
  const order: string[] = []
  const named = (name: string) =>
    room.enter(
      () => order.push(name),
      1_000,
      () => {},
    )
  named('a')
  named('b')
  descriptors = 0
  named('c')
  vi.advanceTimersByTime(20)
  expect(order).toEqual(['a', 'b', 'c'])
})
