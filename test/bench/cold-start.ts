// `npm run bench:cold` measures the cost of a start before the first request. It reports a fresh engine's compilation
// and evaluation of the Worker's modules, as multiples of JSON.parse and JSON.stringify of a Pod in the same process;
// the engine's start until it listens, less that with an empty Worker; and the first expansion of a Pod's types. All
// are CPU time, as medians of rounds in which all cases run in turn.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { upToDateBuild } from '../../src/cli/build/build.ts'
import { WORKER } from '../../src/cli/fresh-build.mjs'
import { startEngine } from '../../src/cli/engine/engine.ts'
import { engineConfig } from '../../src/cli/engine/config.ts'
import { readWranglerConfig } from '../../src/cli/engine/wrangler-config.ts'
import { firstUses } from './first-use.ts'
import { median } from './load.ts'
import { pod } from './pod.ts'
import { millisecondsOf } from './process-usage.ts'

const ROUNDS = 11

/** Milliseconds of CPU, as cold-start-once.mjs prints them. */
interface Start {
  readonly compile: number
  readonly evaluate: number
  /** JSON.parse and JSON.stringify of a Pod, after warm-up. */
  readonly json: number
}

export interface ColdStartFigure {
  readonly what: string
  readonly milliseconds: number
  /** The multiple of JSON.parse and JSON.stringify of a Pod together. */
  readonly ratio: number
}

export async function coldStartFigures(): Promise<ColdStartFigure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-cold-'))
  try {
    const { modules } = await upToDateBuild()
    const inputs = prepare(directory)
    const engines = [engineOf(directory, 'kedge', modules, WORKER), engineOf(directory, 'empty', ['index.js'], inputs)]
    const starts: Start[] = []
    const cpu: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      starts.push(startOnce(inputs))
      const [ours, empty] = [await cpuOfStart(engines[0]!), await cpuOfStart(engines[1]!)]
      cpu.push(ours - empty)
    }
    const uses = await firstUses(join(directory, 'first-use'))
    const json = median(starts.map((start) => start.json))
    const figure = (what: string, values: readonly number[]): ColdStartFigure => ({
      what,
      milliseconds: median(values),
      ratio: median(values) / json,
    })
    const [all, touched] = [uses[0]!.types.all, uses[0]!.types.touched]
    return [
      figure(
        'module evaluation',
        starts.map(({ evaluate }) => evaluate),
      ),
      figure(
        'their compilation before it',
        starts.map(({ compile }) => compile),
      ),
      figure('CPU of the engine until it listens, beyond an empty Worker', cpu),
      figure(
        `a Pod's ${touched} types, first use in an isolate`,
        uses.map((use) => use.milliseconds.touched),
      ),
      figure(
        `all ${all} types that Pods can have, first use`,
        uses.map((use) => use.milliseconds.all),
      ),
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

/** Writes a Pod's text and an empty Worker to files. */
function prepare(directory: string): string {
  const inputs = join(directory, 'inputs')
  mkdirSync(inputs)
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
  const printed = execFileSync(process.execPath, [...flags, once, WORKER, join(inputs, 'pod.json')])
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
  })
  const file = join(home, 'engine.capnp')
  writeFileSync(file, config)
  return file
}

/** Milliseconds of CPU until the engine listens. */
async function cpuOfStart(configFile: string): Promise<number> {
  const engine = startEngine(configFile, () => {})
  try {
    await engine.listening
    return millisecondsOf(engine.pid)
  } finally {
    await engine.stop(0)
    rmSync(join(configFile, '../engine.sock'), { force: true })
  }
}

if (import.meta.main) printColdStart(await coldStartFigures())
