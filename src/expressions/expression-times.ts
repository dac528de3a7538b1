/**
 * Metrics of how long this isolate took to compile and evaluate rules of custom resources. On Workers the clock does
 * not advance while code runs, so the counts say more than the times.
 */
import type { Clock } from '../base/clock.ts'
import { platformClock } from '../base/clock.ts'
import { Histogram } from '../metrics/series.ts'

/** Upper bounds in seconds: the default buckets of Prometheus' client libraries. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export const expressionTimes = { compilation: new Histogram(buckets), evaluation: new Histogram(buckets) }

export function timed<Done>(what: keyof typeof expressionTimes, work: () => Done, clock: Clock = platformClock): Done {
  const began = clock()
  try {
    return work()
  } finally {
    noteTime(what, began, clock)
  }
}

export const startTime = (clock: Clock = platformClock): number => clock()

export const noteTime = (what: keyof typeof expressionTimes, began: number, clock: Clock = platformClock): void =>
  expressionTimes[what].observe((clock() - began) / 1000)
