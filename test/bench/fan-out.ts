// Measures the delivery of events to many watchers: events a second, and the latency of one event.
import { fill, part, pause, succeed } from './load.ts'
import { TURNS } from './report.ts'
import type { Report } from './report.ts'
import type { Side } from './side.ts'
import { openWatchers } from './watchers.ts'
import type { Watchers } from './watchers.ts'

/** Events in a burst. */
const EVENTS = 16_000
const WRITERS = 16
/** Events that are sent one at a time. */
const SINGLE = 20

export async function measureFanOut(report: Report, sides: readonly Side[], count: number): Promise<void> {
  const what = `fan-out to ${count}`
  const runs = new Map<Side, { watchers: Watchers; elapsed: number; latencies: number[] }>()
  for (const side of sides)
    runs.set(side, { watchers: await openWatchers(side.target, side.watchPath, count), elapsed: 0, latencies: [] })
  await pause(500)
  const writes = Math.max(WRITERS, Math.round(EVENTS / count))
  let name = 0
  for (const [side, { watchers }] of runs) await burst(side, watchers, count, `warm${name++}`, WRITERS)
  await report.inTurn(sides, what, async (side) => {
    const run = runs.get(side)!
    const began = performance.now()
    await burst(side, run.watchers, count, `burst${name++}`, writes)
    run.elapsed += performance.now() - began
    return writes * count
  })
  for (let single = 0; single < SINGLE; single++)
    for (const [side, { watchers, latencies }] of runs)
      latencies.push(...(await delivered(side, watchers, count, name++)))
  for (const [side, { watchers, elapsed, latencies }] of runs) {
    report.note(side, `${what}: events/s`, (TURNS * writes * count * 1000) / elapsed)
    report.note(side, `${what}: p50 ms`, part(latencies, 0.5))
    report.note(side, `${what}: p99 ms`, part(latencies, 0.99))
    watchers.close()
  }
  await pause(500)
}

async function burst(side: Side, watchers: Watchers, count: number, name: string, writes: number): Promise<void> {
  const before = watchers.events()
  await fill(side.target, WRITERS, writes, (n) => side.create(`${name}-${count}-${n}`))
  await watchers.until(before + writes * count)
}

/** Milliseconds from a write's request to its event at each watcher, on an otherwise idle server. */
async function delivered(side: Side, watchers: Watchers, count: number, name: number): Promise<number[]> {
  const latencies: number[] = []
  const before = watchers.events()
  const began = performance.now()
  watchers.onEvent = () => latencies.push(performance.now() - began)
  await succeed(side.target, side.create(`single-${count}-${name}`))
  await watchers.until(before + count)
  watchers.onEvent = () => {}
  return latencies
}
