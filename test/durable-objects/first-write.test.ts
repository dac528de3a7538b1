// The control shard knows of every shard that was written to, and opens none of them to say so.
import { platformClock } from '../../src/api/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { Env } from '../../src/env.ts'
import { shardStorage } from '../../src/storage/shard-client.ts'
import { CONTROL_SHARD, writtenShardsOf } from '../../src/storage/written-shards.ts'
import { everything } from '../../src/storage/selection.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)

let tenants = 0

function planeOf() {
  const tenant = `first-write-${++tenants}`
  const control = { tenant, shard: CONTROL_SHARD }
  const things = { tenant, shard: 'things', prefix: 'things' }
  const start = '{"metadata":{"resourceVersion":"'
  return {
    control,
    things,
    write: (name: string) =>
      storage.create(things, name, { text: `${start}"}}`, at: start.length, uid: `${name}-${crypto.randomUUID()}` }),
    async rows() {
      const { prefix } = writtenShardsOf(tenant)
      const { changed } = await storage.changes(control)
      return changed.map(({ key }) => key.slice(prefix.length + 1))
    },
  }
}

it('a resource is renewed once for a state of its definition: watches that began since go on', async () => {
  const { things, write } = planeOf()
  const before = await write('a')
  const changed = (await write('definition')).revision
  await storage.renew(things, changed)
  const from = await storage.revision(things)
  await expect(storage.watch(things, { selection: everything, from: before.revision })).rejects.toMatchObject({
    code: 'Compacted',
  })
  await storage.renew(things, changed)
  expect(await storage.revision(things)).toBe(from)
  const watch = await storage.watch(things, { selection: everything, from })
  watch.cancel()
})

describe('the control shard', () => {
  it('has a row for a shard that is written to, and for none that is read', async () => {
    const { things, write, rows } = planeOf()
    expect(await storage.get(things, 'a')).toBeUndefined()
    await (await storage.list(things, { selection: everything, at: { kind: 'latest' } })).values.cancel()
    expect(await rows()).toEqual([])
    await write('a')
    expect(await rows()).toEqual(['things'])
  })

  it('is told once, of many that are the first together and of what is written after a restart', async () => {
    const { control, things, write, rows } = planeOf()
    await Promise.all(['a', 'b', 'c'].map(write))
    const { revision } = await storage.changes(control)
    await evictDurableObject(SHARDS.getByName(`${things.tenant}/${things.shard}`))
    await write('d')
    expect(await rows()).toEqual(['things'])
    expect((await storage.changes(control)).revision).toBe(revision)
  })

  it('that cannot be told lets nothing be written', async () => {
    const { control, things, write, rows } = planeOf()
    await storage.lock(control, 1)
    await expect(write('a')).rejects.toMatchObject({ code: 'Restoring' })
    expect(await storage.get(things, 'a')).toBeUndefined()
    await storage.unlock(control, 1, 0)
    await write('a')
    expect(await rows()).toEqual(['things'])
  })

  it('forgets one that is empty and whose type went, and knows it again when it is written to', async () => {
    const { things, write, rows } = planeOf()
    const created = await write('a')
    await storage.retire(things)
    expect(await rows()).toEqual(['things'])
    await storage.delete(things, 'a', { text: created.text, at: 0, uid: 'gone' }, created.revision)
    // one of them comes first, and the row is there where the other is not
    const [, again] = await Promise.all([storage.retire(things), write('b')])
    expect(await rows()).toEqual(['things'])
    await storage.delete(things, 'b', { text: again.text, at: 0, uid: 'gone' }, again.revision)
    await storage.retire(things)
    await storage.retire(things)
    expect(await rows()).toEqual([])
    await evictDurableObject(SHARDS.getByName(`${things.tenant}/${things.shard}`))
    await write('c')
    expect(await rows()).toEqual(['things'])
  })

  it('that was emptied by a restore is told again', async () => {
    const { control, things, write, rows } = planeOf()
    await write('a')
    for (const shard of [control, things]) await storage.lock(shard, 1)
    for (const shard of [things, control]) {
      await storage.clear(shard, 1)
      await storage.unlock(shard, 1, 0)
    }
    expect(await rows()).toEqual([])
    await write('a')
    expect(await rows()).toEqual(['things'])
  })
})
