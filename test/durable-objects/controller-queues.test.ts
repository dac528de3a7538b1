// The queues of the controllers: who waits for whom.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { ControllerQueues } from '../../durable-objects/controller-queues.ts'
import type { Work } from '../../durable-objects/work-table.ts'
import { WorkTable } from '../../durable-objects/work-table.ts'
import type { Env } from '../../src/env.ts'
import type { Recorder } from './recorder.ts'

const { RECORDER } = env as unknown as Env & { RECORDER: DurableObjectNamespace<Recorder> }

interface Server {
  readonly table: WorkTable
  readonly queues: ControllerQueues
  /** What has begun, as `controller key,key` of the first controller. */
  readonly begun: string[]
  /** The works in progress. */
  readonly open: Map<string, { readonly works: readonly Work[]; end(error?: unknown): void }>
  /** Ends the work of a controller. `error`: it fails. */
  end(controller: string, error?: unknown): Promise<void>
  run(isOver?: () => boolean): Promise<void>
  /** Advances the clock; timers that are already set do not notice. */
  pass(milliseconds: number): void
  settled(): Promise<void>
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

/** @param leftUntil as in Runs */
const within = (name: string, story: (server: Server) => Promise<void>, leftUntil?: number): Promise<void> =>
  runInDurableObject(RECORDER.getByName(`queues-${name}`), async (_, { storage }) => {
    let ahead = 0
    const now = () => Date.now() + ahead
    const table = new WorkTable(
      storage.sql,
      now,
      new Map(['namespace', 'slow', 'bad'].map((name) => [name, `${name}s`])),
    )
    const begun: string[] = []
    const open: Server['open'] = new Map()
    const reconcile = (works: readonly Work[]): Promise<void> => {
      const { controller } = works[0]!
      begun.push(`${controller} ${works.map(({ key }) => key).join(',')}`)
      return new Promise((resolve, reject) =>
        open.set(controller, {
          works,
          end(error) {
            open.delete(controller)
            if (error !== undefined) return reject(error as Error)
            for (const work of works) table.done(work)
            resolve()
          },
        }),
      )
    }
    const tryAlone = (work: Work): Promise<void> => {
      table.again(work, 100, true)
      begun.push('alone:')
      return reconcile([work])
    }
    const queues = new ControllerQueues(table, now, { reconcile, tryAlone, leftUntil })
    await story({
      table,
      queues,
      begun,
      open,
      async end(controller, error) {
        open.get(controller)!.end(error)
        await settled()
      },
      run: (isOver = () => false) => queues.run(isOver),
      pass: (milliseconds) => void (ahead += milliseconds),
      settled,
    })
  })

it('work that takes long holds up its own controller alone', () =>
  within('long', async ({ table, queues, begun, end, run, settled }) => {
    table.add('namespace', 'large', 0)
    const running = run()
    await settled()
    for (const key of ['a', 'b']) {
      table.add('service-account', key, 0)
      table.add('namespace', key, 0)
      queues.arrived()
      await settled()
      await end('service-account')
    }
    expect(begun).toEqual(['namespace large', 'service-account a', 'service-account b'])
    await end('namespace')
    expect(begun.slice(3)).toEqual(['namespace a,b'])
    await end('namespace')
    await running
    expect(table.nextDue()).toBeUndefined()
  }))

it('eight works of a queue are done at a time, those that wait the longest first', () =>
  within('many', async ({ table, begun, end, run, settled }) => {
    for (let key = 0; key < 20; key++) table.add(`c${key % 2}`, `${key}`, -key * 1_000)
    const running = run()
    await settled()
    while (table.counts().length > 0) {
      await end(begun.at(-1)!.split(' ')[0]!)
    }
    await running
    expect(begun.map((text) => text.split(' ')[1])).toEqual(['19,18,17,16,15,14,13,12', '11,10,9,8,7,6,5,4', '3,2,1,0'])
  }))

it('work that arrives while it is done is done once more, and never twice at a time', () =>
  within('again', async ({ table, queues, begun, end, run, settled }) => {
    table.add('a', 'x', 0)
    const running = run()
    await settled()
    table.add('a', 'x', 0)
    queues.arrived()
    await settled()
    expect(begun).toEqual(['a x'])
    await end('a')
    expect(begun).toEqual(['a x', 'a x'])
    await end('a')
    await running
  }))

it('work that is due soon is waited for, beside work that takes long', () =>
  within('soon', async ({ table, begun, end, run }) => {
    table.add('slow', 'x', 0)
    table.add('quick', 'y', 50)
    const running = run()
    await expect.poll(() => begun).toEqual(['slow x', 'quick y'])
    await end('quick')
    await end('slow')
    await running
  }))

it('a run that is over begins nothing more, and the next one takes what was left', () =>
  within('over', async ({ table, begun, end, run, settled }) => {
    for (let key = 0; key < 12; key++) table.add('a', `${key}`, key - 100)
    table.add('far', 'z', 60_000)
    const first = run(() => true)
    await settled()
    await end('a')
    await first
    expect(begun).toEqual(['a 0,1,2,3,4,5,6,7'])
    expect(table.nextDue()).toBeLessThanOrEqual(Date.now())
    const second = run()
    await settled()
    await end('a')
    await second
    expect(begun.slice(1)).toEqual(['a 8,9,10,11'])
    expect(table.counts()).toMatchObject([{ controller: 'far' }])
  }))

it('a failure ends the run when nothing is in progress any more', () =>
  within('failure', async ({ table, open, end, run, settled }) => {
    table.add('bad', 'x', 0)
    table.add('good', 'y', 0)
    let ended = false
    const running = run().finally(() => (ended = true))
    running.catch(() => {})
    await settled()
    await end('bad', new Error('the storage is away'))
    expect([ended, [...open.keys()]]).toEqual([false, ['good']])
    await end('good')
    await expect(running).rejects.toThrow('the storage is away')
  }))

describe('work of a namespace that took long', () => {
  const slow: Work = { controller: 'a', key: 'a/slow', attempts: 0, due: 0, generation: 1 }

  it('is done one by one beside that of others', () =>
    within('apart', async ({ table, queues, begun, end, run, settled }) => {
      queues.took(slow, 10_000)
      queues.took({ ...slow, key: 'b/quick' }, 100)
      for (const key of ['x', 'y', 'z']) table.add('a', `a/${key}`, 0)
      for (const key of ['x', 'y', 'z']) table.add('b', `b/${key}`, 0)
      table.add('b', 'node', 0)
      const running = run()
      await settled()
      expect(begun).toEqual(['b b/x,b/y,b/z,node', 'a a/x'])
      await end('b')
      table.add('b', 'b/later', 0)
      queues.arrived()
      await settled()
      expect(begun.slice(2)).toEqual(['b b/later'])
      await end('b')
      for (const _ of ['x', 'y', 'z']) await end('a')
      expect(begun.slice(3)).toEqual(['a a/y', 'a a/z'])
      await running
      expect(table.counts()).toEqual([])
    }))

  it('is done once more where it comes again meanwhile, and never twice at a time', () =>
    within('apart-again', async ({ table, queues, begun, end, run, settled }) => {
      queues.took(slow, 10_000)
      table.add('a', 'a/x', 0)
      const running = run()
      await settled()
      for (let time = 0; time < 3; time++) {
        table.add('a', 'a/x', 0)
        queues.arrived()
        await settled()
      }
      expect(begun).toEqual(['a a/x'])
      await end('a')
      expect(begun).toEqual(['a a/x', 'a a/x'])
      await end('a')
      await running
      expect(table.counts()).toEqual([])
    }))

  it('waits in the table where there is much of it, and hides no other', () =>
    within('apart-much', async ({ table, queues, begun, open, end, run, settled }) => {
      queues.took(slow, 10_000)
      for (let n = 0; n < 1_500; n++) table.add('a', `a/${n}`, n - 10_000)
      table.again({ controller: 'a', key: 'a/1499', attempts: 0, due: 0, generation: 1 }, -1, true)
      table.add('b', 'b/x', 0)
      let isOver = false
      const running = run(() => isOver)
      await settled()
      expect(begun).toEqual(['b b/x', 'a a/0'])
      await end('b')
      isOver = true
      await end('a')
      await running
      expect(open.size).toBe(0)
      expect(table.counts()).toMatchObject([{ controller: 'a', queued: 1_499, failing: 1 }])
      expect(table.nextDue()).toBeLessThanOrEqual(Date.now())
    }))
})

describe('a queue whose work takes long', () => {
  it('goes on with other work after three seconds', () =>
    within('overdue', async ({ table, queues, begun, end, run }) => {
      table.add('a', 'a/hangs', -1)
      const running = run()
      await vi.waitFor(() => expect(begun).toEqual(['a a/hangs']))
      table.add('b', 'b/x', 0)
      queues.arrived()
      await vi.waitFor(() => expect(begun).toEqual(['a a/hangs', 'b b/x']), { timeout: 60_000 })
      await end('b')
      await end('a')
      await running
      expect(table.counts()).toEqual([])
    }))

  it('does not do it twice at a time, and does that of its namespace apart', () =>
    within('overdue-again', async ({ table, queues, begun, end, run, pass, settled }) => {
      table.add('a', 'a/hangs', -1)
      table.add('a', 'b/done', -1)
      const running = run()
      await settled()
      // of two works of the batch one is over
      table.done({ controller: 'a', key: 'b/done', attempts: 0, due: 0, generation: 1 })
      queues.took({ controller: 'a', key: 'b/done', attempts: 0, due: 0, generation: 1 }, 5)
      pass(3_000)
      table.add('a', 'a/hangs', 0)
      table.add('b', 'b/done', 0)
      table.add('c', 'a/other', 0)
      queues.arrived()
      await settled()
      expect(begun).toEqual(['a a/hangs,b/done', 'b b/done', 'c a/other'])
      await end('b')
      await end('c')
      expect(begun).toHaveLength(3)
      await end('a')
      expect(begun.slice(3)).toEqual(['a a/hangs'])
      await end('a')
      await running
      expect(table.counts()).toEqual([])
    }))

  it('takes up work again that came again, before the rest of its batch is over', () =>
    within('overdue-part', async ({ table, queues, begun, open, end, run, pass, settled }) => {
      table.add('a', 'a/hangs', -1)
      table.add('a', 'b/slow', -1)
      const running = run()
      await settled()
      const hanging = open.get('a')!
      pass(3_000)
      table.add('b', 'c/x', 0)
      queues.arrived()
      await settled()
      await end('b')
      table.add('a', 'b/slow', 0)
      await settled()
      queues.took({ controller: 'a', key: 'b/slow', attempts: 0, due: 0, generation: 1 }, 3_100)
      await settled()
      expect(begun).toEqual(['a a/hangs,b/slow', 'b c/x', 'a b/slow'])
      await end('a')
      hanging.end()
      await running
      expect(table.counts()).toEqual([])
    }))

  it('waits where it went on three times', () =>
    within('overdue-much', async ({ table, queues, begun, open, run, pass, settled }) => {
      let running = Promise.resolve()
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
        table.add(name, `${name}/hangs`, 0)
        if (name === 'a') running = run()
        queues.arrived()
        await settled()
        pass(3_000)
      }
      expect(begun).toEqual(['a a/hangs', 'b b/hangs', 'c c/hangs', 'd d/hangs'])
      open.get('b')!.end()
      await vi.waitFor(() => expect(begun.slice(4)).toEqual(['e e/hangs,f/hangs']))
      for (const { end } of [...open.values()]) end()
      await running
      expect(table.counts()).toEqual([])
    }))
})

describe('work that an ended instance left', () => {
  const START = Date.now()

  it('is tried one by one, whatever its queue, beside new work', () =>
    within(
      'left',
      async ({ table, queues, begun, end, run, settled }) => {
        table.add('a', 'x', START - Date.now())
        table.add('namespace', 'y', START - Date.now())
        const running = run()
        await settled()
        expect(begun).toEqual(['alone:', 'a x'])
        table.add('b', 'new', 1)
        queues.arrived()
        await vi.waitFor(() => expect(begun).toEqual(['alone:', 'a x', 'b new']))
        await end('b')
        await end('a')
        expect(begun.slice(3)).toEqual(['alone:', 'namespace y'])
        await end('namespace')
        await running
        expect(table.counts()).toEqual([])
      },
      START,
    ))

  it('is tried alone until it is done', () =>
    within(
      'left-again',
      async ({ table, begun, end, run }) => {
        table.add('a', 'x', START - Date.now())
        table.again(table.due('', 1)[0]!, 20, true)
        for (const key of ['y', 'z']) table.add('b', key, 20)
        const running = run()
        // the new work goes on beside it, and either may begin first: both are due at the same time, or a millisecond apart
        await vi.waitFor(() => expect(begun).toHaveLength(3))
        expect(begun).toContain('b y,z')
        expect(begun.filter((one) => one !== 'b y,z')).toEqual(['alone:', 'a x'])
        await end('a')
        await end('b')
        await running
        expect(table.counts()).toEqual([])
      },
      START,
    ))
})
