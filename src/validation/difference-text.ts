/**
 * The difference between a value and the stored one in an error: a unified diff of the lines of both, with three lines
 * of context around each change.
 */
import type { Json } from '../api/object.ts'
import { apart, kept } from '../api/parts.ts'
import { writtenLines } from './written-lines.ts'

const CONTEXT = 3

type Line = readonly [mark: ' ' | '-' | '+', text: string]

/** The diff compares this many lines of each text. More would exceed the memory of an isolate. */
const MAX_LINES = 150_000

/** Runs as a walk (api/parts.ts): each run needs the same `old` and `wanted`. */
export function differenceText(old: Json | object, wanted: Json | object): string {
  const owners = kept(typeof wanted === 'object' ? wanted : old, () => ({ before: {}, after: {} }))
  const before = writtenLines(old, MAX_LINES, owners.before)
  const after = writtenLines(wanted, MAX_LINES, owners.after)
  const between = apart(owners.before, () => merged(before, after))
  const isCut = before.length >= MAX_LINES && between.lines.every(([mark]) => mark === ' ')
  if (isCut) return `... the first ${MAX_LINES} lines are the same\n`
  return apart(owners.after, () => textOf(between))
}

/** The lines of both texts, with common lines once, without those far from all changes. */
interface Merged {
  readonly lines: readonly Line[]
  /** The number of common lines before `lines`. */
  readonly before: number
}

function textOf({ lines, before: leftOut }: Merged): string {
  // the number of lines of each text before a hunk
  const before = { old: leftOut, wanted: leftOut, at: 0 }
  return hunksOf(lines)
    .map((hunk) => {
      for (; before.at < hunk.from; before.at++) {
        const [mark] = lines[before.at]!
        if (mark !== '+') before.old++
        if (mark !== '-') before.wanted++
      }
      return hunkText(lines.slice(hunk.from, hunk.to), before)
    })
    .join('')
}

/** Skips the common start and end; `changes` finds the longest common subsequence of the lines between them. */
function merged(old: readonly string[], wanted: readonly string[]): Merged {
  let start = 0
  while (start < old.length && start < wanted.length && old[start] === wanted[start]) start++
  let end = 0
  while (
    end < Math.min(old.length, wanted.length) - start &&
    old[old.length - 1 - end] === wanted[wanted.length - 1 - end]
  )
    end++
  const before = Math.max(0, start - CONTEXT)
  const behind = old.length - end
  const lines = [
    ...old.slice(before, start).map((text): Line => [' ', text]),
    ...changes(old.slice(start, behind), wanted.slice(start, wanted.length - end)),
    ...old.slice(behind, behind + CONTEXT).map((text): Line => [' ', text]),
  ]
  return { lines, before }
}

/**
 * The diff has larger changes as two blocks, all old lines and all new ones: finding common lines takes quadratic time.
 */
const MAX_COMPARED = 1000
/** The most lines of each block. The error goes to the client, whose object may have megabytes. */
const MAX_SHOWN = 5000

function shown(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_SHOWN
  return more <= 0 ? lines : [...lines.slice(0, MAX_SHOWN), `... ${more} more lines`]
}

function changes(old: readonly string[], wanted: readonly string[]): Line[] {
  const gone = (text: string): Line => ['-', text]
  const added = (text: string): Line => ['+', text]
  if (old.length > MAX_COMPARED || wanted.length > MAX_COMPARED)
    return [...shown(old).map(gone), ...shown(wanted).map(added)]
  const common = commonLengths(old, wanted)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < wanted.length) {
    if (old[i] === wanted[j]) {
      lines.push([' ', old[i]!])
      i++
      j++
    } else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push(gone(old[i++]!))
    else lines.push(added(wanted[j++]!))
  }
  return [...lines, ...old.slice(i).map(gone), ...wanted.slice(j).map(added)]
}

/** `[i][j]` is the length of the longest common subsequence of `a` from line i on and `b` from line j on. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  return lengths
}

interface Hunk {
  readonly from: number
  readonly to: number
}

function hunksOf(lines: readonly Line[]): Hunk[] {
  const hunks: Hunk[] = []
  lines.forEach(([mark], index) => {
    if (mark === ' ') return
    const from = Math.max(0, index - CONTEXT)
    const to = Math.min(lines.length, index + CONTEXT + 1)
    const last = hunks.at(-1)
    if (last !== undefined && from <= last.to) hunks[hunks.length - 1] = { from: last.from, to }
    else hunks.push({ from, to })
  })
  return hunks
}

function hunkText(inside: readonly Line[], before: { readonly old: number; readonly wanted: number }): string {
  const count = (without: string) => inside.filter(([mark]) => mark !== without).length
  const ranges = `-${before.old + 1},${count('+')} +${before.wanted + 1},${count('-')}`
  return `@@ ${ranges} @@\n${inside.map(([mark, text]) => `${mark}${text}\n`).join('')}`
}
