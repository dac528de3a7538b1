// `npm run bench:growth` measures how the cost of each kind of request, and the memory, grow with the number of Pods.
// Draws docs/growth.svg and prints its table. Times are relative to those of the smallest number, because single times
// mean little.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { drawing } from './growth-drawing.ts'
import { backupWithPod, pod, podName, PODS, restoreWithPods } from './many-pods.ts'
import { fill, median, open, pause, send, succeed } from './load.ts'
import type { Call, Target } from './load.ts'
import { usageByCommand } from './process-usage.ts'
import { readKubeconfig, timed } from './side.ts'
import { openWatchers } from './watchers.ts'

const { values: flags } = parseArgs({
  options: { sizes: { type: 'string', default: '1000,10000,100000' }, out: { type: 'string' } },
})
const sizes = flags.sizes.split(',').map(Number)
const WATCHES = 100

/** In milliseconds, unless a name says otherwise. */
async function measure(target: Target): Promise<Record<string, number>> {
  const at = (query: string): Call => ({ method: 'GET', path: PODS + query })
  const now = await revisionOf(target)
  await succeed(target, {
    method: 'PATCH',
    path: `${PODS}/${podName(0)}`,
    body: `{"metadata":{"annotations":{"changed":"${now}"}}}`,
    contentType: 'application/merge-patch+json',
  })
  return {
    get: await timed(target, { method: 'GET', path: `${PODS}/${podName(1)}` }, 51),
    create: await perCreate(target),
    'page of 500': await timed(target, at('?limit=500'), 15),
    'first byte of a list': await firstByte(target),
    '1 % selector': await timed(target, at('?labelSelector=one%3Dpercent')),
    'list of all': await timed(target, at('')),
    'list at an old revision': await timed(target, at(`?resourceVersion=${now}&resourceVersionMatch=Exact`)),
  }
}

async function revisionOf(target: Target): Promise<string> {
  let text = ''
  const response = await open(target, { method: 'GET', path: `${PODS}?limit=1` })
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  return (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
}

async function firstByte(target: Target): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < 9; run++) {
    await pause(50)
    times.push((await send(target, { method: 'GET', path: PODS })).firstByte)
  }
  return median(times)
}

let made = 0

/** Milliseconds a create, with sixteen concurrent clients. */
async function perCreate(target: Target): Promise<number> {
  const creates = 480
  const create = (): Call => ({ method: 'POST', path: PODS, body: pod(`z${made++}`) })
  await fill(target, 16, creates, create)
  const began = performance.now()
  await fill(target, 16, creates, create)
  return (performance.now() - began) / creates
}

/** Resident megabytes while watches are open. */
async function resident(server: KedgeProcess, target: Target): Promise<Record<string, number>> {
  const watchers = await openWatchers(target, `${PODS}?watch=true&resourceVersion=${await revisionOf(target)}`, WATCHES)
  await pause(2_000)
  const processes = usageByCommand(server.process.pid!)
  watchers.close()
  const megabytes = (command: string): number => (processes.get(command)?.residentBytes ?? 0) / 1e6
  const all = [...processes.values()].reduce((sum, { residentBytes }) => sum + residentBytes / 1e6, 0)
  const engine = megabytes('workerd')
  return { all, engine }
}

interface Result {
  readonly times: Record<string, number>
  readonly memory: Record<string, number>
}

const backup = await backupWithPod()
const results: Result[] = []
for (const size of sizes) {
  const dataDir = mkdtempSync(join(tmpdir(), 'kedge-growth-'))
  const start = () => startKedge(['--data-dir', dataDir, '--port', '0'])
  let server = await start()
  let target = readKubeconfig(server.kubeconfig)
  process.stderr.write(`${size} Pods …\n`)
  await restoreWithPods(target, backup, size)
  const times = await measure(target)
  const used = await resident(server, target)
  await server.stop()
  const began = performance.now()
  server = await start()
  target = readKubeconfig(server.kubeconfig)
  await succeed(target, { method: 'GET', path: '/readyz' })
  times['start to ready'] = performance.now() - began
  await succeed(target, { method: 'GET', path: `${PODS}/${podName(1)}` })
  times['start to first get'] = performance.now() - began
  const fresh = await resident(server, target)
  const memory: Record<string, number> = {}
  for (const [what, value] of Object.entries(used)) memory[what] = value
  for (const [what, value] of Object.entries(fresh)) memory[`${what}, restarted`] = value
  results.push({ times, memory })
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

const columns = `| ${sizes.join(' | ')} |\n|---|${sizes.map(() => '---|').join('')}`
const first = results[0]!
console.log(`| relative to ${sizes[0]} Pods of 2 KB ${columns}`)
for (const [name, base] of Object.entries(first.times))
  console.log(`| ${name} | ${results.map(({ times }) => (times[name]! / base).toFixed(2)).join(' | ')} |`)
console.log(`\n| MB resident (front and engine, engine) with ${WATCHES} watches open ${columns}`)
for (const name of Object.keys(first.memory))
  console.log(`| ${name} | ${results.map(({ memory }) => memory[name]!.toFixed(0)).join(' | ')} |`)
console.log(`\n| milliseconds ${columns}`)
for (const name of Object.keys(first.times))
  console.log(`| ${name} | ${results.map(({ times }) => times[name]!.toFixed(1)).join(' | ')} |`)
const file = flags.out ?? join(import.meta.dirname, '../../docs/growth.svg')
writeFileSync(file, drawing(sizes, results, WATCHES))
process.exit(0)
