/** Regular expressions (RE2), which take time linear in the text whatever they are. */
import { RE2JS } from 're2js'
import { BoundedMap } from '../api/bounded-map.ts'
import { allMatches, MatchSearch, PatternProgram } from '../go/pattern-search.ts'
import { isTooLarge, tooLarge } from '../go/pattern-size.ts'
import { noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError } from './value.ts'
import { work, WorkExceeded } from './work.ts'

/** Patterns are compiled once for a program, see `compiledPattern`. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
  const compiled = compiledPattern(pattern)
  return compiled instanceof CelError ? compiled : isFound(compiled, text)
}

/** Units of one search, which nobody can stop: some twenty milliseconds. */
const MOST_OF_SEARCH = 2_000_000

/**
 * What it may take is paid before the text is searched: each character may meet each instruction, of which `[ab]{1000}`
 * has a thousand. Most searches do much less, but what they do depends on what the same pattern was asked before.
 */
export function isFound(pattern: PatternProgram, text: string): boolean {
  work(text.length * pattern.weight)
  return new MatchSearch(pattern, text).goOn(MOST_OF_SEARCH) ?? exceeded()
}

function exceeded(): never {
  throw new WorkExceeded()
}

/** The texts that are found, at most so many. What is gone through is paid: each may be looked for up to the text's end. */
export function textsFound(pattern: PatternProgram, text: string, most: number): string[] {
  let left = MOST_OF_SEARCH
  const spend = (units: number): void => {
    left -= units
    if (left < 0) exceeded()
    work(units)
  }
  return allMatches(pattern, text, most, spend).map(([begin, end]) => text.slice(begin, end))
}

/** Patterns that expressions used: objects may bring their own. */
const compiled = new BoundedMap<string, PatternProgram | CelError>({
  entries: 500,
  // of the patterns; what is compiled takes a hundred times as much
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
