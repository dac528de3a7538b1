/** Regular expressions (RE2), which take time linear in the text whatever they are. */
import { RE2JS } from 're2js'
import { noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError } from './value.ts'

/** Patterns are compiled once for a program, see `compiledPattern`. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
  const compiled = compiledPattern(pattern)
  return compiled instanceof CelError ? compiled : compiled.matcher(text).find()
}

/** Patterns that expressions used, the last used last. Bound: MAX_COMPILED. */
const compiled = new Map<string, RE2JS | CelError>()
const MAX_COMPILED = 500

export function compiledPattern(pattern: string): RE2JS | CelError {
  const known = compiled.get(pattern) ?? compile(pattern)
  compiled.delete(pattern)
  compiled.set(pattern, known)
  if (compiled.size > MAX_COMPILED) compiled.delete(compiled.keys().next().value!)
  return known
}

function compile(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error))
  }
}
