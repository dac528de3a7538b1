/**
 * A shard with watchers sleeps, answers their pings asleep, and wakes to tell them what happens. On the bare engine,
 * because others keep objects awake, as older engines did.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, until } from '../eventually.ts'
import type { ShardStats } from '../../src/storage/shards/shard-protocol.ts'
import type { BareEngine } from './bare-engine.ts'
import { startBareEngine } from './bare-engine.ts'

/** An object sleeps after ten seconds in which nothing was asked of it. Who asks whether it does wakes it. */
async function slept(before: ShardStats): Promise<ShardStats> {
  for (let tries = 0; tries < 10; tries++) {
    await pause(13_000)
    const now = await stats()
    if (now.since > before.since) return now
  }
  throw new Error('the shard does not sleep')
}
const socketsBecome = (count: number): Promise<boolean> => until(async () => (await stats()).sockets === count)

let engine: BareEngine
let url: string

beforeAll(async () => {
  engine = await startBareEngine(join(import.meta.dirname, 'sleeping-shard'), ['worker'], '/stats')
  url = engine.url
})
afterAll(() => engine.stop())

it('a watched shard sleeps and wakes', async () => {
  await fetch(`${url}/create?key=first`)
  const gone = new AbortController()
  const seen: string[] = []
  const watches = [0, 1].map(async () => {
    const { body } = await fetch(`${url}/watch`, { signal: gone.signal })
    for await (const text of body!.pipeThrough(new TextDecoderStream())) seen.push(...text.trim().split('\n'))
  })
  await socketsBecome(2)

  const woken = await slept(await stats())
  expect(woken.sockets).toBe(2)
  await until(() => seen.filter((line) => line.startsWith('progress')).length > 10)

  const { since } = await slept(woken)
  expect(since).toBeGreaterThan(woken.since)
  const { rv } = (await (await fetch(`${url}/create?key=second`)).json()) as { rv: string }
  await eventually(() =>
    expect(seen.filter((line) => line.startsWith('event'))).toEqual(Array(2).fill(`event {"rv":"${rv}"}`)),
  )
  gone.abort()
  await Promise.allSettled(watches)
})

it('watches go on when their shard is restarted', async () => {
  const gone = new AbortController()
  const seen: string[] = []
  const watches = [0, 1, 2].map(async () => {
    const { body } = await fetch(`${url}/watch`, { signal: gone.signal })
    for await (const text of body!.pipeThrough(new TextDecoderStream()))
      seen.push(...text.split('\n').filter((line) => line.startsWith('event')))
  })
  await socketsBecome(3)
  const written: string[] = []
  for (let round = 0; round < 5; round++) {
    const before = (await stats()).since
    await fetch(`${url}/restart`)
    // The first of them is written before any watch is back.
    for (const key of ['a', 'b']) {
      const { rv } = (await (await fetch(`${url}/create?key=${round}-${key}`)).json()) as { rv: string }
      written.push(`event {"rv":"${rv}"}`)
    }
    expect((await stats()).since).toBeGreaterThan(before)
  }
  await until(() => seen.length >= 3 * written.length)
  expect(seen.toSorted()).toEqual(written.flatMap((line) => [line, line, line]).toSorted())
  await socketsBecome(3)
  gone.abort()
  await Promise.allSettled(watches)
})

const stats = async () => (await (await fetch(`${url}/stats`)).json()) as ShardStats
