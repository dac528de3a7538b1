import { expect, test } from 'vitest'
import type { ShardCalls } from '../../../src/storage/shards/object-calls.ts'
import { objectStorage, shardStorage } from '../../../src/storage/shards/shard-client.ts'
import { TurnBudget } from '../../../src/storage/shards/turn-budget.ts'

const things = { tenant: 'root', shard: 'things', prefix: 'things' }
const others = { tenant: 'root', shard: 'others', prefix: 'others' }

/** A namespace whose stubs stay broken after a call that fails. `made` has the shards of its stubs. */
function namespace() {
  const made: string[] = []
  let failing = false
  const get = (name: string) => {
    made.push(name)
    let isBroken = false
    return {
      async revision() {
        isBroken ||= failing
        failing = false
        if (isBroken) throw Object.assign(new Error('the object moved'), { retryable: true })
        return made.length
      },
    }
  }
  const shards = { idFromName: (name: string) => name, get } as unknown as DurableObjectNamespace<ShardCalls>
  return { made, shards, failNext: () => void (failing = true) }
}

test('an object keeps the stub of a shard', async () => {
  const { made, shards } = namespace()
  const storage = objectStorage(shards, () => 0, { turns: new TurnBudget(() => 0) })
  for (let call = 0; call < 3; call++) await Promise.all([storage.revision(things), storage.revision(others)])
  expect(made).toEqual(['root/things', 'root/others'])
})

test('a stub whose call failed is dropped, and the repeated call uses a new one', async () => {
  const { made, shards, failNext } = namespace()
  const storage = objectStorage(shards, () => 0, { turns: new TurnBudget(() => 0) })
  expect(await storage.revision(things)).toBe(1)
  failNext()
  expect(await storage.revision(things)).toBe(2)
  expect(await storage.revision(things)).toBe(2)
  expect(made).toEqual(['root/things', 'root/things'])
})

test('requests make a stub for each call, because the engine ends stubs with the request that made them', async () => {
  const { made, shards } = namespace()
  const storage = shardStorage(shards, () => 0)
  for (let call = 0; call < 3; call++) await storage.revision(things)
  expect(made).toHaveLength(3)
})
