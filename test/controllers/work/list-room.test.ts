import { describe, expect, test } from 'vitest'
import { FREE, ListRoom, TooMuchListed, unitsOfPart, unitsOfText } from '../../../src/controllers/work/list-room.ts'

const MOST = 100 * FREE
/** One namespace may have three quarters. */
const OF_ONE = 75 * FREE

describe('works that list much', () => {
  test('hold a little each, however much others hold', () => {
    const room = new ListRoom(MOST)
    room.begin().take(FREE + OF_ONE, 'pods', 'a')
    room.begin().take(FREE + MOST - OF_ONE, 'pods', 'b')
    const works = Array.from({ length: 20 }, () => room.begin())
    for (const work of works) work.take(FREE, 'pods', 'c')
    for (const work of works) expect(() => work.take(1, 'pods', 'c')).toThrow(TooMuchListed)
  })

  test('of one namespace leave room for another', () => {
    const room = new ListRoom(MOST)
    const [first, second] = [room.begin(), room.begin()]
    first.take(FREE + OF_ONE - 10, 'pods', 'a')
    expect(() => second.take(FREE + 11, 'pods', 'a')).toThrow(
      'the pods in namespace a are too large to be handled together',
    )
    second.take(10, 'pods', 'a')
    room.begin().take(FREE + MOST - OF_ONE, 'pods', 'b')
  })

  test('give it back at their end, what failed too', () => {
    const room = new ListRoom(MOST)
    for (let time = 0; time < 10; time++) {
      const work = room.begin()
      work.take(FREE + OF_ONE, 'pods', 'a')
      expect(() => work.take(1, 'pods', 'a')).toThrow(TooMuchListed)
      work.leave()
      work.leave()
    }
  })
})

test('units are about the bytes that a parsed text takes', () => {
  expect(unitsOfText('"a text"')).toBe(8)
  expect(unitsOfText('[{},{},{}]')).toBe(10 + 4 * 24 + 2 * 8)
  expect(unitsOfPart({ a: 'x'.repeat(100) }, 1_000_000)).toBeLessThan(300)
  expect(unitsOfPart({ a: Array<object>(10_000).fill({}) }, 1_000_000)).toBe(1_000_000)
})
