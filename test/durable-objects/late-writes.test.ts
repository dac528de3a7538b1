// A write that is on its way while a restore replaces the control plane, and arrives after it.
import { platformClock } from '../../src/base/clock.ts'
import { env } from 'cloudflare:workers'
import { evictDurableObject } from 'cloudflare:test'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Env } from '../../src/env.ts'
import type { ShardCalls } from '../../src/storage/shards/object-calls.ts'
import { objectStorage, shardStorage } from '../../src/storage/shards/shard-client.ts'
import type { ShardStorage, ShardStub } from '../../src/storage/shards/shard-client.ts'
import type { StoredValue } from '../../src/storage/storage.ts'
import { TurnBudget } from '../../src/storage/shards/turn-budget.ts'
import { valueOf } from '../storage-suite.ts'

const { SHARDS } = env as unknown as Env
const RESTORE = 7
/** Milliseconds for which a restore keeps the shards locked. */
const LOCKED = 4_000

let tenants = 0
let things = { tenant: '', shard: 'things', prefix: 'things' }
const stub = () => SHARDS.getByName(`${things.tenant}/things`)
const storage = shardStorage(SHARDS, platformClock)

/** Moves the clock, which the object and the test share. */
const later = (milliseconds: number): void => {
  const now = Date.now() + milliseconds
  vi.spyOn(Date, 'now').mockReturnValue(now)
}

/** Replaces the contents of the shard by the same object. */
async function restore({ revision }: StoredValue): Promise<void> {
  await storage.lock(things, RESTORE)
  await storage.clear(things, RESTORE)
  await storage.restore(things, RESTORE, [{ key: 'old', revision, value: valueOf('old', 'restored') }])
  later(LOCKED)
  await storage.unlock(things, RESTORE, revision)
}

const writes: Readonly<Record<string, (storage: ShardStorage, old: StoredValue) => Promise<unknown>>> = {
  'a create': (late) => late.create(things, 'new', valueOf('new', 'late')),
  'an update': (late, { revision }) => late.update(things, 'old', valueOf('old', 'late'), revision),
  'a delete': (late, { revision }) => late.delete(things, 'old', valueOf('old', 'late'), revision),
}

/** The shards, whose writes wait on their way until `arrive` is called. */
function onTheirWay() {
  let arrive = (): void => {}
  const way = new Promise<void>((resolve) => (arrive = resolve))
  const slow = (one: ShardStub): ShardStub =>
    new Proxy(one, {
      get(_, name) {
        return async (...args: unknown[]) => {
          await way
          // the client calls methods only
          return (one as unknown as Record<PropertyKey, (...args: unknown[]) => Promise<unknown>>)[name]!(...args)
        }
      },
    })
  const shards = {
    idFromName: (name: string) => SHARDS.idFromName(name),
    get: (id: DurableObjectId) => slow(SHARDS.get(id)),
  }
  // the client calls nothing else
  return { shards: shards as unknown as DurableObjectNamespace<ShardCalls>, arrive }
}

beforeEach(() => {
  things = { ...things, tenant: `late-${tenants++}` }
})
afterEach(() => void vi.restoreAllMocks())

const senders: Readonly<Record<string, (shards: DurableObjectNamespace<ShardCalls>) => ShardStorage>> = {
  'a request': (shards) => shardStorage(shards, platformClock),
  'an object': (shards) => objectStorage(shards, platformClock, { turns: new TurnBudget(platformClock) }),
}

describe.each(Object.entries(senders))('of %s', (_, storageIn) => {
  it.each(Object.entries(writes))('%s is refused, also after a restart', async (_, write) => {
    const old = await storage.create(things, 'old', valueOf('old', 'first'))
    for (const isRestarted of [false, true]) {
      const { shards, arrive } = onTheirWay()
      const late = expect(write(storageIn(shards), old)).rejects.toMatchObject({ code: 'Restoring' })
      await restore(old)
      if (isRestarted) await evictDurableObject(stub())
      arrive()
      await late
      expect((await storage.get(things, 'old'))?.text).toContain('restored')
      expect(await storage.get(things, 'new')).toBeUndefined()
    }
  })
})

it.each(Object.entries(writes))('%s that begins after the restore is done', async (_, write) => {
  const old = await storage.create(things, 'old', valueOf('old', 'first'))
  await restore(old)
  await write(storage, old)
})

it.each([
  ['a caller of an earlier release, which sends no time', () => undefined],
  ['a caller whose clock is a little behind', () => Date.now() - 400],
])('%s writes after the restore', async (_, begun) => {
  const old = await storage.create(things, 'old', valueOf('old', 'first'))
  await restore(old)
  expect(await stub().create('things/new', valueOf('new', '1'), 'first', begun())).toHaveProperty('value')
})

it('a machine whose clock is set back writes at once', async () => {
  const old = await storage.create(things, 'old', valueOf('old', 'first'))
  await restore(old)
  later(-3_600_000)
  await storage.update(things, 'old', valueOf('old', 'second'), old.revision)
})

it('a shard that was never restored asks for no time', async () => {
  expect(await stub().create('things/new', valueOf('new', '1'), 'first', 1)).toHaveProperty('value')
})
