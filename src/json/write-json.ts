/** Writes values as JSON like Go's encoder. */
import type { Json, JsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { mapNames, mapParts, sortedItems } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import './numbers.ts' // whole numbers beyond 2^53 are written as they are
import { compareNames, sortNames } from '../base/name-order.ts'

/** The characters that one step writes. */
const WRITTEN = 64 * 1024

/**
 * JSON.stringify in steps. Members down to `levels` levels are written one by one, and everything below without a stop.
 */
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

// these characters can occur only in strings, so the whole JSON text can be searched
const escaped = /[<>&\u2028\u2029]/
const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** Escapes JSON text as Go does, so that it is safe in HTML and JavaScript. */
export const escapeHtml = (json: string): string =>
  // own key: one character
  escaped.test(json) ? json.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character]!) : json

/** A string as JSON, with Go's escapes. */
export const quoteJson = (text: string): string => escapeHtml(JSON.stringify(text.toWellFormed()))

/** A value as JSON with Go's escapes. Members keep their order. */
export function stringify(value: Json): string {
  return escapeHtml(JSON.stringify(value))
}

/** Like stringify, with members sorted by name at every level, as kube-apiserver writes custom resources. */
export function stringifySorted(value: Json | undefined): string {
  if (typeof value === 'string') return quoteJson(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${mapParts(value, stringifySorted).join(',')}]`
  const member = (name: string) => `${quoteJson(name)}:${stringifySorted(ownValue(value, name))}`
  return `{${mapNames(value, sortedNames, member).join(',')}}`
}

const sortedNames = (object: JsonObject): string[] =>
  sortedItems(() => Object.keys(object).filter((name) => object[name] !== undefined), sortNames, compareNames)
