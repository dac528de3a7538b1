import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { AbsentOwnerTable } from '../../durable-objects/absent-owners.ts'
import { retryAfter, UNKNOWN_CONTROLLER, WorkTable } from '../../durable-objects/work-table.ts'
import type { Env } from '../../src/env.ts'
import type { Recorder } from './recorder.ts'

const { RECORDER } = env as unknown as Env & { RECORDER: DurableObjectNamespace<Recorder> }

const within = (name: string, story: (sql: SqlStorage) => void): Promise<void> =>
  runInDurableObject(RECORDER.getByName(name), (_, { storage }) => story(storage.sql))

const keys = (table: WorkTable) => table.due('', 100).map(({ controller, key }) => `${controller} ${key}`)

describe('the work of controllers', () => {
  it('is there once, and due when the first of its reasons says', () =>
    within('work-1', (sql) => {
      let now = 1_000
      const table = new WorkTable(sql, () => now)
      table.add('a', 'x', 500)
      table.add('a', 'x', 200)
      table.add('a', 'x', 900)
      expect(keys(table)).toEqual([])
      expect(table.nextDue()).toBe(1_200)
      now = 1_200
      expect(keys(table)).toEqual(['a x'])
    }))

  it('is as far away as before where the clock is set back', () =>
    within('work-set-back', (sql) => {
      let now = 10_000_000
      const table = new WorkTable(sql, () => now)
      table.add('a', 'x', 0)
      table.add('a', 'y', 5_000)
      now += 100
      const [taken] = table.due('', 100)
      table.again(taken!, 200, true)
      now -= 3_600_000
      expect(table.queuesDue()).toEqual([])
      expect(table.nextDue()).toBe(now + 200)
      now += 200
      expect(keys(table)).toEqual(['a x'])
      now += 4_700
      expect(keys(table)).toEqual(['a x', 'a y'])
      // what arrives again is as it was
      now -= 3_600_000
      table.add('a', 'z', 0)
      expect(keys(table).sort()).toEqual(['a x', 'a y', 'a z'])
    }))

  it('is done again when it arrives while it is done', () =>
    within('work-2', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      const [work] = table.due('', 1)
      table.add('a', 'x', 0)
      table.done(work!)
      expect(keys(table)).toEqual(['a x'])
    }))

  it('is written once, until a controller takes it', () =>
    within('work-8', (sql) => {
      const table = new WorkTable(sql, () => 0)
      const generation = () => table.due('', 1)[0]?.generation
      for (const delay of [100, 100, 50, 70]) table.add('a', 'x', delay)
      expect(sql.exec('SELECT generation, due FROM work').toArray()).toEqual([{ generation: 2, due: 50 }])
      table.add('a', 'x', 0)
      expect(generation()).toBe(3)
      table.add('a', 'x', 0)
      table.add('a', 'x', 0)
      expect(generation()).toBe(4)
    }))

  it('is written again after a failure, which may have rolled it back', () =>
    within('work-9', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      sql.exec('DELETE FROM work')
      table.mistrust()
      table.add('a', 'x', 0)
      expect(keys(table)).toEqual(['a x'])
    }))

  it('is taken again after a failure, which may have undone its removal', () =>
    within('work-10', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      const [work] = table.due('', 1)
      table.done(work!)
      expect(table.nextDue()).toBeUndefined()
      sql.exec("INSERT INTO work VALUES ('a', 'x', 0, 0, 1)")
      table.mistrust()
      expect(keys(table)).toEqual(['a x'])
    }))

  it('that takes long is in a queue apart', () =>
    within('work-11', (sql) => {
      let now = 0
      const queues = new Map([
        ['long', 'slow'],
        ['longer', 'slow'],
      ])
      const table = new WorkTable(sql, () => now, queues)
      const next = () => [table.nextDue(), table.nextDue(new Set(['slow'])), table.nextDue(new Set(['']))]
      for (const [controller, key, delay] of [
        ['a', 'x', 30],
        ['long', 'y', 10],
        ['b', 'z', 20],
        ['longer', 'w', 15],
      ] as const)
        table.add(controller, key, delay)
      expect(next()).toEqual([10, 20, 10])
      expect(table.queuesDue()).toEqual([])
      now = 40
      expect(new Set(table.queuesDue())).toEqual(new Set(['', 'slow']))
      const [first] = table.due('', 1)
      expect([first!.key, ...next()]).toEqual(['z', 10, now, 10])
      table.done(first!)
      expect(keys(table)).toEqual(['a x'])
      expect(table.due('slow', 9).map(({ key }) => key)).toEqual(['y', 'w'])
      expect(next()).toEqual([undefined, undefined, undefined])
      // another instance reads what is on disk
      expect(new WorkTable(sql, () => now, queues).nextDue(new Set(['slow']))).toBe(30)
    }))

  it('that is looked at again has not failed', () =>
    within('work-3', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      table.again(table.due('', 1)[0]!, 0, true)
      expect(table.due('', 1)[0]!.attempts).toBe(1)
      table.again(table.due('', 1)[0]!, 0, false)
      expect(table.due('', 1)[0]!.attempts).toBe(0)
    }))

  it('fails less and less often, and then no more', () => {
    const waits = Array.from({ length: 60 }, (_, attempts) => retryAfter(attempts))
    expect(waits.slice(0, 4)).toEqual([100, 200, 400, 800])
    expect(waits[19]).toBe(60_000)
    expect(waits[49]).toBe(1_000_000)
    expect(waits.slice(50)).toEqual(Array.from({ length: 10 }, () => undefined))
    const endless = Array.from({ length: 60 }, (_, attempts) => retryAfter(attempts, { neverGivesUp: true }))
    expect(endless.slice(0, 50)).toEqual(waits.slice(0, 50))
    expect(endless.slice(50)).toEqual(Array.from({ length: 10 }, () => 1_000_000))
  })

  it('fails as often as its controller says', () => {
    const retry = { first: 1_000, longest: 60_000 }
    const waits = Array.from({ length: 60 }, (_, attempts) => retryAfter(attempts, { retry }))
    expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000])
    expect(waits.slice(7)).toEqual(Array.from({ length: 53 }, () => 60_000))
  })

  it('that is given up is not due, and is counted until it is done after all', () =>
    within('work-4', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      table.park(table.due('', 1)[0]!, 'it never works')
      expect(table.nextDue()).toBeUndefined()
      expect(table.counts()).toEqual([{ controller: 'a', queued: 0, failing: 0, parked: 1 }])
      table.add('a', 'x', 0)
      table.done(table.due('', 1)[0]!)
      expect(table.counts()).toEqual([])
    }))

  it('that is given up is kept up to a bound, the newest of it', () =>
    within('work-5', (sql) => {
      let now = 0
      const table = new WorkTable(sql, () => now)
      for (now = 0; now < 1_010; now++) {
        table.add('a', `k${now}`, 0)
        table.park(table.due('', 1)[0]!, 'it never works')
      }
      expect(table.counts()).toEqual([{ controller: 'a', queued: 0, failing: 0, parked: 1_000 }])
    }))

  it('that is given up keeps the beginning of a long reason', () =>
    within('work-long-reason', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('a', 'x', 0)
      table.park(table.due('', 1)[0]!, 'refused: '.repeat(100_000))
      expect(sql.exec('SELECT length(why) AS length FROM parked').one()).toEqual({ length: 1_000 })
    }))

  it('of a controller that this release does not have is taken up by one that has it', () =>
    within('work-6', (sql) => {
      const table = new WorkTable(sql, () => 0)
      table.add('of-tomorrow', 'x', 0)
      table.add('a', 'y', 0)
      for (const work of table.due('', 2))
        table.park(work, work.controller === 'a' ? 'it never works' : UNKNOWN_CONTROLLER)
      table.resume((controller) => controller !== 'of-tomorrow')
      expect(keys(table)).toEqual([])
      table.resume(() => true)
      expect(keys(table)).toEqual(['of-tomorrow x'])
      expect(table.counts()).toEqual([
        { controller: 'a', queued: 0, failing: 0, parked: 1 },
        { controller: 'of-tomorrow', queued: 1, failing: 0, parked: 0 },
      ])
    }))
})

describe('work that was given up', () => {
  it('is tried once more when the object begins a day later', () =>
    within('work-7', (sql) => {
      let now = 0
      const table = new WorkTable(sql, () => now)
      table.add('a', 'x', 0)
      table.park(table.due('', 1)[0]!, 'it never works')
      now = 23 * 3_600_000
      table.resume(() => true)
      expect(keys(table)).toEqual([])
      now = 24 * 3_600_000
      table.resume(() => true)
      expect(keys(table)).toEqual(['a x'])
      expect(retryAfter(table.due('', 1)[0]!.attempts)).toBeUndefined()
    }))
})

describe('owners that went', () => {
  const owner = (uid: string, namespace = 'default') => ({ uid, ownerKind: 'Widget.example.com', namespace })

  it('are known by uid, kind and namespace', () =>
    within('departed-1', (sql) => {
      const table = new AbsentOwnerTable(sql)
      table.add(owner('a'))
      table.add(owner('a'))
      expect(table.has(owner('a'))).toBe(true)
      expect(table.has(owner('a', 'other'))).toBe(false)
      expect(table.has({ ...owner('a'), ownerKind: 'Gadget.example.com' })).toBe(false)
    }))

  it('are forgotten, the oldest first', () =>
    within('departed-2', (sql) => {
      const table = new AbsentOwnerTable(sql)
      for (let n = 0; n <= 500; n++) table.add(owner(`u${n}`))
      expect([0, 1, 500].map((n) => table.has(owner(`u${n}`)))).toEqual([false, true, true])
    }))
})
