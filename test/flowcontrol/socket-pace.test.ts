import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SocketPace, socketPaceOf } from '../../src/flowcontrol/socket-pace.ts'

const MEGABYTE = 1024 * 1024

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

/** When each of some messages of a megabyte may be sent: milliseconds from now. */
async function turns(pace: SocketPace, count: number): Promise<number[]> {
  const began = Date.now()
  const sent: number[] = []
  const all = Array.from({ length: count }, async () => {
    await pace.take(MEGABYTE)
    sent.push(Date.now() - began)
  })
  await vi.runAllTimersAsync()
  await Promise.all(all)
  return sent
}

test('forty megabytes in a second go to all WebSockets of a user, four of them at once', async () => {
  const sent = await turns(new SocketPace(Date.now), 44)
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
  const pace = new SocketPace(Date.now)
  for (let n = 0; n < 4_000; n++) expect(pace.take(1_000)).toBeUndefined()
})

test('after a pause nobody waits, and nobody waits for a clock that was set back', async () => {
  const pace = new SocketPace(Date.now)
  for (let n = 0; n < 40; n++) void pace.take(MEGABYTE)
  vi.setSystemTime(Date.now() + 2_000)
  expect(pace.take(MEGABYTE)).toBeUndefined()
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(pace.take(MEGABYTE)).toBeUndefined()
})
