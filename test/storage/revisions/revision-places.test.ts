import { expect, test } from 'vitest'
import { StorageError } from '../../../src/storage/errors.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import { CUSTOM_PLACES, preferredIndex, WIDE_PLACES } from '../../../src/storage/revisions/places.ts'
import { givePlaceBack, takePlace } from '../../../src/storage/revisions/revision-places.ts'
import type { Storage } from '../../../src/storage/storage.ts'

const now = () => Date.parse('2026-11-23T05:00:00Z')
const tenant = 't'
const shardOf = (name: string) => ({ tenant, shard: `${name}.example.com` })

/** Names whose shards ask for the same place first. */
const [one, other, third] = (() => {
  const byIndex = Map.groupBy(
    Array.from({ length: 200 }, (_, index) => shardOf(`things${index}`)),
    ({ shard }) => preferredIndex(shard),
  )
  return [...byIndex.values()].find((shards) => shards.length > 2)!
})()

test('two shards that ask for the same place get two', async () => {
  const control = memoryStorage(now)
  const first = await takePlace(control, one!)
  const second = await takePlace(control, other!)
  expect(first.index).toBe(preferredIndex(one!.shard))
  expect(second.index).not.toBe(first.index)
  expect(await takePlace(control, one!)).toEqual(first)
})

/** A control shard in which the places below `free` are taken by others. */
function fullBelow(free: number): Storage {
  const memory = memoryStorage(now)
  const rows = Array.from({ length: free }, (_, index) => `{"metadata":{"name":"${index}","uid":"x${index}"}}\n`).join(
    '',
  )
  return {
    ...memory,
    create: (collection, key, value) =>
      Number(key) < free ? Promise.reject(new StorageError('KeyExists')) : memory.create(collection, key, value),
    list: () => Promise.resolve({ revision: 1, isEmpty: false, values: new Response(rows).body! }),
  }
}

test('the last place that is free is found', async () => {
  expect((await takePlace(fullBelow(CUSTOM_PLACES - 1), shardOf('more'))).index).toBe(CUSTOM_PLACES - 1)
})

test('where no place is free the shard shares one', async () => {
  const shard = shardOf('more')
  expect(await takePlace(fullBelow(CUSTOM_PLACES), shard)).toEqual({ index: preferredIndex(shard.shard), since: 0 })
})

test('of two that ask at once each gets its own', async () => {
  const control = memoryStorage(now)
  const taken = await Promise.all([one!, other!, third!].map((shard) => takePlace(control, shard)))
  expect(new Set(taken.map(({ index }) => index)).size).toBe(3)
})

test('a place that was given back is taken again, for numbers above those that were given', async () => {
  const control = memoryStorage(now)
  const { index, since } = await takePlace(control, one!)
  const last = since + 77
  await givePlaceBack(control, one!, index, last)
  const again = await takePlace(control, other!)
  expect(again.index).toBe(index)
  expect(again.since).toBeGreaterThan(last)
})

test('wide places are taken first, and no two of many shards that ask at once get the same', async () => {
  const control = memoryStorage(now)
  const shards = Array.from({ length: WIDE_PLACES + 20 }, (_, index) => shardOf(`things${index}`))
  const taken = (await Promise.all(shards.map((shard) => takePlace(control, shard)))).map(({ index }) => index)
  expect(new Set(taken).size).toBe(shards.length)
  expect(taken.filter((index) => index < WIDE_PLACES)).toHaveLength(WIDE_PLACES)
})

test('a shard gives back no place of another one', async () => {
  const control = memoryStorage(now)
  const { index } = await takePlace(control, one!)
  await givePlaceBack(control, other!, index, 0)
  expect((await takePlace(control, other!)).index).not.toBe(index)
})

test('a failure to ask is one to write', async () => {
  const failing: Storage = {
    ...memoryStorage(now),
    create: () => Promise.reject(new Error('away')),
  }
  await expect(takePlace(failing, one!)).rejects.toThrow('away')
})
