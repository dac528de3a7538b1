/**
 * The common blocks of two texts, as kube-apiserver's differences have them (Ratcliff and Obershelp, in go-difflib): the
 * longest block first, then the longest ones before and behind it, and so on. This is not the longest common
 * subsequence, so other lines count as changed.
 */
import { addTo } from '../base/lookup.ts'

export interface Block {
  readonly old: number
  readonly wanted: number
  readonly length: number
}

/** Half-open ranges of lines in both texts. */
interface Range {
  readonly old: readonly [from: number, to: number]
  readonly wanted: readonly [from: number, to: number]
}

/** From this many lines on, those that come often begin no block. They only extend one. */
const MANY_LINES = 200

/** @returns the blocks in order; undefined where finding them takes more steps */
export function matchingBlocks(
  old: readonly string[],
  wanted: readonly string[],
  steps: number,
): readonly Block[] | undefined {
  const places = placesOf(wanted)
  const left = { steps }
  const blocks: Block[] = []
  const ranges: Range[] = [{ old: [0, old.length], wanted: [0, wanted.length] }]
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const seed = longestSeed(old, places, range, left)
    if (left.steps < 0) return undefined
    const block = extended(old, wanted, range, seed)
    if (block.length === 0) continue
    blocks.push(block)
    const [oldEnd, wantedEnd] = [block.old + block.length, block.wanted + block.length]
    ranges.push({ old: [range.old[0], block.old], wanted: [range.wanted[0], block.wanted] })
    ranges.push({ old: [oldEnd, range.old[1]], wanted: [wantedEnd, range.wanted[1]] })
  }
  return blocks.sort((a, b) => a.old - b.old)
}

/** Where the text has each line, in order, without the lines that come often. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  lines.forEach((line, at) => addTo(places, line, at))
  if (lines.length < MANY_LINES) return places
  const often = Math.floor(lines.length / 100) + 1
  for (const [line, at] of places) if (at.length > often) places.delete(line)
  return places
}

/** The longest block of lines that have places; of several the first in the old text, then in the new one. */
function longestSeed(
  old: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  { old: [from, to], wanted: [first, end] }: Range,
  left: { steps: number },
): Block {
  let best: Block = { old: from, wanted: first, length: 0 }
  if (first === end) return best
  // the length of the block that ends with the line before, by its last line in the new text
  let lengths = new Map<number, number>()
  for (let at = from; at < to && left.steps >= 0; at++) {
    const longer = new Map<number, number>()
    const found = places.get(old[at]!) ?? []
    left.steps -= 1 + found.length
    for (const place of found) {
      if (place < first) continue
      if (place >= end) break
      const length = (lengths.get(place - 1) ?? 0) + 1
      longer.set(place, length)
      if (length > best.length) best = { old: at - length + 1, wanted: place - length + 1, length }
    }
    lengths = longer
  }
  return best
}

/** The block with the equal lines before and behind it, whether they come often or not. */
function extended(old: readonly string[], wanted: readonly string[], range: Range, seed: Block): Block {
  let [start, other] = [seed.old, seed.wanted]
  while (start > range.old[0] && other > range.wanted[0] && old[start - 1] === wanted[other - 1]) {
    start--
    other--
  }
  let end = seed.old + seed.length
  const shift = other - start
  while (end < range.old[1] && end + shift < range.wanted[1] && old[end] === wanted[end + shift]) end++
  return { old: start, wanted: other, length: end - start }
}
