import { expect, test } from 'vitest'
import { openWatch } from '../../../src/storage/watch/shard-watch.ts'
import { encodeMessage, eventLine } from '../../../src/storage/watch/watch-batch.ts'
import { WatchRoom, WatchShare } from '../../../src/storage/watch/watch-room.ts'

class ShardEnd extends EventTarget {
  binaryType = ''
  isClosed = false
  accept(): void {}
  readonly sent: unknown[] = []
  send(message: unknown): void {
    this.sent.push(message)
  }
  close(): void {
    this.isClosed = true
  }
  event(revision: number, text: string): void {
    const lines = new TextEncoder().encode(eventLine('ADDED', text))
    const { buffer: data } = encodeMessage({ state: 'live', ahead: 0, revision, revisions: [revision] }, lines)
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
  /** Says that there is more. */
  behind(revision: number, ahead: number): void {
    const { buffer: data } = encodeMessage({ state: 'past', ahead, revision, revisions: [] }, new Uint8Array())
    this.dispatchEvent(new MessageEvent('message', { data }))
  }
}

const scope = { prefix: 'things/', selection: undefined } as unknown as Parameters<typeof openWatch>[0]

/** A watch after revision 1 in a room, and the ends of its sockets so far. */
async function watchIn(room: WatchRoom, user = 'someone') {
  const shards: ShardEnd[] = []
  const asked: string[] = []
  const upgrade = async (url: string) => {
    asked.push(url)
    const shard = new ShardEnd()
    shards.push(shard)
    return { webSocket: shard } as unknown as Response
  }
  let ends = 0
  const share = new WatchShare(room, user, () => ends++)
  const watch = await openWatch(scope, 1, upgrade, () => 0, share)
  const reader = watch.messages[Symbol.asyncIterator]()
  return { shards, asked, share, watch, reader, ends: () => ends }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5))
const LONG = `"${'x'.repeat(600)}"`
const revisionIn = (url: string) => (JSON.parse(new URL(url).searchParams.get('q')!) as { from: number }).from

test('what waits and what its reader sends counts until the client has taken it', async () => {
  const room = new WatchRoom(10_000)
  const { shards, share, reader } = await watchIn(room)
  shards[0]!.event(2, LONG)
  shards[0]!.event(3, '{"a":1}')
  const all = share.bytes
  expect(all).toBeGreaterThan(600)
  await reader.next()
  expect(share.bytes).toBe(all)
  await reader.next()
  expect(share.bytes).toBeLessThan(100)
  void reader.next()
  await settled()
  expect([share.bytes, room.bytes]).toEqual([0, 0])
})

test('a watch that is too slow keeps four megabytes, and reads the rest again', async () => {
  const room = new WatchRoom(100 * 1024 * 1024)
  const { shards, asked, share, reader, ends } = await watchIn(room)
  const megabyte = `"${'x'.repeat(1024 * 1024)}"`
  shards[0]!.event(2, megabyte)
  await reader.next()
  // reading goes on below, as after a send that took long
  for (let revision = 3; revision < 7; revision++) shards[0]!.event(revision, megabyte)
  expect([Math.floor(share.bytes / 1024 / 1024), room.bytes - share.bytes, shards[0]!.isClosed]).toEqual([4, 0, true])
  for (let n = 0; n < 3; n++) await reader.next()
  void reader.next()
  await settled()
  expect([asked.map(revisionIn), ends()]).toEqual([[1, 5], 0])
})

test('a watch without room asks for nothing until there is some, and is then given as much as there is', async () => {
  const room = new WatchRoom(1_000)
  const other = new WatchShare(room, 'other')
  expect(other.take(700)).toBe(true)
  const { shards, share, reader } = await watchIn(room)
  shards[0]!.behind(1, 400)
  await settled()
  expect([shards[0]!.sent, share.bytes]).toEqual([[], 0])
  other.hold(-700)
  await settled()
  expect([shards[0]!.sent, share.bytes]).toEqual([['more'], 400])
  shards[0]!.event(2, '{"a":1}')
  expect(share.bytes).toBeLessThan(100)
  expect([...(await reader.next()).value!]).toMatchObject([{ revision: 2, text: '{"a":1}' }])
})

test('what comes without room is dropped, and read again where the watch left off', async () => {
  const room = new WatchRoom(1_000)
  const other = new WatchShare(room, 'other')
  other.hold(700)
  const { shards, asked, share, reader } = await watchIn(room)
  shards[0]!.event(2, '{"a":1}')
  shards[0]!.event(3, LONG)
  expect([shards[0]!.isClosed, shards.length]).toEqual([true, 1])
  shards[0]!.event(4, '{"late":1}')
  expect([...(await reader.next()).value!]).toMatchObject([{ revision: 2 }])
  const next = reader.next()
  await settled()
  expect(shards).toHaveLength(1)
  other.leave()
  await settled()
  expect(asked.map(revisionIn)).toEqual([1, 2])
  shards[1]!.event(3, LONG)
  expect([...(await next).value!]).toMatchObject([{ revision: 3, text: LONG }])
  expect(share.bytes).toBeGreaterThan(600)
  void reader.next()
  await settled()
  expect(room.bytes).toBe(0)
})

test('a watch that ends while it waits for room leaves it to others', async () => {
  const room = new WatchRoom(1_000)
  const other = new WatchShare(room, 'other')
  other.hold(700)
  const { shards, watch, reader } = await watchIn(room)
  shards[0]!.behind(1, 400)
  watch.cancel()
  other.leave()
  await settled()
  expect([shards[0]!.sent, shards[0]!.isClosed, room.bytes, room.isWanted]).toEqual([[], true, 0, false])
  expect((await reader.next()).done).toBe(true)
})
