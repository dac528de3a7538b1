// `npm run bench:cold`: what a start costs before the first request can be served. The Worker's modules, compiled and
// evaluated by a fresh engine; the types of a Pod, asked for the first time; both as multiples of JSON.parse and
// JSON.stringify of a Pod in the same process. And what the engine takes from its start until it listens, beyond what it
// takes with an empty Worker. CPU time; medians of rounds in which all take their turn.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { WORKER, upToDateBuild } from '../../src/cli/build.ts'
import { startEngine } from '../../src/cli/engine.ts'
import { engineConfig } from '../../src/cli/engine-config.ts'
import { lazyTables } from '../../src/cli/lazy-tables.ts'
import { readWranglerConfig } from '../../src/cli/wrangler-config.ts'

const ROUNDS = 11

/** Milliseconds of CPU, as cold-start-once.mjs prints them. */
interface Start {
  readonly compile: number
  readonly evaluate: number
  readonly expand: number
  readonly types: number
  /** JSON.parse and JSON.stringify of a Pod, warm. */
  readonly json: number
}

export interface ColdStartFigure {
  readonly what: string
  readonly milliseconds: number
  /** Times what JSON.parse and JSON.stringify of a Pod take together. */
  readonly ratio: number
}

export async function coldStartFigures(): Promise<ColdStartFigure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-cold-'))
  try {
    const { modules } = await upToDateBuild()
    const inputs = await prepare(directory)
    const engines = [engineOf(directory, 'kedge', modules, WORKER), engineOf(directory, 'empty', ['index.js'], inputs)]
    const starts: Start[] = []
    const cpu: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      starts.push(startOnce(inputs))
      const [ours, empty] = [await cpuOfStart(engines[0]!), await cpuOfStart(engines[1]!)]
      cpu.push(ours - empty)
    }
    const figure = (what: string, of: (start: Start, round: number) => number): ColdStartFigure => ({
      what,
      milliseconds: median(starts.map(of)),
      ratio: median(starts.map((start, round) => of(start, round) / start.json)),
    })
    return [
      figure('module evaluation', ({ evaluate }) => evaluate),
      figure('their compilation before it', ({ compile }) => compile),
      figure(`the ${starts[0]!.types} types of a Pod, first use`, ({ expand }) => expand),
      figure('CPU of the engine until it listens, beyond an empty Worker', (_, round) => cpu[round]!),
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

export function printColdStart(figures: readonly ColdStartFigure[]): void {
  console.log('\n| A cold start | CPU ms | × JSON.parse + stringify of a Pod |\n|---|---|---|')
  for (const { what, milliseconds, ratio } of figures)
    console.log(`| ${what} | ${milliseconds.toFixed(1)} | ${ratio.toFixed(0)} |`)
}

/** A Pod's text, what expands its types, and an empty Worker, as files. */
async function prepare(directory: string): Promise<string> {
  const inputs = join(directory, 'inputs')
  const bench = import.meta.dirname
  const options = { outdir: inputs, bundle: true, format: 'esm', target: 'es2024', logLevel: 'warning' } as const
  await build({ ...options, entryPoints: [join(bench, 'expand-pod.ts')], minify: true, plugins: [lazyTables] })
  await build({ ...options, entryPoints: [join(bench, 'codec-cases.ts')], outExtension: { '.js': '.mjs' } })
  const { pod } = (await import(pathToFileURL(join(inputs, 'codec-cases.mjs')).href)) as { pod: object }
  writeFileSync(join(inputs, 'pod.json'), JSON.stringify(pod))
  writeFileSync(
    join(inputs, 'index.js'),
    `import { DurableObject } from 'cloudflare:workers'
    export class ResourceShard extends DurableObject {}
    export class ControllerManager extends DurableObject {}
    export default { fetch: () => new Response() }`,
  )
  return inputs
}

function startOnce(inputs: string): Start {
  const once = join(import.meta.dirname, 'cold-start-once.mjs')
  const flags = ['--experimental-vm-modules', '--no-warnings']
  const printed = execFileSync(process.execPath, [...flags, once, WORKER, inputs, join(inputs, 'pod.json')])
  return JSON.parse(printed.toString()) as Start
}

/** @returns the configuration's path */
function engineOf(directory: string, name: string, modules: readonly string[], from: string): string {
  const home = join(directory, name)
  mkdirSync(join(home, 'worker'), { recursive: true })
  mkdirSync(join(home, 'objects'))
  for (const module of modules) copyFileSync(join(from, module), join(home, 'worker', module))
  const config = engineConfig({
    worker: readWranglerConfig(join(import.meta.dirname, '../../wrangler.toml')),
    modules,
    settings: {},
    objects: join(home, 'objects'),
    socket: join(home, 'engine.sock'),
    cfHeader: 'kedge-cold-cf',
  })
  const file = join(home, 'engine.capnp')
  writeFileSync(file, config)
  return file
}

/** Milliseconds of CPU until it listens. */
async function cpuOfStart(configFile: string): Promise<number> {
  const engine = startEngine(configFile, () => {})
  try {
    await engine.listening
    return cpuOf(engine.pid)
  } finally {
    await engine.stop(0)
    rmSync(join(configFile, '../engine.sock'), { force: true })
  }
}

/** Of all threads of a process, in milliseconds (Linux). */
function cpuOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

if (import.meta.main) printColdStart(await coldStartFigures())
