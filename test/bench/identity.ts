// Measures authentication and RBAC authorization: `node test/bench/identity.ts` prints it.
import { join } from 'node:path'
import { cpu, loadCases, median } from './in-process.ts'
import { table } from './report.ts'

/** @see identity-cases.ts */
interface Cases {
  tokens(count: number): Promise<{ known(): unknown; fresh(n: number): Promise<unknown> }>
  question(): () => unknown
}

const ROUNDS = 31
const CALLS = 2_000
const FRESH = 40

export type IdentityFigure = readonly [what: string, microseconds: number]

export async function identityFigures(): Promise<IdentityFigure[]> {
  const { tokens, question } = await loadCases<Cases>(join(import.meta.dirname, 'identity-cases.ts'))
  const { known, fresh } = await tokens(ROUNDS * FRESH + 1)
  const ask = question()
  const perCall = (work: () => unknown): number => {
    const rounds = Array.from({ length: 2 * ROUNDS }, () => {
      const began = cpu()
      for (let call = 0; call < CALLS; call++) work()
      return (cpu() - began) / CALLS
    })
    return median(rounds.slice(ROUNDS))
  }
  const checks: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = cpu()
    for (let n = 0; n < FRESH; n++) await fresh(1 + round * FRESH + n)
    checks.push((cpu() - began) / FRESH)
  }
  return [
    ['a JWT that was seen before', perCall(known)],
    ['a new JWT, RS256', median(checks)],
    ['RBAC: 1,000 bindings, 5,000 rules', perCall(ask)],
  ]
}

export const identityTable = (figures: readonly IdentityFigure[]): string =>
  table(
    ['who asks, and may they?', 'CPU µs'],
    figures.map(([what, value]) => [what, value >= 100 ? value.toFixed(0) : value.toPrecision(3)]),
  )

if (import.meta.main) console.log(identityTable(await identityFigures()))
