import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Env } from '../../src/env.ts'
import { revisionAt } from '../../src/storage/revision.ts'
import { everything } from '../../src/storage/selection.ts'
import { shardStorage } from '../../src/storage/shard-client.ts'
import type { StoredValue } from '../../src/storage/storage.ts'
import { listed, valueOf } from '../storage-suite.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS)
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
  /** Object and test share a clock. */
  const later = (milliseconds: number) => {
    const now = Date.now() + milliseconds
    vi.spyOn(Date, 'now').mockReturnValue(now)
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

  it('drops by alarm what was replaced longer ago than the retention', async () => {
    const a2 = await update('a', '2', await create('a'))
    await remove('b', await create('b'))
    later(4 * MINUTE)
    const c2 = await update('c', '2', await create('c'))
    expect(await stats()).toMatchObject({ keys: 2, versions: 6 })
    later(2 * MINUTE)
    expect(await runDurableObjectAlarm(stub())).toBe(true)
    const { versions, floor, lastCompaction } = await stats()
    expect([versions, lastCompaction?.dropped]).toEqual([3, 3])
    expect(floor).toBeGreaterThan(a2.revision)
    expect(floor).toBeLessThan(c2.revision)
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
    expect(await stats()).toMatchObject({ keys: 1_300, versions: 1_300, lastCompaction: { dropped: 1_300 } })
  }, 30_000)

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
    // The deletion leaves two rows to drop, and the floor is one a batch.
    expect(rows).toBeLessThanOrEqual(3 * 100 + 2 + 1)
  })

  it('lets continue tokens expire also where nothing is written', async () => {
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
    // A watch goes on from any revision that is still told in full.
    await expect(storage.watch(things, { selection: everything, from: page.revision })).resolves.toBeDefined()
  })
})
