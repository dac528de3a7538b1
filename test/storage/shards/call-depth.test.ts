import { expect, test } from 'vitest'
import { CallDepth } from '../../../src/storage/shards/call-depth.ts'

type Event = 'worker' | 'alarm' | number

function after(events: readonly Event[], isLimited = true): CallDepth {
  const depth = new CallDepth(isLimited)
  for (const event of events) {
    if (event === 'alarm') depth.rang()
    else if (event === 'worker') depth.called()
    else depth.called(event)
  }
  return depth
}

const rows: readonly (readonly [events: readonly Event[], next: number, isDeep: boolean])[] = [
  [['worker'], 3, false],
  [['alarm'], 2, false],
  [[8], 9, false],
  [[9], 10, true],
  // the latest event counts
  [[9, 'worker'], 3, false],
  [['worker', 9], 10, true],
  [[9, 'alarm'], 2, false],
]
test.each(rows)('after %j a call of the object is %d deep, and waits for the alarm: %s', (events, next, isDeep) => {
  expect([after(events).next, after(events).isDeep]).toEqual([next, isDeep])
})

test('before its first call an object makes none, since that may be deep', () => {
  expect(after([]).isDeep).toBe(true)
})

test('where nothing limits the depth, no call waits', () => {
  expect([after([], false).isDeep, after([1_000], false).isDeep]).toEqual([false, false])
})

test('the deepest call is told', () => {
  expect(after([4, 9, 'worker', 'alarm']).deepest).toBe(9)
})
