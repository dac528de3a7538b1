import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { platformClock } from '../../src/api/clock.ts'
import type { Env } from '../../src/env.ts'
import { shardStorage } from '../../src/storage/shard-client.ts'
import { storedValue } from '../../src/storage/shard-protocol.ts'

const { SHARDS } = env as unknown as Env

test('a shard answers a get with an object to a caller of an earlier release, and with text to others', async () => {
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
