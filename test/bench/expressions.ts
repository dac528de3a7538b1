// Measures CEL: typical expressions, the first use of a definition's rules, and a thousand definitions with twenty
// rules each. `node test/bench/expressions.ts` prints only these.
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadCases, median } from './in-process.ts'
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
  const { EXPRESSIONS, RULES, evaluating, firstUse } = await loadCases<Cases>(
    join(import.meta.dirname, 'expression-cases.ts'),
  )
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

/** CPU time in µs, because other processes share the machine. */
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
  // the flag adds `gc` to new contexts only
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

export const expressionTable = (figures: readonly ExpressionFigure[]): string =>
  table(
    ['CEL', 'CPU'],
    figures.map(([what, value, unit]) => [what, `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`]),
  )

if (import.meta.main) console.log(expressionTable(await expressionFigures()))
