// The database of a shard goes a while after its type. A new shard of the name answers as the old one would.
import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Env } from '../../src/env.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import { listed, valueOf } from '../storage-suite.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)
const MINUTE = 60_000

describe('the database of a shard whose type is gone', () => {
  let things = { tenant: '', shard: 'things.example.com', prefix: 'things.example.com' }
  let test = 0
  const stub = () => SHARDS.getByName(`${things.tenant}/${things.shard}`)
  const stats = () => storage.stats(things)
  const create = (key: string) => storage.create(things, key, valueOf(key, '1'))
  const remove = (key: string, revision: number) => storage.delete(things, key, valueOf(key, '1'), revision)
  const later = (milliseconds: number) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + milliseconds)
  }
  const tables = () =>
    runInDurableObject(
      stub(),
      (_, { storage: { sql } }) =>
        sql.exec("SELECT name FROM sqlite_schema WHERE name IN ('rev', 'cur', 'meta')").toArray().length,
    )
  /** Rings every alarm that is due within a time. */
  const ring = async (milliseconds: number) => {
    for (const end = Date.now() + milliseconds; Date.now() < end;) {
      later(MINUTE)
      await runDurableObjectAlarm(stub())
    }
  }
  const retired = async () => {
    const a = await create('a')
    const gone = await remove('a', a.revision)
    await storage.renew(things)
    await storage.retire(things)
    return { created: a.revision, gone: gone.revision }
  }

  beforeEach(() => {
    things = { ...things, tenant: `removal-${test++}` }
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('goes when the retention is over', async () => {
    await retired()
    await ring(4 * MINUTE)
    expect(await tables()).toBe(3)
    await ring(4 * MINUTE)
    expect(await tables()).toBe(0)
  })

  it('goes so too where the object was evicted meanwhile', async () => {
    await retired()
    await evictDurableObject(stub())
    await ring(8 * MINUTE)
    expect(await tables()).toBe(0)
  })

  it('is made anew by the next call, with later revisions, and what a client had before counts as too old', async () => {
    const { created, gone } = await retired()
    await ring(8 * MINUTE)
    expect(await storage.get(things, 'a')).toBeUndefined()
    expect(await tables()).toBe(3)
    const next = await create('a')
    expect(next.revision).toBeGreaterThan(gone)
    await expect(storage.watch(things, { selection: everything, from: created })).rejects.toMatchObject({
      code: 'Compacted',
    })
    const at = { kind: 'exact', revision: created } as const
    await expect(storage.list(things, { selection: everything, at })).rejects.toMatchObject({ code: 'Compacted' })
  })

  it.each([
    ['a list', async () => expect((await listed(storage, things)).values).toBe('')],
    ['a watch', async () => (await storage.watch(things, { selection: everything })).cancel()],
    ['a look at its revision', async () => expect(await storage.revision(things)).toBeGreaterThan(0)],
    ['a look at namespaces', async () => expect(await storage.occupied(things, ['a'])).toEqual([])],
    ['the end of watches', () => storage.renew(things)],
    ['another end of its type', () => storage.retire(things)],
    ['a lock', () => storage.lock(things, 1)],
    ['its figures', async () => expect(await stats()).toMatchObject({ keys: 0, versions: 0 })],
  ])('is made anew by %s', async (_, call) => {
    await retired()
    await ring(8 * MINUTE)
    await call()
    expect(await tables()).toBe(3)
  })

  it('is made anew by several writes at once, and loses none', async () => {
    await retired()
    await ring(8 * MINUTE)
    const written = await Promise.all([create('b'), create('c'), create('d')])
    expect((await listed(storage, things)).values).toMatch(/^b=1 c=1 d=1$/)
    expect(new Set(written.map(({ revision }) => revision)).size).toBe(3)
  })

  it.each([
    ['was written to again', async () => void (await create('b'))],
    [
      'has a reader of an old state',
      async () => storage.hold(things, 'backup', await storage.revision(things), 60 * MINUTE),
    ],
    [
      'has a watcher',
      async () => void (await storage.watch(things, { selection: everything, from: await storage.revision(things) })),
    ],
    ['is being restored', async () => storage.lock(things, 1)],
  ])('stays where the shard %s', async (_, keep) => {
    await retired()
    await keep()
    await ring(12 * MINUTE)
    expect(await tables()).toBe(3)
  })

  it('stays while the type is there, however empty it is', async () => {
    const a = await create('a')
    await remove('a', a.revision)
    await ring(12 * MINUTE)
    expect(await tables()).toBe(3)
  })

  it('stays for a built-in type', async () => {
    things = { ...things, shard: 'configmaps', prefix: 'configmaps' }
    await retired()
    await ring(12 * MINUTE)
    expect(await tables()).toBe(3)
  })
})
