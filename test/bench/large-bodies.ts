// `npm run bench:large` measures how long the most expensive accepted bodies block the thread, and so delay other
// requests. It sends each body twice to a server in this process and takes the shorter of the two longest steps,
// because a garbage collection may fall into one. `--server` measures instead how long another client waits for
// /healthz at a separate server, which depends on the machine, too. `--only TEXT` sends the cases whose name contains
// the text.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { loadCases } from './in-process.ts'
import { definition, largeBodies } from './large-bodies-cases.ts'
import type { LargeBody } from './large-bodies-cases.ts'
import { open, pause, send, succeed, targetOf } from './load.ts'
import type { Call, Target } from './load.ts'
import { stepsOf } from './longest-step.ts'
import type { Env } from '../../src/env.ts'
import type { Send } from './memory-target.ts'
import { table } from './report.ts'
import { readKubeconfig } from './side.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '2' },
    server: { type: 'boolean', default: false },
  },
})
/** @see memory-target.ts */
interface MemoryTarget {
  memoryTarget(settings: Partial<Env>): Promise<Send>
  encoded(call: Call): Parameters<Send>[0]
}
const HEALTH = { method: 'GET', path: '/healthz' } as const
const bodies = largeBodies.filter(({ what, isNeeded }) => isNeeded === true || what.includes(flags.only))

if (flags.server) await waits()
else await steps()
process.exit(0)

async function steps(): Promise<void> {
  const entry = join(import.meta.dirname, 'memory-target.ts')
  const { memoryTarget, encoded } = await loadCases<MemoryTarget>(entry, ['js-yaml'])
  const best = new Map<string, { status: number; all: number; steps: number; longest: number }>()
  for (let round = 0; round < Number(flags.rounds); round++) {
    const to = await memoryTarget({ KEDGE_FEATURE_GATES: 'CBORServingAndStorage=true' })
    for (const { what, call } of bodies) {
      let status = 0
      const sent = encoded(call)
      const taken = await stepsOf(async () => void ({ status } = await to(sent)))
      const before = best.get(what)
      if (before === undefined || taken.longest < before.longest) best.set(what, { ...taken, status })
    }
  }
  const rows = [...best].map(([what, { status, all, steps, longest }]) => [
    what,
    String(status),
    all.toFixed(0),
    String(steps),
    longest.toFixed(1),
  ])
  console.log(table(['body', 'status', 'CPU, ms', 'steps', 'longest step, ms of CPU'], rows))
}

async function waits(): Promise<void> {
  const kedge = await startKedge()
  const target = readKubeconfig(kedge.kubeconfig)
  const other = targetOf(kedge.url)
  await prepare(target, other)
  const rows: string[][] = []
  const sent = bodies.filter(({ isEncoded }) => isEncoded !== true)
  for (let round = 0; round < Number(flags.rounds); round++)
    for (const body of sent) rows.push(await measure(target, other, body))
  console.log(table(['body', 'status', 'its own ms', 'longest wait of others, ms'], rows))
  await kedge.stop()
}

async function prepare(target: Target, other: Target): Promise<void> {
  await succeed(target, definition)
  const account = { method: 'GET', path: '/api/v1/namespaces/default/serviceaccounts/default' }
  while ((await send(target, account)).status !== 200) await pause(50) // Pods need the ServiceAccount
  const things = { method: 'GET', path: '/apis/bench.example.com/v1/namespaces/default/things' }
  while ((await send(target, things)).status !== 200) await pause(50)
  for (let n = 0; n < 300; n++) await succeed(other, HEALTH) // warm-up
}

async function measure(target: Target, other: Target, { what, call }: LargeBody): Promise<string[]> {
  await pause(200)
  let isDone = false
  let waited = 0
  const asking = (async () => {
    while (!isDone) waited = Math.max(waited, (await succeed(other, HEALTH)).total)
  })()
  const began = performance.now()
  const status = await statusOf(target, what, call)
  const milliseconds = performance.now() - began
  await pause(20)
  isDone = true
  await asking
  return [what, String(status), milliseconds.toFixed(0), waited.toFixed(0)]
}

async function statusOf(to: Target, what: string, call: LargeBody['call']): Promise<number> {
  const response = await open(to, call)
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text = text.length < 300 ? text + (chunk as string) : text
  const status = response.statusCode ?? 0
  if (status >= 400) process.stderr.write(`${what}: ${status} ${text.slice(0, 300)}\n`)
  return status
}
