import { expect, test } from 'vitest'
import type { BufferedWatch } from '../../../src/storage/watch/watch-buffer.ts'
import { WatchBuffer, WatchBuffers } from '../../../src/storage/watch/watch-buffer.ts'

function watchIn(buffer: WatchBuffer) {
  const watch = {
    waitingBytes: 0,
    ended: false,
    put(bytes: number) {
      watch.waitingBytes += bytes
      buffer.hold(watch, bytes)
    },
    take(bytes: number) {
      watch.waitingBytes -= bytes
      buffer.release(bytes)
    },
    tooSlow() {
      watch.ended = true
      buffer.leave(watch)
    },
  } satisfies BufferedWatch & Record<string, unknown>
  return watch
}

test('when all that waits is too much, the watch that is furthest behind ends', () => {
  const buffer = new WatchBuffer(100)
  const [slow, good, other] = [watchIn(buffer), watchIn(buffer), watchIn(buffer)]
  for (let n = 0; n < 10; n++) {
    slow.put(9)
    good.put(9)
    good.take(9)
  }
  expect([slow.ended, good.ended]).toEqual([false, false])
  other.put(20)
  expect([slow.ended, good.ended, other.ended]).toEqual([true, false, false])
  other.put(70)
  expect(other.ended).toBe(false)
})

test('a hundred watches that nobody reads hold no more than the user may have', () => {
  const buffer = new WatchBuffer(1_000)
  const watches = Array.from({ length: 100 }, () => watchIn(buffer))
  for (let n = 0; n < 50; n++) for (const watch of watches) if (!watch.ended) watch.put(10)
  const held = watches.filter(({ ended }) => !ended).reduce((sum, { waitingBytes }) => sum + waitingBytes, 0)
  expect(held).toBeLessThanOrEqual(1_000)
  expect(held).toBeGreaterThan(0)
})

test('a hundred users whose watches nobody reads hold no more than all may have, and who reads goes on', () => {
  const all = new WatchBuffers(1_000)
  const good = watchIn(new WatchBuffer(500, all))
  const slow = Array.from({ length: 100 }, () => watchIn(new WatchBuffer(500, all)))
  for (let n = 0; n < 50; n++)
    for (const watch of slow) {
      if (!watch.ended) watch.put(10)
      good.put(10)
      good.take(10)
    }
  const held = slow.filter(({ ended }) => !ended).reduce((sum, { waitingBytes }) => sum + waitingBytes, 0)
  expect(held).toBeLessThanOrEqual(1_000)
  expect(held).toBeGreaterThan(0)
  expect(good.ended).toBe(false)
})
