// Measures what the admission chain with default plug-ins costs for a Pod: `node test/bench/admission.ts` prints it.
import { join } from 'node:path'
import { cpu, loadCases, median } from './in-process.ts'
import { table } from './report.ts'

/** @see admission-cases.ts */
interface Cases {
  chainFor(limits: Readonly<Record<string, object>>): Promise<{ next(): () => Promise<void> }>
  readonly QUOTA: object
  readonly LIMITS: object
}

const ROUNDS = 31
const WARM_UP = 60
const CALLS = 200

export type AdmissionFigure = readonly [what: string, microseconds: number]

export async function admissionFigures(): Promise<AdmissionFigure[]> {
  const { chainFor, QUOTA, LIMITS } = await loadCases<Cases>(join(import.meta.dirname, 'admission-cases.ts'))
  const chains = {
    'a namespace without limits': await chainFor({}),
    'with a LimitRange': await chainFor({ limitranges: LIMITS }),
    'with a LimitRange and a ResourceQuota': await chainFor({ limitranges: LIMITS, resourcequotas: QUOTA }),
  }
  const figures: AdmissionFigure[] = []
  for (const [what, chain] of Object.entries(chains)) {
    const rounds: number[] = []
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const calls = Array.from({ length: CALLS }, () => chain.next())
      const began = cpu()
      for (const call of calls) await call()
      if (round >= 0) rounds.push((cpu() - began) / CALLS)
    }
    figures.push([what, median(rounds)])
  }
  return figures
}

export const admissionTable = (figures: readonly AdmissionFigure[]): string =>
  table(
    ['admission of a Pod, all default plug-ins', 'CPU µs'],
    figures.map(([what, value]) => [what, value.toFixed(0)]),
  )

if (import.meta.main) console.log(admissionTable(await admissionFigures()))
