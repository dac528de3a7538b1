/** Regular expressions (RE2), which take time linear in the text whatever they are. */
import { RE2JS } from 're2js'
import { BoundedMap } from '../api/bounded-map.ts'
import { isTooLarge, tooLarge } from '../go/pattern-size.ts'
import { noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError } from './value.ts'
import { work } from './work.ts'

/** Patterns are compiled once for a program, see `compiledPattern`. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
  const compiled = compiledPattern(pattern)
  return compiled instanceof CelError ? compiled : isFound(compiled, text)
}

/** Characters times instructions of one search, which nobody can stop: some fifty milliseconds. */
const MOST_OF_SEARCH = 3_000_000

/** To be called before a text is searched: each character may meet each instruction, of which `[ab]{1000}` has a thousand. */
export function workOfSearch(pattern: RE2JS, text: string): void {
  const most = text.length * pattern.programSize()
  work(most > MOST_OF_SEARCH ? Infinity : most)
}

export function isFound(pattern: RE2JS, text: string): boolean {
  workOfSearch(pattern, text)
  return pattern.matcher(text).find()
}

/** Patterns that expressions used: objects may bring their own. */
const compiled = new BoundedMap<string, RE2JS | CelError>({
  entries: 500,
  // of the patterns; what is compiled takes a hundred times as much
  size: 64 * 1024,
  sizeOf: ({ length }) => length,
})

export const compiledPattern = (pattern: string): RE2JS | CelError =>
  compiled.getOrMake(pattern, () => compile(pattern))

function compile(pattern: string): RE2JS | CelError {
  if (isTooLarge(pattern)) return new CelError(tooLarge(pattern))
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error))
  }
}
