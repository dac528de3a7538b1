import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../eventually.ts'
import type { WatchHub } from '../../durable-objects/watch-hub.ts'
import type { Env } from '../../src/env.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { Revision, Watch } from '../../src/storage/storage.ts'
import { fielded, labelled, take, valueOf } from '../storage-suite.ts'
import { WatchRoom, WatchShare } from '../../src/storage/watch/watch-room.ts'
import { inShard } from './in-shard.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)
/** A hub whose messages are counted. */
interface Sending {
  publish: WatchHub['publish']
  send(socket: WebSocket, message: Uint8Array): void
}

const MEGABYTE = 'x'.repeat(1024 * 1024)

describe('a watch over a socket', () => {
  const shardNamed = (tenant: string) => ({ tenant, shard: 'things', prefix: 'things' })
  const stubOf = (tenant: string) => SHARDS.getByName(`${tenant}/things`)

  it('ends when its watcher reads too slowly', async () => {
    const things = shardNamed('watch-slow')
    const from = await storage.revision(things)
    const slow = await storage.watch(things, { selection: everything, from })
    const quick = await storage.watch(things, { selection: everything, from })
    const taken = take(quick, 6)
    for (let i = 0; i < 6; i++) await storage.create(things, `n${i}`, valueOf(`n${i}`, MEGABYTE))
    expect(await taken).toHaveLength(6)
    await expect(take(slow, 1)).rejects.toMatchObject({ code: 'Overloaded' })
  })

  it('sends many megabytes of past events as fast as its watcher reads', async () => {
    const things = shardNamed('watch-past')
    const from = await storage.revision(things)
    for (let i = 0; i < 8; i++) await storage.create(things, `n${i}`, valueOf(`n${i}`, MEGABYTE))
    const watch = await storage.watch(things, { selection: everything, from })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await take(watch, 8)).toHaveLength(8)
  })

  it('begins with a little of the past, and is told how much more there is', async () => {
    const things = shardNamed('watch-first')
    const from = await storage.revision(things)
    const sent: number[] = []
    const share = new WatchShare(new WatchRoom(64 * 1024 * 1024), 'someone')
    const took = vi.spyOn(share, 'take')
    await inShard(stubOf(things.tenant), (shard) => {
      const { watches: hub } = shard.parts as unknown as { watches: Sending }
      const { send } = hub
      hub.send = (socket, message) => {
        sent.push(message.length)
        send.call(hub, socket, message)
      }
    })
    for (const name of ['a', 'b']) await storage.create(things, name, valueOf(name, MEGABYTE))
    const watch = await storage.watch(things, { selection: everything, from, share })
    expect(await take(watch, 2)).toHaveLength(2)
    expect(sent[0]).toBeLessThan(100)
    expect(took.mock.calls[0]![0]).toBe(sent[1])
    expect(sent.every((length) => length < 1.1 * MEGABYTE.length)).toBe(true)
    watch.cancel()
  })

  it('gets a change that is too much for all watchers at once from the log, once and in order', async () => {
    const things = shardNamed('watch-much')
    const from = await storage.revision(things)
    const watches = await Promise.all(
      Array.from({ length: 24 }, () => storage.watch(things, { selection: everything, from })),
    )
    const taken = watches.map((watch) => take(watch, 5))
    const together: number[] = []
    await inShard(stubOf(things.tenant), (shard) => {
      const { watches: hub } = shard.parts as unknown as { watches: Sending }
      const { publish, send } = hub
      let isPublishing = false
      hub.publish = (rows) => {
        isPublishing = true
        together.push(0)
        publish.call(hub, rows)
        isPublishing = false
      }
      hub.send = (socket, message) => {
        if (isPublishing) together.push(together.pop()! + message.length)
        send.call(hub, socket, message)
      }
    })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await storage.create(things, name, valueOf(name, MEGABYTE))
    for (const events of await Promise.all(taken))
      expect(events.map((event) => event.slice(0, 8))).toEqual(
        ['a', 'b', 'c', 'd', 'e'].map((name) => `ADDED ${name}=`),
      )
    expect(Math.max(...together)).toBeLessThan(9 * 1024 * 1024)
    for (const watch of watches) watch.cancel()
  })

  it('reports its revision although no event matches its selector, and resumes from there', async () => {
    const things = shardNamed('watch-progress')
    const from = await storage.revision(things)
    const watch = await storage.watch(things, { selection: labelled('none'), from })
    const { revision } = await storage.create(things, 'a', valueOf('a', '1'))
    const seen: Revision[] = []
    const reading = (async () => {
      for await (const batch of watch.messages) for (const message of batch) seen.push(message.revision)
    })()
    await eventually(async () => {
      watch.ping()
      expect(seen.at(-1)).toBe(revision)
    })
    // Compaction drops changes that the watch did not get. It knows this revision, and resumes without Compacted.
    await inShard(stubOf(things.tenant), async ({ parts: { compactor } }) => void (await compactor.run(revision)))
    await evictDurableObject(stubOf(things.tenant), { webSockets: 'close' })
    const { revision: next } = await storage.create(things, 'b', valueOf('b', '1', { labels: { none: '' } }))
    await eventually(() => expect(seen.at(-1)).toBe(next))
    watch.cancel()
    await reading
  })

  it('fails with Compacted when its next events are gone', async () => {
    const things = shardNamed('watch-gone')
    const a1 = await storage.create(things, 'a', valueOf('a', '1'))
    const watch = await storage.watch(things, { selection: labelled('none'), from: a1.revision })
    const a2 = await storage.update(things, 'a', valueOf('a', '2'), a1.revision)
    await inShard(stubOf(things.tenant), async ({ parts: { compactor } }) => void (await compactor.run(a2.revision)))
    await evictDurableObject(stubOf(things.tenant), { webSockets: 'close' })
    await expect(take(watch, 1)).rejects.toMatchObject({ code: 'Compacted', revision: a1.revision })
  })

  it('leaves no socket behind when it is cancelled', async () => {
    const things = shardNamed('watch-cancelled')
    const from = await storage.revision(things)
    const watches = await Promise.all([1, 2, 3].map(() => storage.watch(things, { selection: everything, from })))
    expect((await storage.stats(things)).sockets).toBe(3)
    for (const watch of watches) watch.cancel()
    await eventually(async () => expect((await storage.stats(things)).sockets).toBe(0))
  })

  it('reads in the log the events whose publication failed', async () => {
    const things = shardNamed('watch-untold')
    const from = await storage.revision(things)
    const watch = await storage.watch(things, { selection: everything, from })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await inShard(stubOf(things.tenant), ({ parts: { watches } }) => {
      vi.spyOn(watches, 'publish').mockImplementationOnce(() => {
        throw new Error('no')
      })
    })
    await storage.create(things, 'a', valueOf('a', '1'))
    await storage.create(things, 'b', valueOf('b', '1'))
    expect(await take(watch, 2)).toEqual(['ADDED a=1', 'ADDED b=1'])
    watch.cancel()
  })

  it.each(['v'.repeat(15_500), 'ü'.repeat(15_500), '名'.repeat(7_500)])('keeps a long selection', async (value) => {
    const things = shardNamed('watch-long')
    const from = await storage.revision(things)
    const watch = await storage.watch(things, { selection: fielded(`f=${value}`), from })
    await storage.create(things, value.slice(0, 9), valueOf('a', '1', { fields: { f: value } }))
    expect(await take(watch, 1)).toEqual(['ADDED a=1'])
    watch.cancel()
  })

  it('refuses a selection that is too long for the attachment of its socket, in any script', async () => {
    const things = shardNamed('watch-longer')
    const from = await storage.revision(things)
    for (const value of ['v'.repeat(16_500), '名'.repeat(9_000)])
      await expect(storage.watch(things, { selection: fielded(`f=${value}`), from })).rejects.toMatchObject({
        code: 'SelectorTooLarge',
      })
  })

  /** Looks at the private fields of a shard's hub. */
  const hub = <Found>(
    tenant: string,
    look: (watches: { most: number; places: { taken: number }; groups: Map<string, unknown> }) => Found,
  ) =>
    inShard(stubOf(tenant), (shard) =>
      look((shard.parts as unknown as { watches: Parameters<typeof look>[0] }).watches),
    )

  it('is refused when the selections of all watches are too long together, until one ends', async () => {
    const things = shardNamed('watch-many')
    const from = await storage.revision(things)
    await hub(things.tenant, (watches) => void (watches.most = 4))
    const watch = (n: number) =>
      storage.watch(things, { selection: fielded(`f=${String(n).padEnd(3_000, 'v')}`), from })
    const open = [await watch(1), await watch(2)]
    await expect(watch(3)).rejects.toMatchObject({ code: 'Overloaded' })
    expect(await hub(things.tenant, ({ places, groups }) => [places.taken, groups.size])).toEqual([4, 2])
    await storage.create(things, 'a', valueOf('a', '1', { fields: { f: '2'.padEnd(3_000, 'v') } }))
    expect(await take(open[1]!, 1)).toEqual(['ADDED a=1'])
    for (const one of open) one.cancel()
    await eventually(async () =>
      expect(await hub(things.tenant, ({ places, groups }) => [places.taken, groups.size])).toEqual([0, 0]),
    )
    const last = await watch(3)
    last.cancel()
  })

  it('ends when its owner has the most and others want to watch, also after the shard has slept', async () => {
    const things = shardNamed('watch-shared')
    const from = await storage.revision(things)
    await hub(things.tenant, (watches) => void (watches.most = 3))
    const watch = (owner: string) => storage.watch(things, { selection: everything, from, owner })
    const greedy = [await watch('greedy'), await watch('greedy'), await watch('greedy')]
    await expect(watch('greedy')).rejects.toMatchObject({ code: 'Overloaded' })
    await evictDurableObject(stubOf(things.tenant), { webSockets: 'hibernate' })
    await hub(things.tenant, (watches) => void (watches.most = 3))
    const read = async ({ messages }: Watch): Promise<number> => {
      let count = 0
      for await (const batch of messages) count += [...batch].length
      return count
    }
    const reading = greedy.map(read)
    const other = await watch('other')
    expect(await Promise.race(reading)).toBe(0)
    expect(await hub(things.tenant, ({ places, groups }) => [places.taken, groups.size])).toEqual([3, 1])
    await storage.create(things, 'a', valueOf('a', '1'))
    expect(await take(other, 1)).toEqual(['ADDED a=1'])
    for (const one of [...greedy, other]) one.cancel()
    expect((await Promise.all(reading)).sort()).toEqual([0, 1, 1])
  })

  it('selects no more than an attachment holds', async () => {
    const things = shardNamed('watch-wide')
    const selection = labelled(`a in (${Array.from({ length: 2_000 }, (_, i) => `value-${i}`).join(',')})`)
    const from = await storage.revision(things)
    await expect(storage.watch(things, { selection, from })).rejects.toMatchObject({ code: 'SelectorTooLarge' })
  })
})
