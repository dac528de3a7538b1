/** Completion indexes of a Job as text: `0,2-5`. */
import { goQuote } from '../../go/quote.ts'

export type Interval = readonly [first: number, last: number]

/**
 * Parses the intervals, which must be in ascending order.
 * @param completions the number of completions, which every index is below
 * @returns the intervals, or the error
 */
export function indexesOf(text: string, completions: number): Interval[] | string {
  if (text === '') return []
  const intervals: Interval[] = []
  for (const part of text.split(',')) {
    const interval = intervalOf(part, completions)
    if (typeof interval === 'string') return interval
    const before = intervals.at(-1)
    if (before !== undefined && before[1] >= interval[0])
      return `non-increasing order, previous: ${before[1]}, current: ${interval[0]}`
    intervals.push(interval)
  }
  return intervals
}

function intervalOf(text: string, completions: number): Interval | string {
  const limits = text.split('-')
  if (limits.length > 2)
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  const numbers: number[] = []
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit)) return `cannot convert string to integer for index: ${goQuote(limit)}`
    if (Number(limit) >= completions) return `too large index: ${goQuote(limit)}`
    numbers.push(Number(limit))
  }
  const [first = 0, last = first] = numbers
  if (numbers.length === 2 && first >= last) return `non-increasing order, previous: ${first}, current: ${last}`
  return [first, last]
}

/** The first index that is in both lists. It skips malformed intervals. */
export function overlapOf(a: string, b: string, completions: number): number | undefined {
  if (a === '' || b === '') return undefined
  const intervals = (text: string) =>
    text
      .split(',')
      .map((part) => intervalOf(part, completions))
      .filter((interval): interval is Interval => typeof interval !== 'string')
  const others = intervals(b)
  let at = 0
  for (const [first, last] of intervals(a)) {
    // both lists are in order: an interval that ends before this one ends before all later ones
    while (at < others.length && others[at]![1] < first) at++
    const met = others[at]
    if (met !== undefined && met[0] <= last) return Math.max(first, met[0])
  }
  return undefined
}
