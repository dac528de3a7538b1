import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Env } from '../../src/env.ts'
import { changePages } from '../../src/storage/shards/change-pages.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import { revisionHere } from '../../src/storage/shards/shards-here.ts'
import type { NewValue, Revision, ShardChanges, Storage, StoredValue } from '../../src/storage/storage.ts'
import { valueOf } from '../storage-suite.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)
const MINUTE = 60_000
const MiB = 1024 * 1024
/** The size of a page in durable-objects/changes.ts. */
const PAGE = MiB

describe('pages of the changes of a shard', () => {
  let things = { tenant: '', shard: 'control', prefix: 'things' }
  let test = 0
  const stub = () => SHARDS.getByName(`${things.tenant}/${things.shard}`)
  /** A value whose text has `size` characters. */
  const sized = (key: string, size: number): NewValue =>
    valueOf(key, 'x'.repeat(Math.max(0, size - valueOf(key, '').text.length)))
  const create = (key: string, size: number) => storage.create(things, key, sized(key, size))
  const update = (key: string, size: number, { revision }: StoredValue) =>
    storage.update(things, key, sized(key, size), revision)
  const remove = (key: string, { revision }: StoredValue) => storage.delete(things, key, sized(key, 100), revision)
  /** Moves the clock, which the object and the test share. */
  const later = (milliseconds: number) => {
    const now = Date.now() + milliseconds
    vi.spyOn(Date, 'now').mockReturnValue(now)
  }
  /** Compacts the shard: no deletion and no old version is left in its log. */
  const compact = async () => {
    await remove('gone', await create('gone', 100))
    later(6 * MINUTE)
    await create(`tick-${Date.now()}`, 100)
    expect(await runDurableObjectAlarm(stub())).toBe(true)
  }

  beforeEach(() => {
    things = { ...things, tenant: `changes-${test++}` }
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** @returns the state that a reader ends with, and its pages. `between` runs after each page. */
  async function read(
    since?: Revision,
    between: (page: number) => Promise<void> = async () => {},
    from: Storage = storage,
    known: ReadonlyMap<string, Revision> = new Map(),
  ) {
    const pages: ShardChanges[] = []
    let state = new Map(known)
    for await (const page of changePages(from, things, since)) {
      if (page.reset) state = new Map()
      for (const { key, revision, text } of page.changed)
        if (text === undefined) state.delete(key)
        else state.set(key, revision)
      pages.push({ ...page, changed: page.changed.map(({ key, revision }) => ({ key, revision })) })
      if (page.more) await between(pages.length)
    }
    return { state, pages, revision: pages.at(-1)!.revision, resets: pages.filter(({ reset }) => reset).length }
  }
  const keysOf = (state: ReadonlyMap<string, Revision>) => [...state.keys()].filter((key) => !key.includes('tick'))

  it.each([
    ['nothing', []],
    [
      'one character less than a page',
      [PAGE / 8, PAGE / 8, PAGE / 8, PAGE / 8, PAGE / 8, PAGE / 8, PAGE / 8, PAGE / 8 - 1],
    ],
    ['a page', Array<number>(8).fill(PAGE / 8)],
    ['a page and one small object', [...Array<number>(8).fill(PAGE / 8), 100]],
    ['two pages to the character', Array<number>(16).fill(PAGE / 8)],
    ['objects as large as may be', Array<number>(14).fill(1.4 * MiB)],
    ['definitions of 23 KB', Array<number>(1_060).fill(23_000)],
  ])('hold %s: each key once, after a restart and a compaction', async (_, sizes) => {
    await Promise.all(sizes.map((size, index) => create(`n${index}`, size)))
    await compact()
    await evictDurableObject(stub())
    const { state, pages, resets } = await read()
    expect(keysOf(state)).toHaveLength(sizes.length)
    expect(resets).toBe(1)
    expect(pages.map(({ more }) => more)).toEqual(pages.map((_, index) => index < pages.length - 1))
    expect(pages.flatMap(({ changed }) => changed)).toHaveLength(state.size)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    expect(pages.length).toBeLessThanOrEqual(Math.ceil(total / PAGE) + 1)
  })

  it.each([
    ['of 3 KB', 3_000, [128, 128, 44]],
    ['of 100 characters', 100, [300]],
  ])('hold 300 objects %s in pages of few milliseconds', async (_, size, lengths) => {
    await Promise.all(Array.from({ length: 300 }, (_, index) => create(`n${index}`, size)))
    const { state, pages, resets } = await read()
    expect(keysOf(state)).toHaveLength(300)
    expect(resets).toBe(1)
    expect(pages.map(({ changed }) => changed.length)).toEqual(lengths)
  })

  it('end after 1,024 versions, also where a page then has no object', async () => {
    let hot = await create('hot', 100)
    const first = hot.revision
    for (let n = 0; n < 2_100; n++) hot = await update('hot', 100, hot)
    await create('last', 100)
    for (const since of [undefined, first]) {
      const { pages, state, revision } = await read(since)
      expect(pages.map(({ changed }) => changed.length)).toEqual([0, 0, 2])
      expect(state.get('things/hot')).toBe(hot.revision)
      expect(revision).toBe((await read(revision)).revision)
    }
  })

  it('hold up to 64 MiB: a reader gets all of it at every size on the way, after restarts and compactions', async () => {
    const own: string[] = []
    for (let size = 0; size <= 64; size += 8) {
      const { state, resets } = await read()
      expect(keysOf(state)).toHaveLength(own.length)
      expect(resets).toBe(1)
      const names = Array.from({ length: 8 }, (_, index) => `at${size}-${index}`)
      await Promise.all(names.map((name) => create(name, MiB)))
      own.push(...names)
      await compact()
      await evictDurableObject(stub())
    }
  })

  it('writes and deletions between two pages are in later pages', async () => {
    const stored = await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    await compact()
    const { state, resets } = await read(undefined, async (page) => {
      if (page !== 1) return
      await remove('n0', stored[0]!)
      await update('n1', 200, stored[1]!)
      await remove('n23', stored[23]!)
      await create('new', 100)
    })
    expect(resets).toBe(1)
    expect(keysOf(state).sort()).toEqual(
      ['new', ...Array.from({ length: 22 }, (_, index) => `n${index + 1}`)].map((key) => `things/${key}`).sort(),
    )
    expect(state).toEqual((await read()).state)
  })

  it('a compaction below their first revision leaves the pages as they are', async () => {
    const stored = await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    await remove('n5', stored[5]!)
    later(6 * MINUTE)
    const { state, resets } = await read(undefined, async (page) => {
      if (page !== 1) return
      await remove('n0', stored[0]!)
      expect(await runDurableObjectAlarm(stub())).toBe(true)
      await evictDurableObject(stub())
    })
    expect(resets).toBe(1)
    expect(keysOf(state)).toHaveLength(22)
  })

  it('begin again after a compaction above their first revision, without the keys deleted meanwhile', async () => {
    const stored = await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    const { state, resets } = await read(undefined, async (page) => {
      if (page !== 1) return
      await remove('n0', stored[0]!)
      await compact()
    })
    expect(resets).toBe(2)
    expect(keysOf(state)).toHaveLength(23)
  })

  it('a reader that is too slow again and again is refused rather than kept for ever', async () => {
    await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    await expect(read(undefined, compact)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('a copy that is behind by pages goes on from where it is; one from before the compaction begins anew', async () => {
    const { state: known, revision } = await read()
    await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    const behind = await read(revision, undefined, undefined, known)
    expect(behind.resets).toBe(0)
    expect(behind.pages.length).toBeGreaterThan(1)
    await compact()
    const anew = await read(revision, undefined, undefined, known)
    expect(anew.resets).toBe(1)
    expect(keysOf(anew.state).sort()).toEqual(keysOf(behind.state).sort())
  })

  it('a copy that falls behind a compaction between its pages begins anew', async () => {
    const stored = await create('old', 100)
    const { state: known, revision } = await read()
    await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    const { state, resets } = await read(
      revision,
      async (page) => {
        if (page !== 1) return
        await remove('old', stored)
        await compact()
      },
      undefined,
      known,
    )
    expect(resets).toBe(1)
    expect(keysOf(state)).toHaveLength(24)
  })

  it('an object of the release before, which begins anew with each page, ends in an error and not in a circle', async () => {
    await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    await compact()
    let calls = 0
    const before: Storage = {
      ...storage,
      changes: async (shard, since) => {
        calls++
        const { resetAt: _, ...page } = await storage.changes(shard, since)
        return page
      },
    }
    await expect(read(undefined, undefined, before)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(calls).toBeLessThan(10)
  })

  it('an object of the release before, of which nothing was compacted, is read', async () => {
    await Promise.all(Array.from({ length: 24 }, (_, index) => create(`n${index}`, MiB)))
    const before: Storage = {
      ...storage,
      changes: async (shard, since) => {
        const { resetAt: _, ...page } = await storage.changes(shard, since)
        return page
      },
    }
    expect(keysOf((await read(undefined, undefined, before)).state)).toHaveLength(24)
  })

  it('a page that does not go forward is an error', async () => {
    const stuck: Storage = {
      ...storage,
      changes: async () => ({ revision: 7, reset: false, more: true, changed: [] }),
    }
    await expect(read(7, undefined, stuck)).rejects.toThrow('went no further than 7')
  })
})

describe('an object that answered what changed', () => {
  const shard = { tenant: 'changes-here', shard: 'control' }
  const things = { ...shard, prefix: 'things' }
  const here = () => revisionHere(shard, Date.now())
  const stub = () => SHARDS.getByName('changes-here/control')

  it('shows its isolate the revision of each write, until it begins anew or is restored', async () => {
    await storage.create(things, 'a', valueOf('a', 'first'))
    expect(here()).toBeUndefined()
    const { revision } = await storage.changes(shard, undefined)
    expect(here()).toBe(revision)
    const written = await storage.create(things, 'b', valueOf('b', 'second'))
    expect(here()).toBe(written.revision)

    await stub().lockForRestore(1)
    expect(here()).toBeUndefined()
    await stub().unlockRestored(1, written.revision)
    await storage.changes(shard, undefined)
    expect(here()).toBeGreaterThan(written.revision)

    await evictDurableObject(stub())
    await storage.create(things, 'c', valueOf('c', 'third'))
    expect(here()).toBeUndefined()
  })
})
