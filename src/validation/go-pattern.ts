/** Compiles and matches the regular expressions of schemas like Go (RE2). */
import { BoundedMap } from '../base/bounded-map.ts'
import { forAsLong, goesInParts, kept } from '../base/parts.ts'
import { PatternProgram } from '../go/pattern-program.ts'
import { MatchSearch } from '../go/pattern-search.ts'
import { isTooLarge, tooLarge } from '../go/pattern-size.ts'
import type { RE2JS } from 're2js'

let reader: typeof RE2JS | undefined

/**
 * Loads the module that compiles patterns. Callers await this before they use patterns, which only custom resources
 * have.
 */
export async function loadPatterns(): Promise<void> {
  reader ??= (await import('re2js')).RE2JS
}

const compiled = new BoundedMap<string, PatternProgram | { readonly error: string }>({
  entries: 500,
  // characters of the patterns; a compiled pattern takes a hundred times as much memory
  size: 64 * 1024,
  sizeOf: ({ length }) => length,
})

/**
 * Steps that all searches of one object may take together, about a second. Nearly any pattern takes a million steps for
 * a text of a megabyte.
 */
const MOST_OF_OBJECT = 100_000_000
/** Steps that one search may take. */
const MOST_OF_SEARCH = 20_000_000
/** Steps that a validation may take without a pause: some twenty milliseconds. */
const AT_ONCE = 2_000_000

/** The steps that the searches of one object may still take. */
class SearchBudget {
  constructor(public left: number) {}
}

/**
 * The budget of the validation in progress. Validation is synchronous, so there is only one at a time, or one within
 * another.
 */
let budget = new SearchBudget(Infinity)
let allowance = Infinity

/**
 * Runs a validation with a step budget of its own.
 * @param owner identifies the budget in a walk (base/parts.ts); no other validation may use it meanwhile
 */
export function searchingIn<T>(owner: object, run: () => T, most = MOST_OF_OBJECT): T {
  const outside = budget
  budget = kept(owner, () => new SearchBudget(most))
  try {
    return run()
  } finally {
    budget = outside
  }
}

/** Ends a validation without pauses (searchedAtOnce) whose searches take more than AT_ONCE steps. */
const DEAR = new Error('assertion failed: a validation at once was given up that nobody does in parts')

/** @returns undefined where searches take long, so that the caller must run the validation in parts (base/parts.ts) */
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
 * Searches a pattern in a text.
 * @param owner the schema with the pattern. A later run of the walk around it (base/parts.ts) continues a long search.
 * @returns an error where the pattern is invalid or the search takes too long
 */
export function goMatches(pattern: string, text: string, owner: object): boolean | { readonly error: string } {
  const program = compiledFor(pattern, owner)
  if (program === undefined) throw DEAR
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

/** Steps of a search in one part (base/parts.ts). */
const STEP = 100_000
/** This many steps take as long as one item of a part. */
const UNITS_OF_ITEM = 500

class Search {
  found: boolean | { readonly error: string } | undefined
  private readonly search: MatchSearch
  private spent = 0

  constructor(program: PatternProgram, text: string) {
    this.search = new MatchSearch(program, text)
  }

  /** @returns undefined where the search has not ended */
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

/** Go's error for a pattern; undefined for a valid one. @param owner the schema with the pattern */
export function goPatternError(pattern: string, owner: object): string | undefined {
  const found = compiledFor(pattern, owner) ?? compile(pattern)
  return 'error' in found ? found.error : undefined
}

/** Compiling this many characters takes as long as one item of a part (base/parts.ts). */
const OF_ITEM = 5
/** Compiling one character takes as long as this many steps of a search. */
const UNITS_OF_CHARACTER = 200

/**
 * Compiles a long pattern, which takes up to some fifty milliseconds, as a part of its own (base/parts.ts).
 * @returns undefined where compiling exceeds the steps of searchedAtOnce
 */
function compiledFor(pattern: string, owner: object): PatternProgram | { readonly error: string } | undefined {
  if (pattern.length < LONG || compiled.has(pattern)) return compile(pattern)
  if (goesInParts()) return kept(owner, () => compile(pattern), pattern.length / OF_ITEM)
  if (allowance !== Infinity && (allowance -= pattern.length * UNITS_OF_CHARACTER) < 0) return undefined
  return compile(pattern)
}

const LONG = 256

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
