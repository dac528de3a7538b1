/** Regular expressions of schemas: RE2, as Go reads and matches them. */
import { BoundedMap } from '../api/bounded-map.ts'
import { isTooLarge, tooLarge } from '../go/pattern-size.ts'
import type { RE2JS } from 're2js'

let reader: typeof RE2JS | undefined

/** Loads the module that compiles patterns, which only custom resources need; before the first use of any of them. */
export async function loadPatterns(): Promise<void> {
  reader ??= (await import('re2js')).RE2JS
}

const compiled = new BoundedMap<string, RE2JS | { readonly error: string }>({
  entries: 500,
  // of the patterns; a compiled pattern takes a hundred times as much
  size: 64 * 1024,
  sizeOf: ({ length }) => length,
})

/** Whether the pattern is found in the text; why it can't be read. */
export function goMatches(pattern: string, text: string): boolean | { readonly error: string } {
  const found = compile(pattern)
  if ('error' in found) return found
  if (text.length * found.programSize() > MOST_OF_SEARCH)
    return { error: 'its search in so long a text takes too long' }
  return found.matcher(text).find()
}

/**
 * Characters times instructions of a search, which cannot be stopped: the largest text, and a pattern of a few parts.
 */
const MOST_OF_SEARCH = 20_000_000

/** Go's error for a pattern; undefined for a valid one. */
export function goPatternError(pattern: string): string | undefined {
  const found = compile(pattern)
  return 'error' in found ? found.error : undefined
}

function compile(pattern: string): RE2JS | { readonly error: string } {
  let known = compiled.get(pattern)
  if (known !== undefined) return known
  if (reader === undefined) throw new Error(`assertion failed: ${pattern} is asked for before loadPatterns`)
  try {
    known = isTooLarge(pattern) ? { error: tooLarge(pattern) } : reader.compile(pattern)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    known = { error: message.startsWith('error parsing regexp') ? message : `error parsing regexp: ${message}` }
  }
  compiled.set(pattern, known)
  return known
}
