import { expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import { ensureBootstrapped } from '../../src/bootstrap/ensure-bootstrapped.ts'
import type { Env } from '../../src/env.ts'
import { CONTROL_SHARD, collectionOf } from '../../src/storage/collections.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import type { OutboxMessage, Storage } from '../../src/storage/storage.ts'
import { SnapshotData } from '../../src/tenancy/control-snapshot.ts'
import { tenantReplaced } from '../../src/tenancy/tenant-state.ts'

const now = new Date('2026-05-01T10:00:00Z')
const WORK = [{ topic: 'server-edition', payload: '' }]
// the tests pass storage as an argument
const environment = (settings: Partial<Env>) => ({ SHARDS: {}, ...settings }) as Env
const LOCAL = environment({ KEDGE_REPAIR_AT_START: '1' })

let servers = 0

/** A control plane, and one request after the other to servers of it. */
async function plane(env = LOCAL) {
  const tenant = { uid: `start-${++servers}` }
  const memory = memoryStorage(platformClock)
  const orders: OutboxMessage[] = []
  let fails = false
  const storage: Storage = {
    ...memory,
    async update(collection, key, value, expected) {
      if (fails) throw new Error('the disk is full')
      orders.push(...(value.outbox ?? []))
      return memory.update(collection, key, value, expected)
    },
  }
  const snapshot = async () =>
    SnapshotData.empty.with(await memory.changes({ tenant: tenant.uid, shard: CONTROL_SHARD }))
  await ensureBootstrapped({ env, tenant, storage, now }, SnapshotData.empty)
  return {
    orders,
    revision: async () => (await snapshot()).revision,
    failing: (does: boolean) => void (fails = does),
    async damage() {
      const roles = collectionOf(tenant, { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' })
      const last = { text: '{"metadata":{"resourceVersion":""}}', at: 32, uid: 'x' }
      await memory.delete(roles, 'view', last, (await memory.get(roles, 'view'))!.revision)
    },
    /** The isolate knows nothing any more. */
    start: () => tenantReplaced(tenant),
    async request(later = 0) {
      const work: Promise<unknown>[] = []
      const waitUntil = (one: Promise<unknown>): void => void work.push(one)
      const at = new Date(now.getTime() + later)
      expect(await ensureBootstrapped({ env, tenant, storage, now: at, waitUntil }, await snapshot())).toBe(false)
      await Promise.all(work)
      return work.length
    },
  }
}

test('a start that finds all as it should be writes nothing, and looks once', async () => {
  const { request, start, orders, revision } = await plane()
  const before = await revision()
  start()
  expect([await request(), await request()]).toEqual([1, 0])
  expect(orders).toEqual([])
  expect(await revision()).toBe(before)
})

test('a start that finds damage orders its repair, once; damage of later waits for the next start', async () => {
  const { request, start, damage, orders } = await plane()
  await damage()
  expect(await request()).toBe(0)
  expect(orders).toEqual([])
  start()
  await request()
  await request()
  expect(orders).toEqual(WORK)
})

test('a look that failed is repeated a minute later, and not by each request', async () => {
  const { request, start, damage, failing, orders } = await plane()
  await damage()
  start()
  failing(true)
  await request()
  failing(false)
  expect(await request(59_999)).toBe(0)
  expect(orders).toEqual([])
  await request(60_000)
  expect(orders).toEqual(WORK)
})

test('without the setting no start looks', async () => {
  const { request, start, damage, orders } = await plane(environment({}))
  await damage()
  start()
  expect(await request()).toBe(0)
  expect(orders).toEqual([])
})
