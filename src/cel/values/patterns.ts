/** Regular expressions (RE2). The time of a search is linear in the length of the text for every pattern. */
import { RE2JS } from 're2js'
import { BoundedMap } from '../../base/bounded-map.ts'
import { PatternProgram } from '../../go/pattern-program.ts'
import { allMatches, MatchSearch } from '../../go/pattern-search.ts'
import { isTooLarge, tooLarge } from '../../go/pattern-size.ts'
import { noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError } from './value.ts'
import { work, WorkExceeded } from '../evaluation/work.ts'

/** `matches`. A pattern is compiled once, see `compiledPattern`. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
  const compiled = compiledPattern(pattern)
  return compiled instanceof CelError ? compiled : isFound(compiled, text)
}

/** The most units of one search: about twenty milliseconds. A search does not yield to other requests. */
const MOST_OF_SEARCH = 2_000_000

/**
 * Charges the most work that the search can do before it begins: at each character it may visit each instruction, and
 * `[ab]{1000}` has a thousand. Most searches do much less, but how much depends on earlier searches with the same
 * pattern.
 */
export function isFound(pattern: PatternProgram, text: string): boolean {
  work(text.length * pattern.weight)
  return new MatchSearch(pattern, text).goOn(MOST_OF_SEARCH) ?? exceeded()
}

function exceeded(): never {
  throw new WorkExceeded()
}

/**
 * The first `most` matches. The work is charged as it is done: the search for each match may reach the end of the text.
 */
export function textsFound(pattern: PatternProgram, text: string, most: number): string[] {
  let left = MOST_OF_SEARCH
  const spend = (units: number): void => {
    left -= units
    if (left < 0) exceeded()
    work(units)
  }
  return allMatches(pattern, text, most, spend).map(([begin, end]) => text.slice(begin, end))
}

/** The patterns used last. They can come from objects, so their number and size are bounded. */
const compiled = new BoundedMap<string, PatternProgram | CelError>({
  entries: 500,
  // characters of the patterns; a compiled pattern takes about a hundred times as much memory
  size: 64 * 1024,
  sizeOf: ({ length }) => length,
})

export const compiledPattern = (pattern: string): PatternProgram | CelError =>
  compiled.getOrMake(pattern, () => compile(pattern))

function compile(pattern: string): PatternProgram | CelError {
  if (isTooLarge(pattern)) return new CelError(tooLarge(pattern))
  try {
    return new PatternProgram(RE2JS.compile(pattern))
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error))
  }
}
