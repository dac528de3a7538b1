/** Scales the scores of a plug-in to 0 to 100. */
import { leastOf, mostOf } from '../../base/extremes.ts'
import { MOST } from './framework.ts'

export function largestIsBest(values: readonly number[]): readonly number[] {
  const most = mostOf(values, 0)
  return most === 0 ? values : values.map((value) => Math.trunc((MOST * value) / most))
}

export function smallestIsBest(values: readonly number[]): readonly number[] {
  const most = mostOf(values, 0)
  return values.map((value) => (most === 0 ? MOST : MOST - Math.trunc((MOST * value) / most)))
}

/** The lowest score becomes 0. */
export function between(values: readonly number[]): readonly number[] {
  const [least, most] = [leastOf(values), mostOf(values)]
  return values.map((value) => (most > least ? Math.trunc(MOST * ((value - least) / (most - least))) : 0))
}
