/** From values to JSON as Go's encoder writes it. */
import type { Json, JsonObject } from './object.ts'
import { ownValue } from './own.ts'
import { mapNames, mapParts, sortedItems } from './parts.ts'
import type { Steps } from './slices.ts'
import './json-numbers.ts' // whole numbers beyond 2^53 are written as they are
import { compareNames, sortNames } from './name-order.ts'

/** Characters that are written between two steps. */
const WRITTEN = 64 * 1024

/** What JSON.stringify makes of a value, in steps: the innermost of so many levels of members are each written at once. */
export function* writingPlainJson(value: Json, levels: number): Steps<string> {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const members: string[] = []
  let length = 0
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined) continue
    const text = `${JSON.stringify(name)}:${yield* writingPlainJson(one, levels - 1)}`
    members.push(text)
    length += text.length
    if (length > WRITTEN) {
      yield
      length = 0
    }
  }
  return `{${members.join(',')}}`
}

// they can stand in strings only, so that the whole text may be searched
const escaped = /[<>&\u2028\u2029]/
const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** JSON text that is also safe in HTML and JavaScript, as Go writes it. */
export const escapeHtml = (json: string): string =>
  // own key: one character
  escaped.test(json) ? json.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character]!) : json

/** A string as a JSON string of Go. */
export const quoteJson = (text: string): string => escapeHtml(JSON.stringify(text.toWellFormed()))

/** A value as Go's encoder writes it, members in the order in which they are. */
export function stringify(value: Json): string {
  return escapeHtml(JSON.stringify(value))
}

/** The same with members in the order of their names at every level, as custom resources are written. */
export function stringifySorted(value: Json | undefined): string {
  if (typeof value === 'string') return quoteJson(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${mapParts(value, stringifySorted).join(',')}]`
  const member = (name: string) => `${quoteJson(name)}:${stringifySorted(ownValue(value, name))}`
  return `{${mapNames(value, sortedNames, member).join(',')}}`
}

const sortedNames = (object: JsonObject): string[] =>
  sortedItems(() => Object.keys(object).filter((name) => object[name] !== undefined), sortNames, compareNames)
