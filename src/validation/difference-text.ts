/**
 * The difference between a value and the stored one in an error: a unified diff of the lines of both, with three lines
 * of context around each change.
 */
import type { Json } from '../api/object.ts'
import { append } from '../base/append.ts'
import { apart, kept } from '../base/parts.ts'
import type { Block } from './matching-blocks.ts'
import { matchingBlocks } from './matching-blocks.ts'
import { writtenLines } from './written-lines.ts'

const CONTEXT = 3

type Line = readonly [mark: ' ' | '-' | '+', text: string]

/** The diff compares this many lines of each text. More would exceed the memory of an isolate. */
const MAX_LINES = 150_000

/** Runs as a walk (base/parts.ts): each run needs the same `old` and `wanted`. */
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

function merged(old: readonly string[], wanted: readonly string[]): Merged {
  const blocks = matchingBlocks(old, wanted, MAX_STEPS) ?? ends(old, wanted)
  const lines: Line[] = []
  const first = blocks[0]
  const before = first?.old === 0 && first.wanted === 0 ? Math.max(0, first.length - CONTEXT) : 0
  let [oldEnd, wantedEnd] = [before, before]
  for (const { old: from, wanted: other, length } of blocks) {
    append(lines, shown(old, oldEnd, from, '-'))
    append(lines, shown(wanted, wantedEnd, other, '+'))
    oldEnd = from + length
    wantedEnd = other + length
    const isLast = oldEnd === old.length && wantedEnd === wanted.length
    const kept = old.slice(Math.max(from, before), isLast ? Math.max(from, before) + CONTEXT : oldEnd)
    append(
      lines,
      kept.map((text): Line => [' ', text]),
    )
  }
  append(lines, shown(old, oldEnd, old.length, '-'))
  append(lines, shown(wanted, wantedEnd, wanted.length, '+'))
  return { lines, before }
}

/** Finding the common blocks of texts with many equal lines takes quadratic time. */
const MAX_STEPS = 1_000_000

/** A change that takes more steps is one of all the lines between the common start and end. */
function ends(old: readonly string[], wanted: readonly string[]): readonly Block[] {
  const shorter = Math.min(old.length, wanted.length)
  let start = 0
  while (start < shorter && old[start] === wanted[start]) start++
  let end = 0
  while (end < shorter - start && old[old.length - 1 - end] === wanted[wanted.length - 1 - end]) end++
  return [
    { old: 0, wanted: 0, length: start },
    { old: old.length - end, wanted: wanted.length - end, length: end },
  ]
}

/** The most lines of one change. The error goes to the client, whose object may have megabytes. */
const MAX_SHOWN = 5000

function shown(lines: readonly string[], from: number, to: number, mark: '-' | '+'): Line[] {
  const more = to - from - MAX_SHOWN
  const first = lines.slice(from, more > 0 ? from + MAX_SHOWN : to)
  return [...first, ...(more > 0 ? [`... ${more} more lines`] : [])].map((text) => [mark, text])
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
  const ranges = `-${rangeText(before.old, count('+'))} +${rangeText(before.wanted, count('-'))}`
  return `@@ ${ranges} @@\n${inside.map(([mark, text]) => `${mark}${text}\n`).join('')}`
}

/** The first line and the number of lines, as unified diffs have it. */
const rangeText = (before: number, count: number): string =>
  count === 1 ? String(before + 1) : `${count === 0 ? before : before + 1},${count}`
