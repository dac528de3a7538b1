import { describe, expect, test } from 'vitest'
import { ClientPace, JUDGED_AFTER, SLOW } from '../../../src/cli/front/client-pace.ts'

const CHUNK = 64 * 1024

/** A client that takes a chunk in `takes` milliseconds, after which the next one comes `later`. @returns the time */
function reads(pace: ClientPace, chunks: number, takes: number, later = 0, from = 1_000_000): number {
  let now = from
  for (let n = 0; n < chunks; n++) {
    pace.sent(CHUNK, true, now)
    pace.tookAll((now += takes))
    now += later
  }
  return now
}

const SLOWEST = (CHUNK / SLOW) * 1_000

describe('a client', () => {
  test('that takes little at a time, for long, is slow', () => {
    const pace = new ClientPace()
    const now = reads(pace, 30, 2 * SLOWEST)
    expect(pace.slowSince(now)).toBe(1_000_000 + JUDGED_AFTER)
  })

  test('that takes nothing is slow', () => {
    const pace = new ClientPace()
    pace.sent(CHUNK, true, 0)
    expect(pace.slowSince(JUDGED_AFTER - 1)).toBeUndefined()
    expect(pace.slowSince(JUDGED_AFTER)).toBe(JUDGED_AFTER)
    expect(pace.slowSince(10 * JUDGED_AFTER)).toBe(JUDGED_AFTER)
  })

  test('that takes enough is not slow, however long its answer is', () => {
    const pace = new ClientPace()
    expect(pace.slowSince(reads(pace, 10_000, SLOWEST / 2))).toBeUndefined()
  })

  test('that waits for the engine is not slow', () => {
    const pace = new ClientPace()
    expect(pace.slowSince(reads(pace, 1_000, 1, 1_000))).toBeUndefined()
  })

  test('cannot be slow on the account of what it took before', () => {
    const pace = new ClientPace()
    const now = reads(pace, 10_000, 1)
    pace.sent(CHUNK, true, now)
    expect(pace.slowSince(now + 2 * JUDGED_AFTER)).toBeDefined()
  })

  test('that was slow is so no longer once it takes enough, or has taken all for a while', () => {
    const [quick, done] = [new ClientPace(), new ClientPace()]
    const now = reads(quick, 30, 2 * SLOWEST)
    reads(done, 30, 2 * SLOWEST)
    expect(quick.slowSince(reads(quick, 200, SLOWEST / 2, 0, now))).toBeUndefined()
    expect(done.slowSince(now + 5_000)).toBeUndefined()
  })
})
