// `npm run bench:controllers` measures how long controllers block the thread, and so delay other requests: the CPU time
// between two turns of the event loop while they work over many objects. A whole server runs in this process
// (test/engine-in-process). `--only TEXT`: cases whose name contains the text. `--count N`: N objects in each case.
// `--profile`: prints what the longest steps did.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ControllerCase } from './controller-cases.ts'
import type { ServerInProcess, serverInProcess } from '../engine-in-process/server.ts'
import { loadCases } from './in-process.ts'
import { stepsOf } from './longest-step.ts'
import { pause } from './load.ts'
import { table } from './report.ts'
import { LongSteps } from './long-steps.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    count: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
})

interface Loaded {
  readonly cases: readonly ControllerCase[]
  readonly serverInProcess: typeof serverInProcess
}

const LOOK_MS = 100
/** The number of objects in a warm-up. */
const WARM_UP = 100
const entry = join(import.meta.dirname, 'controller-cases.ts')
const { cases, serverInProcess: begin } = await loadCases<Loaded>(entry, ['js-yaml'])

const rows: string[][] = []
for (const { what, count: usual, settings, ...one } of cases) {
  if (!what.includes(flags.only)) continue
  const count = flags.count === undefined ? usual : Number(flags.count)
  // the first run of code takes many times as long
  await worked(one, begin(settings), Math.min(count, WARM_UP))
  const server = begin(settings)
  await one.setUp(server, count)
  await pause(1_000)
  const profiler = flags.profile ? await LongSteps.start() : undefined
  const began = performance.now()
  const taken = await stepsOf(
    () => done(one, server, count),
    (from, to, used) => profiler?.note(from, to, used),
  )
  const seconds = (performance.now() - began) / 1000
  if (profiler !== undefined) console.log(`${what}\n${await profiler.stop()}`)
  process.stderr.write(`${what}: ${seconds.toFixed(1)} s\n`)
  rows.push([
    what,
    String(count),
    (taken.all / 1000).toFixed(1),
    String(taken.steps),
    taken.longest.toFixed(1),
    String(taken.longer(20)),
  ])
}
console.log(table(['what', 'objects', 'CPU s', 'steps', 'longest ms', 'over 20 ms'], rows))
process.exit(0)

type Work = Pick<ControllerCase, 'setUp' | 'begin' | 'isDone'>

async function worked(one: Work, server: ServerInProcess, count: number): Promise<void> {
  await one.setUp(server, count)
  await done(one, server, count)
}

async function done(one: Work, server: ServerInProcess, count: number): Promise<void> {
  await one.begin(server, count)
  while (!(await one.isDone(server, count))) await pause(LOOK_MS)
}
