import { expect, test } from 'vitest'
import { openWatch } from '../../../src/storage/watch/shard-watch.ts'
import { encodeMessage, eventLine } from '../../../src/storage/watch/watch-batch.ts'
import type { BufferedWatch } from '../../../src/storage/watch/watch-buffer.ts'
import { WatchBuffer, WatchBuffers } from '../../../src/storage/watch/watch-buffer.ts'

class ShardEnd extends EventTarget {
  binaryType = ''
  isClosed = false
  accept(): void {}
  send(): void {}
  close(): void {
    this.isClosed = true
  }
  event(revision: number, text: string): void {
    const lines = new TextEncoder().encode(eventLine('ADDED', text))
    const { buffer: data } = encodeMessage({ state: 'live', revision, revisions: [revision] }, lines)
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

const scope = { prefix: 'things/', selection: undefined } as unknown as Parameters<typeof openWatch>[0]

test('a watch that is too slow keeps nothing, even while its reader waits for the client', async () => {
  const shard = new ShardEnd()
  const upgrade = async () => ({ webSocket: shard }) as unknown as Response
  const buffer = new WatchBuffer(1_000, new WatchBuffers(10_000))
  const watch = await openWatch(scope, 1, upgrade, () => 0, { buffer })
  const reader = watch.messages[Symbol.asyncIterator]()
  shard.event(2, '{"a":1}')
  expect((await reader.next()).done).toBe(false)
  shard.event(3, `"${'x'.repeat(600)}"`)
  // reading goes on below, as after a send that took long
  const kept = watch.messages as unknown as BufferedWatch
  expect(kept.waitingBytes).toBeGreaterThan(600)
  shard.event(4, `"${'x'.repeat(600)}"`)
  expect([kept.waitingBytes, buffer.bytes, shard.isClosed]).toEqual([0, 0, true])
  await expect(reader.next()).rejects.toMatchObject({ code: 'Overloaded' })
})

test('what its reader sends counts until the client has taken it, and is given up with the watch', async () => {
  const shard = new ShardEnd()
  const upgrade = async () => ({ webSocket: shard }) as unknown as Response
  const buffer = new WatchBuffer(1_000, new WatchBuffers(10_000))
  let slow = 0
  const watch = await openWatch(scope, 1, upgrade, () => 0, { buffer, onTooSlow: () => slow++ })
  const reader = watch.messages[Symbol.asyncIterator]()
  shard.event(2, `"${'x'.repeat(600)}"`)
  await reader.next()
  expect(buffer.bytes).toBeGreaterThan(600)
  shard.event(3, '{"a":1}')
  await reader.next()
  expect(buffer.bytes).toBeLessThan(100)
  shard.event(4, `"${'x'.repeat(600)}"`)
  await reader.next()
  expect(slow).toBe(0)
  shard.event(5, `"${'x'.repeat(600)}"`)
  expect([slow, buffer.bytes, shard.isClosed]).toEqual([1, 0, true])
})
