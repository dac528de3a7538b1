import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import type { ControllerManager } from '../../durable-objects/controller-manager.ts'
import { RunMark } from '../../durable-objects/run-mark.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS, MANAGERS } = env as unknown as Env & { MANAGERS: DurableObjectNamespace<ControllerManager> }

it('a run is marked until it is over', () =>
  // Any object with a database serves.
  runInDurableObject(SHARDS.getByName('run-mark/one'), (_, { storage }) => {
    const found = () => new RunMark(storage.sql, () => 7).foundAt
    const mark = new RunMark(storage.sql, () => 1)
    expect([mark.foundAt, found()]).toEqual([undefined, undefined])
    mark.set()
    mark.set()
    expect([mark.foundAt, found()]).toEqual([undefined, 7])
    new RunMark(storage.sql, () => 8).remove()
    expect(found()).toBeUndefined()
  }))

/** Why work is given up that was tried 50 times, after an instance ended; undefined where it is not. */
async function givenUp(name: string, mark: string): Promise<unknown> {
  const manager = () => MANAGERS.getByName(name)
  await runInDurableObject(manager(), async (_, { storage }) => {
    storage.sql.exec(`INSERT INTO work VALUES ('deleted-service-account', 'a/b', 50, 0, 1); ${mark}`)
    await storage.sync()
  })
  await runInDurableObject(manager(), (_, state) => state.abort('it ends')).catch(() => {})
  await manager().receive('tenant/shard', [])
  return runInDurableObject(manager(), async (_, { storage }) => {
    await vi.waitFor(() => expect([...storage.sql.exec('SELECT * FROM run')]).toEqual([]))
    return [...storage.sql.exec('SELECT why FROM parked')][0]?.['why']
  })
}

describe('an attempt counts before it begins', () => {
  it('where an instance ended in the middle of a run', async () => {
    expect(await givenUp('ended', 'INSERT INTO run VALUES (1)')).toBe('the object ended each time in the middle of it')
  })

  it('and nowhere else', async () => {
    expect(await givenUp('not-ended', '')).toBeUndefined()
  })
})
