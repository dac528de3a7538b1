/** Regular expressions (RE2), which take time linear in the text whatever they are. */
import { RE2JS } from 're2js'
import { BoundedMap } from '../api/bounded-map.ts'
import { noSuchOverload } from './numbers.ts'
import type { Value } from './value.ts'
import { CelError } from './value.ts'

/** Patterns are compiled once for a program, see `compiledPattern`. */
export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload()
  const compiled = compiledPattern(pattern)
  return compiled instanceof CelError ? compiled : compiled.matcher(text).find()
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
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error))
  }
}
