import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import type { Env } from '../../src/env.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'

const { SHARDS } = env as unknown as Env
const storage = shardStorage(SHARDS, platformClock)

it('asking for changes where nothing changed reads no row', async () => {
  const shard = { tenant: 'cost', shard: 'asked-often' }
  const start = '{"metadata":{"resourceVersion":"'
  for (const name of ['a', 'b', 'c'])
    await storage.create({ ...shard, prefix: 'things' }, name, { text: `${start}"}}`, at: start.length, uid: name })
  const { revision } = await storage.changes(shard)
  const rows = async () => (await storage.stats(shard)).rowsRead
  // The account itself reads rows: two accounts in a row give that number.
  const accounts = -(await rows()) + (await rows())
  const before = await rows()
  for (let n = 0; n < 30; n++) expect((await storage.changes(shard, revision)).changed).toEqual([])
  expect((await rows()) - before).toBe(accounts)
})
