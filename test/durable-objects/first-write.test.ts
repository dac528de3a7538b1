// The control shard lists every shard with a write, and opens none of them to do so.
import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { FirstWrite } from '../../durable-objects/first-write.ts'
import type { Statements } from '../../durable-objects/statements.ts'
import type { Env } from '../../src/env.ts'
import { preferredIndex } from '../../src/storage/revisions/places.ts'
import { PLACES } from '../../src/storage/revisions/revision.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import { CONTROL_SHARD, writtenShardsOf } from '../../src/storage/shards/written-shards.ts'
import { everything } from '../../src/storage/selectors/selection.ts'

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
      return changed.filter(({ key }) => key.startsWith(prefix)).map(({ key }) => key.slice(prefix.length + 1))
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

describe('shards of definitions', () => {
  // Both prefer the same place.
  const [one = '', other = ''] = [
    ...Map.groupBy(
      Array.from({ length: 90 }, (_, index) => `things${index}.example.com`),
      preferredIndex,
    ).values(),
  ].find((shards) => shards.length > 1)!
  const remainderOf = ({ revision }: { readonly revision: number }) => revision % PLACES
  const writeTo = (tenant: string, shard: string, name: string) => {
    const start = '{"metadata":{"resourceVersion":"'
    const value = { text: `${start}"}}`, at: start.length, uid: `${name}-${crypto.randomUUID()}` }
    return storage.create({ tenant, shard, prefix: shard }, name, value)
  }

  it('never give the same revision, also after a restart', async () => {
    const { tenant } = planeOf().control
    const [first, second] = [await writeTo(tenant, one, 'a'), await writeTo(tenant, other, 'a')]
    expect(remainderOf(first)).not.toBe(remainderOf(second))
    await evictDurableObject(SHARDS.getByName(`${tenant}/${one}`))
    expect(remainderOf(await writeTo(tenant, one, 'b'))).toBe(remainderOf(first))
  })

  it('that an earlier release registered get places of their own before they write again', async () => {
    const { tenant } = planeOf().control
    await writeTo(tenant, one, 'a')
    const stub = SHARDS.getByName(`${tenant}/${one}`)
    await runInDurableObject(stub, (_, { storage }) => void storage.sql.exec("DELETE FROM meta WHERE k = 'place'"))
    const places = { tenant, shard: CONTROL_SHARD, prefix: 'revisionplaces.kedge' }
    const row = (await storage.get(places, String(preferredIndex(one))))!
    await storage.delete(places, String(preferredIndex(one)), { text: row.text, at: 0, uid: '' }, row.revision)
    await evictDurableObject(stub)
    const taken = await writeTo(tenant, other, 'a')
    expect(remainderOf(await writeTo(tenant, one, 'b'))).not.toBe(remainderOf(taken))
  })

  it('that are deleted release their places; later owners continue above every revision given', async () => {
    const { tenant } = planeOf().control
    let { revision, text } = await writeTo(tenant, one, 'a')
    // The revisions of this burst run ahead of the clock.
    const ahead = await Promise.all(Array.from({ length: 90 }, (_, index) => writeTo(tenant, one, `b${index}`)))
    const collection = { tenant, shard: one, prefix: one }
    const last = { text, at: 0, uid: '' }
    for (const [index, at] of ahead.entries()) await storage.delete(collection, `b${index}`, last, at.revision)
    revision = (await storage.delete(collection, 'a', last, revision)).revision
    await storage.retire(collection)
    const next = await writeTo(tenant, other, 'a')
    expect(remainderOf(next)).toBe(remainderOf(ahead[0]!))
    expect(next.revision).toBeGreaterThan(revision)
  })
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

  it('hears of a shard once, though several writes are first together and more follow a restart', async () => {
    const { control, things, write, rows } = planeOf()
    await Promise.all(['a', 'b', 'c'].map(write))
    const { revision } = await storage.changes(control)
    await evictDurableObject(SHARDS.getByName(`${things.tenant}/${things.shard}`))
    await write('d')
    expect(await rows()).toEqual(['things'])
    expect((await storage.changes(control)).revision).toBe(revision)
  })

  it('refuses every first write to a shard while it cannot be reached', async () => {
    const { control, things, write, rows } = planeOf()
    await storage.lock(control, 1)
    await expect(write('a')).rejects.toMatchObject({ code: 'Restoring' })
    expect(await storage.get(things, 'a')).toBeUndefined()
    await storage.unlock(control, 1, 0)
    await write('a')
    expect(await rows()).toEqual(['things'])
  })

  it('forgets an empty shard whose type was deleted, and has a row again after its next write', async () => {
    const { things, write, rows } = planeOf()
    const created = await write('a')
    await storage.retire(things)
    expect(await rows()).toEqual(['things'])
    await storage.delete(things, 'a', { text: created.text, at: 0, uid: 'gone' }, created.revision)
    // Either call may be first. The row is there in both orders.
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

  it('is told again where a restore emptied both while a shard waited for the answer', async () => {
    const meta = new Map<string, number>()
    const statements = {
      meta: (key: string) => meta.get(key) ?? 0,
      setMeta: (key: string, value: number) => void meta.set(key, value),
    } as unknown as Statements
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let told = 0
    const first = new FirstWrite(
      statements,
      () => answers[told++]!.promise,
      undefined,
      () => {},
    )
    const written = first.announced()!.then(() => 'written')
    first.forget()
    answers[0]!.resolve()
    expect(await Promise.race([written, new Promise((resolve) => setTimeout(() => resolve('waits'), 0))])).toBe('waits')
    expect(told).toBe(2)
    answers[1]!.resolve()
    expect(await written).toBe('written')
    expect(first.announced()).toBeUndefined()
  })

  it('gets the row of a shard again after a restore emptied it', async () => {
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
