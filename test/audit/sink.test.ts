import { beforeEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../eventually.ts'
import { auditCounts } from '../../src/audit/metrics.ts'
import type { SinkOptions } from '../../src/audit/sink.ts'
import { Sink } from '../../src/audit/sink.ts'

const options: SinkOptions = {
  mode: 'batch',
  bufferEvents: 4,
  bufferLength: 100,
  batchEvents: 2,
  batchWaitMs: 10,
  retryMs: [1, 2],
}

/** A backend that fails `failures` times and then works, and a fake clock that the test advances. */
function setUp(changed: Partial<SinkOptions> = {}, failures = 0) {
  const sent: (readonly string[])[] = []
  const slept: number[] = []
  const work: Promise<unknown>[] = []
  let now = 0
  let wake = (): void => {}
  const backend = {
    name: 'webhook' as const,
    async send(events: readonly string[]) {
      if (failures-- > 0) throw new Error('no')
      sent.push(events)
    },
  }
  const clock = {
    now: () => now,
    sleep: (ms: number) => {
      slept.push(ms)
      return ms === options.batchWaitMs ? new Promise<void>((resolve) => (wake = resolve)) : Promise.resolve()
    },
  }
  const sink = new Sink(backend, { ...options, ...changed }, clock)
  return {
    sent,
    slept,
    work,
    process: (event: string) => sink.process(event, (promise) => work.push(promise)),
    later: (ms: number) => (now += ms),
    wake: () => wake(),
    done: () => Promise.all(work),
  }
}

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  auditCounts.errors.clear()
})

describe('batches', () => {
  test('requests do not wait; one of them sends for all, when a batch is full or has waited long enough', async () => {
    const { process, sent, slept, work, wake, done } = setUp()
    expect(await process('a')).toBe(true)
    expect(sent).toEqual([])
    await process('b')
    await process('c')
    await eventually(() => expect(sent).toEqual([['a', 'b']]))
    await eventually(() => expect(slept).toHaveLength(2))
    wake()
    await done()
    expect(sent).toEqual([['a', 'b'], ['c']])
    expect(work).toHaveLength(1)
  })

  test('a batch is tried again, and counted as lost in the end', async () => {
    const { process, sent, slept, done } = setUp({}, 3)
    await process('a')
    await process('b')
    await done()
    expect(sent).toEqual([])
    expect(slept).toEqual([10, 1, 2])
    expect([...auditCounts.errors]).toEqual([['webhook', 2]])
  })

  test('events beyond the buffer are dropped, and counted', async () => {
    const { process, sent, wake, done } = setUp({ batchEvents: 9 })
    for (const event of ['1', '2', '3', '4', '5']) expect(await process(event)).toBe(true)
    await eventually(() => wake())
    await done()
    expect(sent).toEqual([['1', '2', '3', '4']])
    expect([...auditCounts.errors]).toEqual([['buffered', 1]])
  })

  test('so is what is too long', async () => {
    const { process } = setUp()
    await process('x'.repeat(101))
    expect([...auditCounts.errors]).toEqual([['buffered', 1]])
  })

  test('a sender that the platform ended is replaced', async () => {
    const { process, work, later } = setUp({ batchEvents: 9 })
    await process('a')
    later(200_000)
    await process('b')
    expect(work).toHaveLength(2)
  })
})

test.each([
  ['blocking', true],
  ['blocking-strict', false],
] as const)('%s: a request whose event is lost goes on: %j', async (mode, goesOn) => {
  const { process, slept } = setUp({ mode }, 1)
  expect(await process('a')).toBe(goesOn)
  expect(await process('b')).toBe(true)
  expect(slept).toEqual([])
  expect([...auditCounts.errors]).toEqual([['webhook', 1]])
})
