import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AllSockets, SocketPace, socketPaceOf } from '../../src/flowcontrol/socket-pace.ts'

const MEGABYTE = 1024 * 1024

let all: AllSockets

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
  all = new AllSockets()
})
afterEach(() => void vi.useRealTimers())

/** When each of some messages of a megabyte may be sent: milliseconds from now. */
async function turns(pace: SocketPace, count: number): Promise<number[]> {
  const began = Date.now()
  const sent: number[] = []
  const sending = Array.from({ length: count }, async () => {
    await pace.take(MEGABYTE)
    sent.push(Date.now() - began)
  })
  await vi.runAllTimersAsync()
  await Promise.all(sending)
  return sent
}

test('forty megabytes in a second go to all WebSockets of a user, four of them at once', async () => {
  const sent = await turns(new SocketPace(Date.now, all), 44)
  expect(sent.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
  expect(sent[8]).toBe(100)
  expect(sent.at(-1)).toBeGreaterThan(950)
  expect(sent.at(-1)).toBeLessThan(1_050)
})

test('a user waits for nobody else', () => {
  const paceOf = (tenant: string, name: string) =>
    socketPaceOf({ tenant: { uid: tenant }, user: { name, groups: [] }, clock: Date.now } as never)
  for (let n = 0; n < 40; n++) void paceOf('one', 'jane').take(MEGABYTE)
  expect(paceOf('one', 'jane').take(1)).toBeInstanceOf(Promise)
  expect(paceOf('one', 'john').take(MEGABYTE)).toBeUndefined()
  expect(paceOf('other', 'jane').take(MEGABYTE)).toBeUndefined()
})

test('small messages go at once', () => {
  const pace = new SocketPace(Date.now, all)
  for (let n = 0; n < 4_000; n++) expect(pace.take(1_000)).toBeUndefined()
})

test('after a pause nobody waits, and nobody waits for a clock that was set back', async () => {
  const pace = new SocketPace(Date.now, all)
  for (let n = 0; n < 40; n++) void pace.take(MEGABYTE)
  vi.setSystemTime(Date.now() + 2_000)
  expect(pace.take(MEGABYTE)).toBeUndefined()
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(pace.take(MEGABYTE)).toBeUndefined()
})

/** When messages of a megabyte of many users are sent: milliseconds from now, by user. Each has four WebSockets. */
async function turnsOfUsers(users: number, each: number): Promise<number[][]> {
  const began = Date.now()
  const sending = Array.from({ length: users }, async () => {
    const pace = new SocketPace(Date.now, all)
    const sent: number[] = []
    let left = each
    const socket = async () => {
      while (left-- > 0) {
        await pace.take(MEGABYTE)
        sent.push(Date.now() - began)
      }
    }
    await Promise.all([socket(), socket(), socket(), socket()])
    return sent
  })
  await vi.runAllTimersAsync()
  return Promise.all(sending)
}

const before = (ms: number, sent: readonly number[][]): number => sent.flat().filter((at) => at < ms).length

test('all users together get 120 MiB in a second, each the same part', async () => {
  const sent = await turnsOfUsers(12, 40)
  // the first message of each, and what may be ahead
  expect(before(1, sent)).toBeLessThan(60)
  expect(before(1_000, sent)).toBeGreaterThan(120)
  expect(before(1_000, sent)).toBeLessThan(200)
  expect(before(3_000, sent)).toBeGreaterThan(360)
  expect(before(3_000, sent)).toBeLessThan(440)
  const counts = sent.map((own) => own.filter((at) => at < 2_000).length)
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(8)
})

test('a thousand users with one long message each share the pace, too', async () => {
  const sent = await turnsOfUsers(1_000, 1)
  expect(before(1, sent)).toBeLessThan(70)
  expect(before(4_000, sent)).toBeLessThan(560)
  expect(Math.max(...sent.flat())).toBeLessThan(10_000)
})

test('who sends little waits for nobody who sends much', async () => {
  for (let n = 0; n < 3; n++) {
    const pace = new SocketPace(Date.now, all)
    for (let message = 0; message < 400; message++) void pace.take(MEGABYTE)
  }
  const small = new SocketPace(Date.now, all)
  for (let n = 0; n < 50; n++) {
    await vi.advanceTimersByTimeAsync(100)
    expect(small.take(1_000)).toBeUndefined()
  }
})
