/** Completion indexes of indexed Jobs, and their text form: `1,3-5`. */
import type { Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../api/own.ts'

export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

/** The completion index of a pod; undefined where the annotation is invalid. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = ownValue(metadata.annotations, COMPLETION_INDEX)
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/** The indexes below `completions` in a text; none for invalid text. */
export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const found = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? []
    if (first === undefined) continue
    const end = Math.min(Number(last), completions - 1)
    for (let index = Number(first); index <= end; index++) found.add(index)
  }
  return found
}

export function indexesText(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const parts: string[] = []
  for (let at = 0; at < sorted.length;) {
    let end = at
    while (sorted[end + 1] === sorted[end]! + 1) end++
    const length = end - at
    if (length === 0) parts.push(String(sorted[at]))
    else parts.push(`${sorted[at]}${length === 1 ? ',' : '-'}${sorted[end]}`)
    at = end + 1
  }
  return parts.join(',')
}

/** The first indexes that are in none of the sets. */
export function firstPending(
  count: number,
  completions: number,
  ...done: readonly ReadonlySet<number>[]
): readonly number[] {
  const pending: number[] = []
  for (let index = 0; index < completions && pending.length < count; index++)
    // few: three sets
    if (!done.some((indexes) => indexes.has(index))) pending.push(index)
  return pending
}
