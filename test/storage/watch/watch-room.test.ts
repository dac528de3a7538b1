import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WatchRoom, WatchShare } from '../../../src/storage/watch/watch-room.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What was asked for, by name, in the order in which it was given. */
function asking(room: WatchRoom) {
  const given: string[] = []
  const ended: string[] = []
  const share = (name: string, user = name) => new WatchShare(room, user, () => ended.push(name))
  const take = (one: WatchShare, name: string, bytes: number) =>
    void Promise.resolve(one.take(bytes)).then((hasRoom) => given.push(hasRoom ? name : `not ${name}`))
  return { given, ended, share, take }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

test('a hundred watches that nobody reads hold no more than all may ask for, and the rest waits', async () => {
  const room = new WatchRoom(1_000)
  const { given, share, take } = asking(room)
  for (let n = 0; n < 100; n++) take(share(`w${n}`, `u${n % 10}`), `w${n}`, 10)
  await settled()
  expect([given.length, room.bytes, room.isWanted]).toEqual([75, 750, true])
})

test('small changes that come unasked have room beside what was asked for, until all of it is taken', async () => {
  const room = new WatchRoom(1_000)
  const { share, take } = asking(room)
  for (let n = 0; n < 10; n++) take(share(`w${n}`), `w${n}`, 100)
  const small = share('small')
  expect(small.tryHold(250)).toBe(true)
  expect([small.tryHold(100), room.bytes]).toEqual([false, 950])
})

test('a user asks for half of it at most, and the users that wait take turns', async () => {
  const room = new WatchRoom(1_000)
  const { given, share, take } = asking(room)
  const greedy = Array.from({ length: 20 }, (_, n) => share(`g${n}`, 'greedy'))
  for (const [n, one] of greedy.entries()) take(one, `g${n}`, 100)
  await settled()
  expect(given).toEqual(['g0', 'g1', 'g2', 'g3', 'g4'])
  const [a, b] = [share('a'), share('b')]
  for (let n = 0; n < 4; n++) {
    take(a, `a${n}`, 100)
    take(b, `b${n}`, 100)
  }
  await settled()
  expect(given.slice(5)).toEqual(['a0', 'b0'])
  for (let n = 0; n < 5; n++) {
    greedy[n]!.hold(-100)
    await settled()
  }
  expect(given.slice(7)).toEqual(['g5', 'a1', 'b1', 'g6', 'a2'])
})

test('while others wait, who takes nothing for ten seconds ends, and who takes something goes on', async () => {
  const room = new WatchRoom(1_000, () => Date.now())
  const { given, ended, share, take } = asking(room)
  const [silent, slow, working] = [share('silent'), share('slow'), share('working')]
  take(silent, 'silent', 400)
  take(slow, 'slow', 300)
  take(working, 'working', 50)
  for (const one of [silent, slow]) void one.sending(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended).toEqual([])
  take(share('other'), 'other', 300)
  for (let second = 0; second < 15; second++) {
    slow.taken()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect([given, ended]).toEqual([['silent', 'slow', 'working', 'other'], ['silent']])
  expect(room.bytes).toBe(650)
})

test('a watch that ends waits no longer and holds nothing, and others get its room', async () => {
  const room = new WatchRoom(1_000)
  const { given, ended, share, take } = asking(room)
  const [first, second, third] = [share('first', 'u'), share('second', 'u'), share('third', 'u')]
  take(first, 'first', 500)
  take(second, 'second', 500)
  take(third, 'third', 500)
  second.leave()
  await settled()
  expect(given).toEqual(['first', 'not second'])
  first.leave()
  await settled()
  expect(given).toEqual(['first', 'not second', 'third'])
  expect([first.tryHold(1), await first.take(1), room.bytes, room.isWanted]).toEqual([false, false, 500, false])
  third.end()
  third.end()
  expect([ended, room.bytes]).toEqual([['third'], 0])
})

test('what is longer than all of the room gets it alone', async () => {
  const room = new WatchRoom(1_000)
  const { given, share, take } = asking(room)
  const long = share('long')
  take(long, 'long', 5_000)
  take(share('next'), 'next', 10)
  await settled()
  expect(given).toEqual(['long'])
  long.hold(-5_000)
  await settled()
  expect(given).toEqual(['long', 'next'])
})
