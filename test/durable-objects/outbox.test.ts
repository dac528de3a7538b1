import { append } from '../../src/base/append.ts'
import { platformClock } from '../../src/base/clock.ts'
import { Outbox } from '../../durable-objects/outbox.ts'
import type { Statements } from '../../durable-objects/statements.ts'
import type { OutboxRow } from '../../src/storage/shards/shard-protocol.ts'
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Env } from '../../src/env.ts'
import { CallDepth } from '../../src/storage/shards/call-depth.ts'
import { shardStorage } from '../../src/storage/shards/shard-client.ts'
import { valueOf } from '../storage-suite.ts'
import type { Recorder } from './recorder.ts'

const { SHARDS, RECORDER } = env as unknown as Env & { RECORDER: DurableObjectNamespace<Recorder> }
const storage = shardStorage(SHARDS, platformClock)

describe('the outbox', () => {
  it('reports each write to the controllers, at least once and in order', async () => {
    const things = { tenant: 'outbox-1', shard: 'things', prefix: 'things' }
    const recorder = RECORDER.getByName(things.tenant)
    await recorder.refuse(Infinity)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const stored = await storage.create(things, 'ns/a', {
      ...valueOf('a', '1'),
      outbox: [{ topic: 'made', payload: '1' }],
    })
    await eventually(async () => expect(await recorder.refused()).toBeGreaterThanOrEqual(1))
    expect((await storage.stats(things)).outbox).toBe(1)
    await recorder.refuse(0)
    await storage.update(
      things,
      'ns/a',
      {
        ...valueOf('a', '2'),
        outbox: [
          { topic: 'changed', payload: '2' },
          { topic: 'more', payload: '3' },
        ],
      },
      stored.revision,
    )
    await eventually(async () => expect((await recorder.received()).length).toBeGreaterThanOrEqual(3))
    expect(await recorder.received()).toEqual([
      ['outbox-1/things', 'things/ns/a', 'made', '1'],
      ['outbox-1/things', 'things/ns/a', 'changed', '2'],
      ['outbox-1/things', 'things/ns/a', 'more', '3'],
    ])
    await eventually(async () => expect((await storage.stats(things)).outbox).toBe(0))
  })

  it('is tried again by alarm', async () => {
    const things = { tenant: 'outbox-2', shard: 'things', prefix: 'things' }
    const recorder = RECORDER.getByName(things.tenant)
    await recorder.refuse(1)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await storage.create(things, 'a', { ...valueOf('a', '1'), outbox: [{ topic: 'made', payload: '1' }] })
    await eventually(async () => expect(await recorder.refused()).toBe(1))
    await runInDurableObject(SHARDS.getByName('outbox-2/things'), (_, state) => state.abort('crash')).catch(() => {})
    await runDurableObjectAlarm(SHARDS.getByName('outbox-2/things'))
    await eventually(async () => expect(await recorder.received()).toHaveLength(1))
  })

  it('begins a new chain of calls by alarm, before the platform refuses a call as too deep', async () => {
    const things = { tenant: 'outbox-deep', shard: 'things', prefix: 'things' }
    const recorder = RECORDER.getByName(things.tenant)
    const answers = 30
    await recorder.answerTo(things, answers)
    await storage.create(things, 'a', { ...valueOf('a', '1'), outbox: [{ topic: 'made', payload: '1' }] })
    await eventually(async () => expect(await recorder.received()).toHaveLength(answers + 1))
    const depths = await recorder.depthsSeen()
    // a Worker's call is 2 deep, what it causes 3; the first that the shard leaves to its alarm would be 11
    expect(depths.slice(0, 8)).toEqual([3, 5, 7, 9, 2, 4, 6, 8])
    expect(Math.max(...depths.map((depth) => depth ?? Infinity))).toBeLessThanOrEqual(9)
    expect((await storage.stats(things)).deepest).toBe(10)
  })

  it('does not wait as long as the history is kept', async () => {
    const things = { tenant: 'keeps-days', shard: 'outbox', prefix: 'things' }
    const recorder = RECORDER.getByName(things.tenant)
    await recorder.refuse(1)
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await storage.create(things, 'a', { ...valueOf('a', '1'), outbox: [{ topic: 'made', payload: '1' }] })
    await eventually(async () => expect(await recorder.refused()).toBe(1))
    const alarm = await runInDurableObject(SHARDS.getByName('keeps-days/outbox'), (_, state) =>
      state.storage.getAlarm(),
    )
    expect(alarm).toBeLessThanOrEqual(Date.now() + 300_000)
  })

  it('removes delivered rows in the commit of the next write, and delivers each once', async () => {
    const received: number[] = []
    const removed: number[] = []
    const rows = [1, 2].map((seq) => ({ seq, k: 'a', topic: 't', payload: `${seq}` }))
    const statements = {
      oldestOutbox: (_: number, after = 0) => rows.filter(({ seq }) => seq > Math.max(after, ...removed)),
      deleteOutbox: (upTo: number) => void removed.push(upTo),
    } as unknown as Statements // the outbox calls only these
    const receiver = { receive: async (_: string, all: readonly OutboxRow[]) => append(received, all.map(({ seq }) => seq)) } // prettier-ignore
    let synced = 0
    const outbox = new Outbox('s', statements, receiver as never, {
      sync: async () => void synced++,
      now: platformClock,
      begins: () => {},
      depth: new CallDepth(false),
    })
    expect(outbox.hasTaken).toBe(false)
    await outbox.deliver()
    await outbox.deliver()
    expect({ received, removed, synced }).toEqual({ received: [1, 2], removed: [], synced: 0 })
    expect(outbox.hasTaken).toBe(true)
    outbox.removeTaken()
    expect(removed).toEqual([2])
    rows.push({ seq: 3, k: 'a', topic: 't', payload: '3' })
    await outbox.deliver()
    await eventually(() =>
      expect({ received, removed, synced }).toEqual({ received: [1, 2, 3], removed: [2, 3], synced: 1 }),
    )
    expect(outbox.hasTaken).toBe(false)
  })

  it('delivers nothing for writes that failed', async () => {
    const things = { tenant: 'outbox-3', shard: 'things', prefix: 'things' }
    const value = { ...valueOf('a', '1'), outbox: [{ topic: 'made', payload: '1' }] }
    await expect(storage.update(things, 'a', value, 5)).rejects.toMatchObject({ code: 'KeyNotFound' })
    expect((await storage.stats(things)).outbox).toBe(0)
    expect(await RECORDER.getByName(things.tenant).received()).toEqual([])
  })
})
