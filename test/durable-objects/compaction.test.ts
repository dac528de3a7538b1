import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Compactor } from '../../durable-objects/compactor.ts'

import { Log } from '../../durable-objects/log.ts'
import { statements } from '../../durable-objects/statements.ts'
import type { Env } from '../../src/env.ts'
import { PLACES, revisionAt } from '../../src/storage/revisions/revision.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { Revision, StoredValue } from '../../src/storage/storage.ts'
import { listed, take, valueOf } from '../storage-suite.ts'
import { inShard } from './in-shard.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)
const MINUTE = 60_000

describe('compaction', () => {
  let things = { tenant: '', shard: 'things', prefix: 'things' }
  let test = 0
  const stub = () => SHARDS.getByName(`${things.tenant}/${things.shard}`)
  const stats = () => storage.stats(things)
  const create = (key: string) => storage.create(things, key, valueOf(key, '1'))
  const update = (key: string, content: string, { revision }: StoredValue) =>
    storage.update(things, key, valueOf(key, content), revision)
  const remove = (key: string, { revision }: StoredValue) => storage.delete(things, key, valueOf(key, '1'), revision)
  /** Moves the clock, which the object and the test share. */
  const later = (milliseconds: number) => {
    const now = Date.now() + milliseconds
    vi.spyOn(Date, 'now').mockReturnValue(now)
  }

  /** Each look at the clock takes five seconds from now on. */
  const slowDown = () => {
    let now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => (now += 5_000))
  }
  /** @returns how many alarms it took */
  const alarmsUntil = async (isDone: () => Promise<boolean>) => {
    for (let alarms = 0; ; alarms++) {
      if (await isDone()) return alarms
      expect(await runDurableObjectAlarm(stub())).toBe(true)
    }
  }

  beforeEach(() => {
    things = { ...things, tenant: `compaction-${test++}` }
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('is not scheduled while nothing was replaced', async () => {
    await create('a')
    await create('b')
    expect(await runDurableObjectAlarm(stub())).toBe(false)
  })

  it('drops by alarm the versions that were replaced longer ago than the retention', async () => {
    const a2 = await update('a', '2', await create('a'))
    await remove('b', await create('b'))
    later(4 * MINUTE)
    const c2 = await update('c', '2', await create('c'))
    expect(await stats()).toMatchObject({ keys: 2, versions: 6 })
    later(2 * MINUTE)
    expect(await runDurableObjectAlarm(stub())).toBe(true)
    const { versions, floor, lastCompaction } = await stats()
    expect(versions).toBe(3)
    expect(lastCompaction).toBe(Date.now())
    expect(floor).toBeGreaterThan(a2.revision)
    expect(floor).toBeLessThan(c2.revision)
    await evictDurableObject(stub())
    expect((await stats()).lastCompaction).toEqual(lastCompaction)
    later(6 * MINUTE)
    expect(await runDurableObjectAlarm(stub())).toBe(true)
    expect(await stats()).toMatchObject({ keys: 2, versions: 2 })
    expect(await runDurableObjectAlarm(stub())).toBe(false)
  })

  it('goes on over many batches', async () => {
    const first = await Promise.all(Array.from({ length: 1_300 }, (_, i) => create(`n${i}`)))
    await Promise.all(first.map((stored, i) => update(`n${i}`, '2', stored)))
    later(6 * MINUTE)
    await runDurableObjectAlarm(stub())
    expect(await stats()).toMatchObject({ keys: 1_300, versions: 1_300 })
  })

  it('is paid for with one row for each that is replaced: three rows for an update, from end to end', async () => {
    let stored = await create('a')
    let before = await stats()
    const created = await create('b')
    expect((await stats()).rowsWritten - before.rowsWritten).toBe(2)
    await remove('b', created)
    before = await stats()
    for (let i = 0; i < 100; i++) stored = await update('a', String(i), stored)
    later(6 * MINUTE)
    await runDurableObjectAlarm(stub())
    const rows = (await stats()).rowsWritten - before.rowsWritten
    // The deletion leaves two rows to drop, the run writes three of its own, and the first one notes where it began.
    expect(rows).toBeLessThanOrEqual(3 * 100 + 2 + 3 + 1)
  })

  it('lets continue tokens expire although nothing is written', async () => {
    for (const key of ['a', 'b', 'c']) await create(key)
    later(60 * MINUTE)
    const page = await listed(storage, things, { limit: 1 })
    expect(page.revision).toBe(revisionAt(Date.now()))
    const next = {
      selection: everything,
      limit: 1,
      start: 'a\0',
      at: { kind: 'exact', revision: page.revision } as const,
    }
    later(4 * MINUTE)
    expect((await listed(storage, things, next)).values).toBe('b=1')
    later(2 * MINUTE)
    await expect(storage.list(things, next)).rejects.toMatchObject({ code: 'Compacted' })
    // The log still has every change after this revision: a watch can start there.
    await expect(storage.watch(things, { selection: everything, from: page.revision })).resolves.toBeDefined()
  })

  it('keeps versions for the retention that each tenant sets', async () => {
    things = { ...things, tenant: 'keeps-days' }
    const a1 = await create('a')
    await update('a', '2', a1)
    later(47 * 60 * MINUTE)
    await runDurableObjectAlarm(stub())
    expect(await stats()).toMatchObject({ versions: 2 })
    const at = { kind: 'exact', revision: a1.revision } as const
    expect((await listed(storage, things, { at })).values).toBe('a=1')
    later(2 * 60 * MINUTE)
    await runDurableObjectAlarm(stub())
    expect(await stats()).toMatchObject({ versions: 1 })
    await expect(storage.list(things, { selection: everything, at })).rejects.toMatchObject({ code: 'Compacted' })
  })

  it('is tried again after a failure', async () => {
    await update('a', '2', await create('a'))
    later(6 * MINUTE)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await inShard(stub(), ({ parts: { compactor } }) => {
      vi.spyOn(compactor, 'run').mockRejectedValueOnce(new Error('database or disk is full: SQLITE_FULL'))
    })
    expect(await runDurableObjectAlarm(stub())).toBe(true)
    expect(await stats()).toMatchObject({ versions: 2 })
    expect(await runDurableObjectAlarm(stub())).toBe(true)
    expect(await stats()).toMatchObject({ versions: 1 })
  })

  it('writes few rows of its own, however much it drops', async () => {
    const made = await Promise.all(Array.from({ length: 300 }, (_, n) => create(`n${n}`)))
    await Promise.all(made.map((stored, n) => update(`n${n}`, '2', stored)))
    const before = (await stats()).rowsWritten
    later(6 * MINUTE)
    await runDurableObjectAlarm(stub())
    const { rowsWritten, versions } = await stats()
    expect(versions).toBe(300)
    expect(rowsWritten - before - 300).toBeLessThanOrEqual(4)
  })

  it('leaves to further alarms what takes longer than an invocation', async () => {
    const made = await Promise.all(Array.from({ length: 300 }, (_, n) => create(`n${n}`)))
    await Promise.all(made.map((stored, n) => update(`n${n}`, '2', stored)))
    later(6 * MINUTE)
    slowDown()
    expect(await alarmsUntil(async () => (await stats()).versions === 300)).toBeGreaterThan(1)
  })

  it('takes few bytes a turn where values are large', async () => {
    let stored = await create('a')
    const large = 'x'.repeat(1024 * 1024)
    for (let i = 0; i < 4; i++) stored = await update('a', `${i}${large}`, stored)
    let turns = 0
    await runInDurableObject(stub(), (_, { storage: disk }) => {
      const all = statements(disk.sql, () => {})
      const log = new Log(all, () => Date.now(), 0, { first: 1, every: PLACES })
      const transact = (work: () => void) => disk.transactionSync(work)
      const others = async () => void turns++
      return new Compactor(log, all, { retention: 0 }, transact, () => Date.now(), others).run(log.last)
    })
    expect(turns).toBeGreaterThanOrEqual(2)
    await evictDurableObject(stub())
    expect(await stats()).toMatchObject({ versions: 1 })
  })

  describe('interrupted', () => {
    /** Replaces and deletes keys. @returns the whole state at each revision */
    const makeHistory = async () => {
      const states = new Map<Revision, string>()
      const live = new Map<string, string>()
      const record = (revision: Revision) =>
        states.set(
          revision,
          [...live]
            .map(([k, v]) => `${k}=${v}`)
            .sort()
            .join(' '),
        )
      const made = await Promise.all(Array.from({ length: 60 }, (_, i) => create(`n${100 + i}`)))
      made.forEach((stored, i) => {
        live.set(`n${100 + i}`, '1')
        record(stored.revision)
      })
      for (const [i, stored] of made.entries()) {
        const key = `n${100 + i}`
        if (i % 3 === 0) {
          live.delete(key)
          record((await remove(key, stored)).revision)
        } else {
          live.set(key, '2')
          const second = await update(key, '2', stored)
          record(second.revision)
          live.set(key, '3')
          record((await update(key, '3', second)).revision)
        }
      }
      return states
    }

    /** Checks that every state from the floor on is unchanged. */
    const check = async (states: ReadonlyMap<Revision, string>) => {
      const { floor } = await stats()
      const kept = [...states].filter(([revision]) => revision >= floor)
      for (const [revision, state] of [...kept.slice(0, 3), ...kept.slice(-3)])
        expect((await listed(storage, things, { at: { kind: 'exact', revision } })).values).toBe(state)
      const watch = await storage.watch(things, { selection: everything, from: floor })
      const events = kept.filter(([revision]) => revision > floor)
      expect((await take(watch, events.length)).length).toBe(events.length)
      watch.cancel()
      return floor
    }

    /** Counts the versions that compaction has to drop: those replaced at the floor or below. */
    const leftBelow = (floor: Revision) =>
      runInDurableObject(stub(), (_, { storage: disk }) =>
        Number(
          disk.sql
            .exec(
              `SELECT count(*) AS n FROM rev WHERE rv <= ? AND rv NOT IN (SELECT rv FROM cur)
                 AND rv NOT IN (SELECT prv FROM rev WHERE rv > ? AND prv IS NOT NULL)`,
              floor,
              floor,
            )
            .one().n,
        ),
      )

    /** Runs a compactor. Its n-th statement fails, or the object ends before its n-th further turn. */
    const runWith = (target: Revision, failing: { statement?: number; turn?: number }) =>
      runInDurableObject(stub(), async (_, state) => {
        let [statement, turn] = [0, 0]
        const real = statements(state.storage.sql, () => {})
        const log = new Log(real, () => Date.now(), 0, { first: 1, every: PLACES })
        const brittle = new Proxy(real, {
          get: (all, name: keyof typeof real) =>
            typeof all[name] !== 'function'
              ? all[name]
              : (...values: never[]) => {
                  if (++statement === failing.statement) throw new Error('interrupted')
                  return (all[name] as (...values: never[]) => unknown)(...values)
                },
        })
        const others = async () => {
          if (++turn === failing.turn) state.abort('interrupted')
        }
        const transact = (work: () => void) => state.storage.transactionSync(work)
        await new Compactor(log, brittle, { retention: 0 }, transact, () => Date.now(), others).run(target)
      })

    for (const what of ['statement', 'turn'] as const)
      it(`at any ${what}, it leaves all of the rest, and goes on later`, async () => {
        const states = await makeHistory()
        const target = [...states.keys()].at(-10)!
        vi.spyOn(console, 'error').mockImplementation(() => {})
        let interruptions = 0
        for (let n = 1; ; n++) {
          const outcome = await runWith(target, { [what]: n }).then(
            () => 'done',
            (error: unknown) => String(error),
          )
          await evictDurableObject(stub()).catch(() => {})
          await check(states)
          if (outcome === 'done') break
          expect(outcome).toContain('interrupted')
          interruptions++
        }
        expect(interruptions).toBeGreaterThan(what === 'turn' ? 0 : 2)
        expect(await check(states)).toBe(target)
        expect((await stats()).keys).toBe(40)
        expect(await leftBelow(target)).toBe(0)
      })
  })

  describe('of Leases', () => {
    const CHANGES = 12_000
    /** Runs inside the object: thousands of calls from outside take long. */
    const renew = (of: string, keys: number) =>
      runInDurableObject(stub(), async (shard) => {
        const revisions: Revision[] = []
        for (let i = 0; i < CHANGES / keys; i++)
          await Promise.all(
            Array.from({ length: keys }, async (_, n) => {
              const value = valueOf(`${of}${n}`, String(i))
              const key = `${things.prefix}/${of}${n}`
              const before = revisions[n]
              const reply = await (before === undefined
                ? shard.create(key, value, 'first')
                : shard.update(key, value, before, 'first'))
              if ('value' in reply) revisions[n] = reply.value.revision
            }),
          )
        return revisions
      })
    const shardOf = (shard: string) => (things = { ...things, shard, prefix: shard })

    it('keeps a bounded number of changes, and always those of the last minute', async () => {
      shardOf('leases.coordination.k8s.io')
      await renew('lease', 1_000)
      // A watcher that lost its connection a moment ago can always resume without a new list.
      await runDurableObjectAlarm(stub())
      expect((await stats()).versions).toBe(CHANGES)
      later(2 * MINUTE)
      const { revision } = await create('late')
      await renew('more', 1_000)
      later(2 * MINUTE)
      expect(await runDurableObjectAlarm(stub())).toBe(true)
      const { versions, floor } = await stats()
      expect(versions).toBeLessThanOrEqual(10_000 + 2_000 + 1)
      expect(floor).toBeGreaterThan(revision)
      await expect(storage.watch(things, { selection: everything, from: revision })).rejects.toMatchObject({
        code: 'Compacted',
      })
      later(6 * MINUTE)
      await runDurableObjectAlarm(stub())
      expect(await stats()).toMatchObject({ keys: 2_001, versions: 2_001 })
    })

    it('other resources keep all that the retention promises', async () => {
      shardOf('things')
      await renew('thing', 1_000)
      later(4 * MINUTE)
      await runDurableObjectAlarm(stub())
      expect((await stats()).versions).toBe(CHANGES)
    })
  })

  describe('of Events', () => {
    it('deletes what was not written for an hour, and tells watchers', async () => {
      things = { ...things, shard: 'events', prefix: 'events' }
      const a = await create('a')
      const b = await create('b')
      later(40 * MINUTE)
      await update('b', '2', b)
      const from = (await create('c')).revision
      const watch = await storage.watch(things, { selection: everything, from })
      later(22 * MINUTE)
      await runDurableObjectAlarm(stub())
      expect((await listed(storage, things)).values).toBe('b=2 c=1')
      const [gone] = await take(watch, 1)
      expect(gone).toMatch(/DELETED a=1/)
      expect(a.revision).toBeLessThan(from)
      watch.cancel()
      later(120 * MINUTE)
      expect(await runDurableObjectAlarm(stub())).toBe(true)
      expect(await stats()).toMatchObject({ keys: 0 })
      later(6 * MINUTE)
      await runDurableObjectAlarm(stub())
      expect(await stats()).toMatchObject({ keys: 0, versions: 0 })
      expect(await runDurableObjectAlarm(stub())).toBe(false)
    })

    it('leaves to further alarms what takes longer than an invocation', async () => {
      things = { ...things, shard: 'events', prefix: 'events' }
      await Promise.all(Array.from({ length: 300 }, (_, i) => create(`n${i}`)))
      later(62 * MINUTE)
      slowDown()
      expect(await alarmsUntil(async () => (await stats()).keys === 0)).toBeGreaterThan(1)
    })

    it('deletes many expired Events in several turns', async () => {
      things = { ...things, shard: 'events', prefix: 'events' }
      await Promise.all(Array.from({ length: 300 }, (_, i) => create(`n${i}`)))
      const before = await stats()
      later(62 * MINUTE)
      await runDurableObjectAlarm(stub())
      const { keys, rowsWritten, rowsRead } = await stats()
      expect(keys).toBe(0)
      // An expiry writes two rows, like a deletion; the compaction writes three of its own. The search for expired
      // Events reads no others.
      expect(rowsWritten - before.rowsWritten).toBeLessThanOrEqual(300 * 2 + 3)
      expect(rowsRead - before.rowsRead).toBeLessThanOrEqual(300 * 13)
    })
  })
})
