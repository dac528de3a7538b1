// Codecs beside the engine's own JSON: what a Pod costs, as a multiple of JSON.parse and JSON.stringify of the same
// text. Every figure is the median of rounds in which all take their turn. `node test/bench/codecs.ts` prints them alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** @see codec-cases.ts */
type Cases = Readonly<Record<string, () => unknown>>

const ROUNDS = 31
const CALLS = 300

export interface CodecFigure {
  readonly what: string
  readonly microseconds: number
  /** Times what JSON.parse and JSON.stringify take together. */
  readonly ratio: number
}

export async function codecFigures(): Promise<CodecFigure[]> {
  const cases = Object.entries(await loadCases())
  const times = new Map<string, number[]>(cases.map(([what]) => [what, []]))
  for (let round = -10; round < ROUNDS; round++)
    for (const [what, run] of cases) {
      const began = performance.now()
      for (let call = 0; call < CALLS; call++) run()
      // what comes first warms up
      if (round >= 0) times.get(what)!.push(((performance.now() - began) * 1000) / CALLS)
    }
  const medians = cases.map(([what]) => [what, median(times.get(what)!)] as const)
  const [, base] = medians[0]!
  return medians.map(([what, microseconds]) => ({ what, microseconds, ratio: microseconds / base }))
}

export function printCodecs(figures: readonly CodecFigure[]): void {
  console.log('\n| a Pod | µs | × JSON.parse + stringify |\n|---|---|---|')
  for (const { what, microseconds, ratio } of figures)
    console.log(`| ${what} | ${microseconds.toFixed(1)} | ${ratio.toFixed(2)} |`)
}

/** The Worker's modules are written for its bundler. */
async function loadCases(): Promise<Cases> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-codecs-'))
  try {
    const outfile = join(directory, 'cases.mjs')
    const entry = join(import.meta.dirname, 'codec-cases.ts')
    await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', target: 'es2024', logLevel: 'warning' })
    const module = (await import(pathToFileURL(outfile).href)) as { readonly cases: Cases }
    return module.cases
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

if (import.meta.main) printCodecs(await codecFigures())
