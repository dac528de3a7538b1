// Compares codecs with the engine's JSON: the cost of a Pod as a multiple of JSON.parse and JSON.stringify of the same
// text. Every figure is a median of rounds in which all cases run in turn; each ratio compares figures of one round.
// `node test/bench/codecs.ts` prints only these.
import { join } from 'node:path'
import { loadCases, median } from './in-process.ts'

/** @see codec-cases.ts */
interface Cases {
  readonly cases: Readonly<Record<string, () => unknown>>
  readonly lists: Readonly<Record<string, () => Promise<number>>>
  readonly LIST_LENGTH: number
}

const ROUNDS = 31
const WARM_UP = 10
const CALLS = 300
const LIST_ROUNDS = 5

export interface CodecFigure {
  readonly what: string
  readonly microseconds: number
  /** The multiple of JSON.parse and JSON.stringify together. */
  readonly ratio: number
}

export async function codecFigures(): Promise<CodecFigure[]> {
  const { cases, lists, LIST_LENGTH } = await loadCases<Cases>(join(import.meta.dirname, 'codec-cases.ts'))
  const [base, compare] = Object.entries(cases)[0]!
  const times = new Map<string, number[]>()
  const ratios = new Map<string, number[]>()
  let ofBase = NaN
  const took = (what: string, began: number, objects: number): void => {
    const microseconds = ((performance.now() - began) * 1000) / objects
    if (what === base) ofBase = microseconds
    times.set(what, [...(times.get(what) ?? []), microseconds])
    ratios.set(what, [...(ratios.get(what) ?? []), microseconds / ofBase])
  }
  const runCase = (what: string, run: () => unknown): void => {
    const began = performance.now()
    for (let call = 0; call < CALLS; call++) run()
    took(what, began, CALLS)
  }
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const [what, run] of Object.entries(cases)) runCase(what, run)
  for (let round = 0; round < 1 + LIST_ROUNDS; round++)
    for (const [what, run] of Object.entries(lists)) {
      runCase(base, compare)
      const began = performance.now()
      await run()
      took(what, began, LIST_LENGTH)
    }
  return [...times].map(([what, all]) => ({ what, microseconds: median(all), ratio: median(ratios.get(what)!) }))
}

export function printCodecs(figures: readonly CodecFigure[]): void {
  console.log('\n| a Pod | µs | × JSON.parse + stringify |\n|---|---|---|')
  for (const { what, microseconds, ratio } of figures)
    console.log(`| ${what} | ${microseconds.toFixed(1)} | ${ratio.toFixed(2)} |`)
}

if (import.meta.main) printCodecs(await codecFigures())
