/**
 * Completion indexes of indexed Jobs, and their text form: `1,3-5`. They are kept as intervals, because a text of a few
 * characters may name two billion of them.
 */
import type { Pod } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'

export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

/** The completion index of a pod; undefined where the annotation is invalid. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = ownValue(metadata.annotations, COMPLETION_INDEX)
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

type Interval = readonly [first: number, last: number]

export class Indexes {
  /** @param intervals sorted, with a gap between each and the next */
  private constructor(private readonly intervals: readonly Interval[]) {}

  static readonly none = new Indexes([])

  static of(indexes: Iterable<number>): Indexes {
    return Indexes.from([...indexes].map((index) => [index, index]))
  }

  private static from(intervals: readonly Interval[]): Indexes {
    const merged: [number, number][] = []
    for (const [first, last] of intervals.toSorted(([a], [b]) => a - b)) {
      const before = merged.at(-1)
      if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
      else merged.push([first, last])
    }
    return new Indexes(merged)
  }

  /** The indexes below `completions` in a text; none for invalid text. */
  static parse(text: string | undefined, completions: number): Indexes {
    const intervals: Interval[] = []
    for (const part of (text ?? '').split(',')) {
      const [, first, last = first] = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(part) ?? []
      if (first === undefined) continue
      const end = Math.min(Number(last), completions - 1)
      if (Number(first) <= end) intervals.push([Number(first), end])
    }
    return Indexes.from(intervals)
  }

  get size(): number {
    return this.intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }

  get text(): string {
    const texts = this.intervals.map(([first, last]) =>
      first === last ? String(first) : `${first}${last === first + 1 ? ',' : '-'}${last}`,
    )
    return texts.join(',')
  }

  has(index: number): boolean {
    let [low, high] = [0, this.intervals.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const [first, last] = this.intervals[middle]!
      if (index < first) high = middle - 1
      else if (index > last) low = middle + 1
      else return true
    }
    return false
  }

  and(...others: readonly Indexes[]): Indexes {
    return Indexes.from([this, ...others].flatMap(({ intervals }) => intervals))
  }

  /** The number of indexes that both have. */
  common(other: Indexes): number {
    return this.size + other.size - this.and(other).size
  }

  /** The first indexes below `completions` that are not among these. */
  missing(count: number, completions: number): readonly number[] {
    const found: number[] = []
    let index = 0
    for (const [first, last] of [...this.intervals, [completions, completions] as const]) {
      for (; index < Math.min(first, completions) && found.length < count; index++) found.push(index)
      if (found.length === count) break
      index = last + 1
    }
    return found
  }
}
