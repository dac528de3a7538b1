import { expect, test } from 'vitest'
import { InitialEvents } from '../../../src/storage/watch/initial-events.ts'
import { encodeFrame, eventLine } from '../../../src/storage/watch/watch-batch.ts'
import type { ListResult } from '../../../src/storage/storage.ts'
import { WatchRoom, WatchShare } from '../../../src/storage/watch/watch-room.ts'

const MEGABYTE = 1024 * 1024

/** A list of so many frames, each with an object; where each reading of it began, and how many are open. */
function listOf(frames: number) {
  const began: string[] = []
  let open = 0
  let mostOpen = 0
  const list = async (_at: unknown, start: string) => {
    began.push(start)
    mostOpen = Math.max(mostOpen, ++open)
    let next = start === '' ? 0 : Number(start.slice(0, -1)) + 1
    const values = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (next < frames) {
            controller.enqueue(
              encodeFrame({ revisions: [next], after: `${next}` }, eventLine('ADDED', `{"n":${next}}`)),
            )
            next++
          } else {
            open--
            controller.close()
          }
        },
        cancel: () => void open--,
      },
      { highWaterMark: 0 },
    )
    return { revision: 7, values } as unknown as ListResult // no other member is read
  }
  return { list, began, mostOpen: () => mostOpen }
}

async function readAll(events: InitialEvents): Promise<string[]> {
  const texts: string[] = []
  for await (const batch of events)
    for (const message of batch) texts.push(message.kind === 'event' ? message.text : message.kind)
  return texts
}

const all = (frames: number) => [...Array.from({ length: frames }, (_, n) => `{"n":${n}}`), 'synced']

test('the initial events of many watches are read in turns, each at its place, and a few are open at a time', async () => {
  const room = new WatchRoom(4 * MEGABYTE)
  const { list, began, mostOpen } = listOf(20)
  const shares = Array.from({ length: 12 }, (_, n) => new WatchShare(room, `u${n}`))
  const read = await Promise.all(shares.map(async (share) => readAll(await InitialEvents.open(list, 0, share))))
  expect(read).toEqual(shares.map(() => all(20)))
  expect(mostOpen()).toBe(3)
  // after eight frames others had their turn
  expect(new Set(began)).toEqual(new Set(['', '7\0', '15\0']))
  expect([room.bytes, room.isWanted]).toEqual([0, false])
})

test('the initial events of one watch are read at once', async () => {
  const { list, began } = listOf(20)
  const share = new WatchShare(new WatchRoom(4 * MEGABYTE), 'u')
  expect(await readAll(await InitialEvents.open(list, 0, share))).toEqual(all(20))
  expect([began, share.bytes]).toEqual([[''], 0])
})

test('a watch that ends before its turn reads nothing', async () => {
  const room = new WatchRoom(MEGABYTE)
  const { list, began } = listOf(1)
  const first = new WatchShare(room, 'first')
  await InitialEvents.open(list, 0, first)
  const second = new WatchShare(room, 'second')
  const opening = InitialEvents.open(list, 0, second)
  second.leave()
  await expect(opening).rejects.toThrow('the watch has ended')
  expect(began).toEqual([''])
})
