/**
 * The work of one cycle of the scheduler. Nothing bounds what a cycle compares: the different terms of running pods, and the
 * victims on all nodes. So it goes in steps, and other requests run between two of them.
 */
import type { Steps } from '../../base/slices.ts'

/** Comparisons of a step. One of a selector with a pod takes a tenth of a microsecond or two. */
const STEP = 4_000
/** Characters of a pod's rules for which a comparison counts as one. */
const COMPARED = 64

/** How many comparisons it takes to apply rules of this length once. */
export const weightOf = (characters: number): number => 1 + Math.trunc(characters / COMPARED)

type Weight<Item> = number | ((item: Item) => number)

export class CycleWork {
  total = 0
  private inStep = 0

  /** @returns whether the step is over: then the caller yields */
  isStepOver(comparisons = 1): boolean {
    this.total += comparisons
    this.inStep += comparisons
    if (this.inStep < STEP) return false
    this.inStep = 0
    return true
  }

  /** `items.map(of)` in steps. */
  *map<Item, Result>(items: readonly Item[], of: (item: Item) => Result, weight: Weight<Item> = 1): Steps<Result[]> {
    const results: Result[] = []
    for (const item of items) {
      results.push(of(item))
      if (this.isStepOver(typeof weight === 'number' ? weight : weight(item))) yield
    }
    return results
  }

  /** `items.toSorted(compare)` in steps. */
  *sorted<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): Steps<Item[]> {
    let sorted = [...items]
    for (let length = 1; length < items.length; length *= 2) {
      const merged: Item[] = []
      for (let from = 0; from < items.length; from += 2 * length) {
        let [a, b] = [from, from + length]
        const [endOfA, end] = [Math.min(b, items.length), Math.min(b + length, items.length)]
        while (merged.length < end) {
          const isFromA = b >= end || (a < endOfA && compare(sorted[a]!, sorted[b]!) <= 0)
          merged.push(sorted[isFromA ? a++ : b++]!)
          if (this.isStepOver()) yield
        }
      }
      sorted = merged
    }
    return sorted
  }

  /** `items.filter(isOne)` in steps. */
  *filter<Item>(items: readonly Item[], isOne: (item: Item) => boolean, weight: Weight<Item> = 1): Steps<Item[]> {
    const results: Item[] = []
    for (const item of items) {
      if (isOne(item)) results.push(item)
      if (this.isStepOver(typeof weight === 'number' ? weight : weight(item))) yield
    }
    return results
  }
}
