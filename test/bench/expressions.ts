// What CEL costs: typical expressions, the rules of a definition when they are first used, and a thousand definitions
// with twenty rules each. `node test/bench/expressions.ts` prints it alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build } from 'esbuild'
import { table } from './report.ts'

/** @see expression-cases.ts */
interface Cases {
  readonly EXPRESSIONS: Readonly<Record<string, string>>
  readonly RULES: number
  evaluating(expression: string): () => unknown
  firstUse(n: number): () => void
}

const ROUNDS = 31
const CALLS = 2_000
const DEFINITIONS = 1_000

export type ExpressionFigure = readonly [what: string, value: number, unit: 'µs' | 'ms' | 'MB']

export async function expressionFigures(): Promise<ExpressionFigure[]> {
  const { EXPRESSIONS, RULES, evaluating, firstUse } = await loadCases()
  const [first] = timesOf(1, () => firstUse(-1))
  const figures: ExpressionFigure[] = [[`${RULES} rules for the first time, with the engine cold`, first! / 1000, 'ms']]
  const uses = timesOf(50, (n) => firstUse(-2 - n))
  figures.push([`a rule for the first time (of ${RULES})`, median(uses) / 1000 / RULES, 'ms'])
  for (const [what, expression] of Object.entries(EXPRESSIONS)) {
    const evaluate = evaluating(expression)
    const rounds = timesOf(2 * ROUNDS, () => {
      for (let call = 0; call < CALLS; call++) evaluate()
    })
    figures.push([what, median(rounds.slice(ROUNDS)) / CALLS, 'µs'])
  }
  const before = heapAfterCollection()
  const kept: (() => void)[] = []
  const [took] = timesOf(1, () => {
    for (let n = 0; n < DEFINITIONS; n++) kept.push(firstUse(n))
  })
  figures.push([`${DEFINITIONS} definitions of ${RULES} rules: compiling all`, took! / 1000, 'ms'])
  figures.push(['the same: memory, were all of them kept', (heapAfterCollection() - before) / 1e6, 'MB'])
  kept.at(-1)!()
  return figures
}

/** CPU in µs: others may be busy on the same machine. */
const timesOf = (count: number, work: (n: number) => unknown): number[] =>
  Array.from({ length: count }, (_, n) => {
    const began = cpu()
    work(n)
    return cpu() - began
  })

const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  // the flag puts it into contexts that are made from now on
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

export const expressionTable = (figures: readonly ExpressionFigure[]): string =>
  table(
    ['CEL', 'CPU'],
    figures.map(([what, value, unit]) => [what, `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`]),
  )

/** The Worker's modules are written for its bundler. */
async function loadCases(): Promise<Cases> {
  const directory = mkdtempSync(join(tmpdir(), 'kedge-expressions-'))
  try {
    const outfile = join(directory, 'cases.mjs')
    const entry = join(import.meta.dirname, 'expression-cases.ts')
    await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', target: 'es2024', logLevel: 'warning' })
    return (await import(pathToFileURL(outfile).href)) as Cases
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

if (import.meta.main) console.log(expressionTable(await expressionFigures()))
