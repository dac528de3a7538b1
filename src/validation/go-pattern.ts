/** Regular expressions of schemas: RE2, as Go reads and matches them. */
import type { RE2JS } from 're2js'

let reader: typeof RE2JS | undefined

/** Loads what reads patterns, a module of its own that only custom resources need; before any of them is used. */
export async function loadPatterns(): Promise<void> {
  reader ??= (await import('re2js')).RE2JS
}

/** Compiled ones, the last used last. */
const compiled = new Map<string, RE2JS | { readonly error: string }>()
const MAX_COMPILED = 500

/** Whether the pattern is found in the text; why it can't be read. */
export function goMatches(pattern: string, text: string): boolean | { readonly error: string } {
  const found = compile(pattern)
  return 'error' in found ? found : found.matcher(text).find()
}

/** What Go says of a pattern that it can't read; undefined when it can. */
export function goPatternError(pattern: string): string | undefined {
  const found = compile(pattern)
  return 'error' in found ? found.error : undefined
}

function compile(pattern: string): RE2JS | { readonly error: string } {
  let known = compiled.get(pattern)
  if (known !== undefined) {
    compiled.delete(pattern)
    compiled.set(pattern, known)
    return known
  }
  if (reader === undefined) throw new Error(`assertion failed: ${pattern} is asked for before loadPatterns`)
  try {
    known = reader.compile(pattern)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    known = { error: message.startsWith('error parsing regexp') ? message : `error parsing regexp: ${message}` }
  }
  compiled.set(pattern, known)
  if (compiled.size > MAX_COMPILED) compiled.delete(compiled.keys().next().value!)
  return known
}
