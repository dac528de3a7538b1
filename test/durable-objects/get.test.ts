import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import type { Env } from '../../src/env.ts'
import type { Collection } from '../../src/storage/storage.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import { storedValue } from '../../src/storage/shards/shard-protocol.ts'

const { SHARDS } = env as unknown as Env

test('a shard answers a get with an object to a caller of an earlier release, and with text to newer callers', async () => {
  const collection = { tenant: crypto.randomUUID(), shard: 'pods', prefix: 'pods' }
  const start = '{"metadata":{"resourceVersion":"'
  const rest = '","uid":"u"},"data":"ü\\n"}'
  const { revision } = await shardStorage(SHARDS, platformClock).create(collection, 'a/b', {
    text: start + rest,
    at: start.length,
    uid: 'u',
  })
  const stored = { revision, text: `${start}${revision}${rest}` }
  const shard = SHARDS.getByName(`${collection.tenant}/pods`)
  expect(await shard.get('pods/a/b', 0, true)).toEqual({ value: stored })
  const answer = await shard.get('pods/a/b', 0, true, true)
  expect(storedValue(answer as string)).toEqual(stored)
  expect(await shard.get('pods/a/c', 0, true)).toEqual({ value: undefined })
  expect(await shard.get('pods/a/c', 0, true, true)).toBeUndefined()
})

test('a shard answers a repeated get with the stored value after every kind of write', async () => {
  const collection = { tenant: crypto.randomUUID(), shard: 'pods', prefix: 'pods' }
  const storage = shardStorage(SHARDS, platformClock)
  const valueOf = (data: string) => {
    const start = '{"metadata":{"resourceVersion":"'
    return { text: `${start}","uid":"u"},"data":"${data}"}`, at: start.length, uid: 'u' }
  }
  const found = async () => {
    const get = () => storage.get(collection, 'a/b')
    const [first, ...more] = [await get(), await get(), await get()]
    expect(more).toEqual([first, first])
    return first
  }
  expect(await found()).toBeUndefined()
  const created = await storage.create(collection, 'a/b', valueOf('one'))
  expect(await found()).toEqual(created)
  const updated = await storage.update(collection, 'a/b', valueOf('two'), created.revision)
  expect(await found()).toEqual(updated)
  // The first write is refused; the second fails within its transaction.
  await expect(storage.update(collection, 'a/b', valueOf('three'), created.revision)).rejects.toThrow('Conflict')
  expect(await found()).toEqual(updated)
  await storage.delete(collection, 'a/b', valueOf('four'), updated.revision)
  expect(await found()).toBeUndefined()
  const again = await storage.create(collection, 'a/b', valueOf('five'))
  expect(await found()).toEqual(again)
  const restore = 1
  await storage.lock(collection, restore)
  await storage.clear(collection, restore)
  await storage.unlock(collection, restore, again.revision)
  expect(await found()).toBeUndefined()
})

test('a third get reads no row, and a shard caches no long value', async () => {
  const collection = { tenant: crypto.randomUUID(), shard: 'pods', prefix: 'pods' }
  const storage = shardStorage(SHARDS, platformClock)
  const start = '{"metadata":{"resourceVersion":"'
  const rowsOfGet = async (key: string) => {
    const before = (await storage.stats(collection)).rowsRead
    await storage.get(collection, key)
    const after = (await storage.stats(collection)).rowsRead
    return after - before - counting
  }
  let counting = 0
  for (const key of ['a/short', 'a/long']) {
    const text = `${start}"},"data":"${'x'.repeat(key === 'a/long' ? 200_000 : 10)}"}`
    await storage.create(collection, key, { text, at: start.length, uid: 'u' })
  }
  counting = await rowsOfGet('a/none')
  const rowsOfGets = async (key: string) => [await rowsOfGet(key), await rowsOfGet(key), await rowsOfGet(key)]
  const some = expect.any(Number) as number
  expect(await rowsOfGets('a/short')).toEqual([some, some, 0])
  expect(await rowsOfGets('a/long')).not.toContain(0)
})

test('the shards of one isolate share one cache, which keeps the values last read again', async () => {
  const storage = shardStorage(SHARDS, platformClock)
  const start = '{"metadata":{"resourceVersion":"'
  const text = `${start}"},"data":"${'x'.repeat(100_000)}"}`
  const rowsRead = async (collection: Collection) => (await storage.stats(collection)).rowsRead
  const isRemembered = async (collection: Collection, key: string) => {
    const [begin, before] = [await rowsRead(collection), await rowsRead(collection)]
    await storage.get(collection, key)
    return (await rowsRead(collection)) - before === before - begin
  }
  const readTwice = async (collection: Collection, key: string) => {
    await storage.create(collection, key, { text, at: start.length, uid: 'u' })
    await storage.get(collection, key)
    await storage.get(collection, key)
  }
  const fresh = (): Collection => ({ tenant: crypto.randomUUID(), shard: 'pods', prefix: 'pods' })
  const [one, other] = [fresh(), fresh()]
  await readTwice(one, 'a/0')
  expect(await isRemembered(one, 'a/0')).toBe(true)
  for (let n = 0; n < 50; n++) await readTwice(other, `a/${n}`)
  expect(await isRemembered(one, 'a/0')).toBe(false)
  expect(await isRemembered(other, 'a/49')).toBe(true)
  expect(await isRemembered(other, 'a/0')).toBe(false)
})
