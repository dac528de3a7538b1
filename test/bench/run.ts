// `npm run bench`: Kedge beside the floor on the same engine, in one run; ratios, for single times mean little. Then its
// codecs beside the engine's JSON.
// `npm run bench -- --kubeconfig FILE [--pid N]` drives any server alone (N: its process, for CPU and memory).
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { codecFigures, printCodecs } from './codecs.ts'
import { countLines, load, send, targetOf } from './load.ts'
import type { Call, Target } from './load.ts'
import { usageOf } from './process-usage.ts'

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    pid: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    objects: { type: 'string', default: '10000' },
    watchers: { type: 'string', default: '100' },
  },
})
const seconds = Number(flags.seconds)
const objects = Number(flags.objects)
const watchers = Number(flags.watchers)
const VALUE = 'x'.repeat(1_500)
const NAMESPACE = `bench-${Date.now().toString(36)}`
const COLLECTION = `/api/v1/namespaces/${NAMESPACE}/configmaps`

/** The same work on both sides. */
interface Side {
  readonly name: string
  readonly target: Target
  readonly pid: number | undefined
  get(): Call
  create(id: string): Call
  list(): Call
  watchPath: string
}

const configMap = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { one: name.endsWith('00') ? 'percent' : 'other' } },
    data: { value: VALUE },
  })

const results: Record<string, Record<string, number>> = {}

function note(side: Side, what: string, value: number): void {
  ;(results[what] ??= {})[side.name] = value
  process.stderr.write(`  ${side.name.padEnd(7)} ${what}: ${round(value)}\n`)
}

const round = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2))

async function measured<T>(side: Side, what: string, count: (result: T) => number, work: () => Promise<T>): Promise<T> {
  const before = side.pid === undefined ? undefined : usageOf(side.pid)
  const result = await work()
  if (before !== undefined && side.pid !== undefined)
    note(side, `${what}: server CPU, ms each`, ((usageOf(side.pid).cpu - before.cpu) * 1000) / count(result))
  return result
}

async function rates(side: Side, what: string, clients: number, next: (n: number) => Call): Promise<void> {
  await load(side.target, clients, seconds / 4, (n) => next(-n - 1)) // warm
  const rate = await measured(
    side,
    what,
    ({ count }) => count,
    () => load(side.target, clients, seconds, next),
  )
  note(side, `${what}: a second`, rate.rate)
  note(side, `${what}: p99 ms`, rate.p99)
}

/** Interleaved, so that a machine that gets slower does so for both. */
async function measure(sides: readonly Side[]): Promise<void> {
  for (const side of sides) await send(side.target, side.create('first'))
  for (const side of sides) await rates(side, 'get, 16 clients', 16, () => side.get())
  for (const clients of [1, 16, 64])
    for (const side of sides)
      await rates(side, `create 2 KB, ${clients} clients`, clients, (n) =>
        side.create(`c${clients}-${n < 0 ? `w${-n}` : n}`),
      )
  for (const side of sides) await fill(side)
  for (const side of sides) {
    await send(side.target, side.list())
    const runs: number[] = []
    const first: number[] = []
    let bytes = 0
    await measured(
      side,
      'list all',
      () => 5,
      async () => {
        for (let run = 0; run < 5; run++) {
          const answer = await send(side.target, side.list())
          runs.push(answer.total)
          first.push(answer.firstByte)
          bytes = answer.bytes
        }
      },
    )
    note(side, 'list all: MB/s', bytes / 1000 / median(runs))
    note(side, 'list all: first byte ms', median(first))
  }
  for (const side of sides) await fanOut(side)
  for (const side of sides) if (side.pid !== undefined) note(side, 'resident MB', usageOf(side.pid).residentBytes / 1e6)
}

async function fill(side: Side): Promise<void> {
  let n = 0
  const client = async (): Promise<void> => {
    while (n < objects) await send(side.target, side.create(`f${String(n++).padStart(7, '0')}`))
  }
  await Promise.all(Array.from({ length: 64 }, client))
}

async function fanOut(side: Side): Promise<void> {
  const stream = await countLines(side.target, side.watchPath, watchers)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const begin = stream.lines()
  const began = performance.now()
  const writes = 500
  let n = 0
  const client = async (): Promise<void> => {
    while (n < writes) await send(side.target, side.create(`w${n++}`))
  }
  await measured(
    side,
    `fan-out to ${watchers}`,
    () => writes * watchers,
    async () => {
      await Promise.all(Array.from({ length: 16 }, client))
      const wanted = writes * watchers
      const until = performance.now() + 20_000
      while (stream.lines() - begin < wanted && performance.now() < until) await new Promise((r) => setTimeout(r, 2))
    },
  )
  note(side, `fan-out to ${watchers}: events/s`, ((stream.lines() - begin) * 1000) / (performance.now() - began))
  stream.close()
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

async function apiSide(name: string, target: Target, pid: number | undefined): Promise<Side> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await send(target, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify(namespace) })
  return {
    name,
    target,
    pid,
    get: () => ({ method: 'GET', path: `${COLLECTION}/first` }),
    create: (id) => ({ method: 'POST', path: COLLECTION, body: configMap(id) }),
    list: () => ({ method: 'GET', path: COLLECTION }),
    watchPath: `${COLLECTION}?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=false`,
  }
}

/** Selections and snapshots have no floor: they are compared with the full list of the same server. */
async function measureSelections(side: Side): Promise<void> {
  const full = await timed(side, COLLECTION)
  for (const [what, query] of [
    ['1 % label selector', '?labelSelector=one%3Dpercent'],
    ['page of 500', '?limit=500'],
  ] as const)
    note(side, `${what}: full list / it`, full / (await timed(side, COLLECTION + query)))
}

async function timed(side: Side, path: string): Promise<number> {
  const runs: number[] = []
  for (let run = 0; run < 5; run++) runs.push((await send(side.target, { method: 'GET', path })).total)
  return median(runs)
}

function floorSide(url: string, pid: number | undefined): Side {
  const stored = (id: string): string =>
    JSON.stringify({ ...(JSON.parse(configMap(id)) as object), padding: 'y'.repeat(500) })
  return {
    name: 'floor',
    target: targetOf(url),
    pid,
    get: () => ({ method: 'GET', path: '/get/first' }),
    create: (id) => ({ method: 'POST', path: `/create/${id}`, body: stored(id) }),
    list: () => ({ method: 'GET', path: '/list' }),
    watchPath: '/watch',
  }
}

function printTable(sides: readonly Side[]): void {
  const names = sides.map(({ name }) => name)
  const paired = names.length === 2
  console.log(`\n${cpus().length} cores, ${round(totalmem() / 1e9)} GB; ${objects} objects of 2 KB.\n`)
  console.log(`| | ${names.join(' | ')} |${paired ? ' ratio |' : ''}`)
  console.log(`|---|${names.map(() => '---|').join('')}${paired ? '---|' : ''}`)
  for (const [what, values] of Object.entries(results)) {
    const cells = names.map((name) => (values[name] === undefined ? '' : round(values[name])))
    const [floor, kedge] = names.map((name) => values[name])
    const ratio = floor === undefined || kedge === undefined ? '' : (kedge / floor).toFixed(2)
    console.log(`| ${what} | ${cells.join(' | ')} |${paired ? ` ${ratio} |` : ''}`)
  }
}

if (flags.kubeconfig !== undefined) {
  const side = await apiSide(
    'server',
    readKubeconfig(flags.kubeconfig),
    flags.pid === undefined ? undefined : Number(flags.pid),
  )
  await measure([side])
  await measureSelections(side)
  printTable([side])
} else {
  const floor = spawn(process.execPath, [join(import.meta.dirname, 'floor.ts')], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await new Promise<string>((resolve) =>
    floor.stdout!.once('data', (text: Buffer) => resolve(String(text).trim())),
  )
  const kedge = await startKedge()
  const sides = [
    floorSide(url, floor.pid),
    await apiSide('kedge', readKubeconfig(kedge.kubeconfig), kedge.process.pid),
  ] as const
  await measure(sides)
  await measureSelections(sides[1])
  printTable(sides)
  await kedge.stop()
  floor.kill('SIGTERM')
  printCodecs(await codecFigures())
}
process.exit(0)

/** Kubeconfigs in JSON only, as Kedge writes them. */
function readKubeconfig(file: string): Target {
  interface Named {
    readonly cluster?: { readonly server: string }
    readonly user?: Record<string, string | undefined>
  }
  const config = JSON.parse(readFileSync(file, 'utf8')) as { clusters: Named[]; users: Named[] }
  const user = config.users[0]?.user ?? {}
  const decoded = (data: string | undefined): string | undefined =>
    data === undefined ? undefined : Buffer.from(data, 'base64').toString()
  return targetOf(config.clusters[0]?.cluster?.server ?? '', {
    token: user.token,
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  })
}
