/** Regular expressions of schemas: RE2, as Go reads and matches them. */
import { BoundedMap } from '../api/bounded-map.ts'
import { forAsLong, goesInParts, kept } from '../api/parts.ts'
import { MatchSearch, PatternProgram } from '../go/pattern-search.ts'
import { isTooLarge, tooLarge } from '../go/pattern-size.ts'
import type { RE2JS } from 're2js'

let reader: typeof RE2JS | undefined

/** Loads the module that compiles patterns, which only custom resources need; before the first use of any of them. */
export async function loadPatterns(): Promise<void> {
  reader ??= (await import('re2js')).RE2JS
}

const compiled = new BoundedMap<string, PatternProgram | { readonly error: string }>({
  entries: 500,
  // of the patterns; a compiled pattern takes a hundred times as much
  size: 64 * 1024,
  sizeOf: ({ length }) => length,
})

/** Units of all searches of one object, about a second. A text of a megabyte takes a million, by nearly any pattern. */
const MOST_OF_OBJECT = 100_000_000
/** Units of one search. */
const MOST_OF_SEARCH = 20_000_000
/** Units that are searched at once: some twenty milliseconds. */
const AT_ONCE = 2_000_000

/** Units that the searches of one object may still take. */
class SearchBudget {
  constructor(public left: number) {}
}

/** Of the validation that is under way: it is synchronous, so that there is one at a time, or one within another. */
let budget = new SearchBudget(Infinity)
let allowance = Infinity

/** @param owner of the object, and of nothing else that is searched meanwhile */
export function searchingIn<T>(owner: object, run: () => T, most = MOST_OF_OBJECT): T {
  const outside = budget
  budget = kept(owner, () => new SearchBudget(most))
  try {
    return run()
  } finally {
    budget = outside
  }
}

/** Thrown out of a validation at once whose searches take long. */
const DEAR = new Error('assertion failed: a validation at once was given up that nobody does in parts')

/** Undefined where searches take long: it is to be done in parts. */
export function searchedAtOnce<T>(run: () => T): T | undefined {
  const outside = allowance
  allowance = AT_ONCE
  try {
    return run()
  } catch (error) {
    if (error !== DEAR) throw error
    return undefined
  } finally {
    allowance = outside
  }
}

/**
 * Whether the pattern is found in the text; why it can't be read.
 * @param owner has the pattern: a search that takes long goes on where it was, where the walk around it goes in parts
 */
export function goMatches(pattern: string, text: string, owner: object): boolean | { readonly error: string } {
  const program = compile(pattern)
  if ('error' in program) return program
  const found =
    goesInParts() && text.length * program.weight > STEP
      ? foundInParts(new Search(program, text), owner)
      : new Search(program, text).goOn(Math.min(allowance, MOST_OF_SEARCH))
  if (found === undefined) throw DEAR
  return found
}

function foundInParts(begun: Search, owner: object): boolean | { readonly error: string } {
  const search = kept(owner, () => begun)
  forAsLong(() => search.goOn(STEP) === undefined && STEP / UNITS_OF_ITEM)
  return search.found!
}

/** Units of a step, and units that take as long as an item of a part (api/parts.ts). */
const STEP = 100_000
const UNITS_OF_ITEM = 500

class Search {
  found: boolean | { readonly error: string } | undefined
  private readonly search: MatchSearch
  private spent = 0

  constructor(program: PatternProgram, text: string) {
    this.search = new MatchSearch(program, text)
  }

  /** Undefined: it has not ended. */
  goOn(units: number): boolean | { readonly error: string } | undefined {
    if (budget.left < 0) this.found ??= TOO_LONG
    if (this.found !== undefined) return this.found
    const before = this.search.spent
    this.found = this.search.goOn(units)
    const more = this.search.spent - before
    this.spent += more
    budget.left -= more
    allowance -= more
    if (this.found === undefined && (this.spent >= MOST_OF_SEARCH || budget.left < 0)) this.found = TOO_LONG
    return this.found
  }
}

const TOO_LONG = { error: 'its search in so long a text takes too long' }

/** Go's error for a pattern; undefined for a valid one. */
export function goPatternError(pattern: string): string | undefined {
  const found = compile(pattern)
  return 'error' in found ? found.error : undefined
}

function compile(pattern: string): PatternProgram | { readonly error: string } {
  let known = compiled.get(pattern)
  if (known !== undefined) return known
  if (reader === undefined) throw new Error(`assertion failed: ${pattern} is asked for before loadPatterns`)
  try {
    known = isTooLarge(pattern) ? { error: tooLarge(pattern) } : new PatternProgram(reader.compile(pattern))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    known = { error: message.startsWith('error parsing regexp') ? message : `error parsing regexp: ${message}` }
  }
  compiled.set(pattern, known)
  return known
}
