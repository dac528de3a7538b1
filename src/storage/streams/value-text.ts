/** The JSON text of a value, and its revision: the content of `metadata.resourceVersion` at position `at`. */
import { byteLength } from '../../base/utf8.ts'
import type { Revision } from '../storage.ts'

/** Puts the revision into the empty string content at `at`. */
export const withRevision = (text: string, at: number, revision: Revision): string =>
  `${text.slice(0, at)}${revision}${text.slice(at)}`

/** Replaces the revision at `at`: deleted objects show the revision of their deletion. */
export const withOtherRevision = (text: string, at: number, from: Revision, to: Revision): string =>
  `${text.slice(0, at)}${to}${text.slice(at + String(from).length)}`

// up to the next brace outside of strings
const toBrace = /[^"{}]*(?:"[^"\\]*(?:\\.[^"\\]*)*"[^"{}]*)*[{}]/y

/** The JSON object in a text that opens at a position. */
export function objectAt(text: string, at: number): string {
  let depth = 0
  toBrace.lastIndex = at
  while (toBrace.test(text)) {
    if (text.charCodeAt(toBrace.lastIndex - 1) === 0x7b) depth++
    else if (--depth === 0) return text.slice(at, toBrace.lastIndex)
  }
  throw new Error(`assertion failed: no object at ${at} of ${text.slice(0, 200)}`)
}

/** One element of a list of members (see ListShape). */
export function memberText(text: string, shape: { before: string; head: string; tail: string }): string {
  const { before, head, tail } = shape
  if (!text.startsWith(before)) throw new Error(`assertion failed: ${text.slice(0, 200)} does not begin with ${before}`)
  return head + objectAt(text, before.length) + tail
}

/** The server makes a uid for each request, so an object with that uid was made by this request. */
export const hasUid = (text: string, uid: string): boolean =>
  uid !== '' && text.includes(`"uid":${JSON.stringify(uid)}`)

/** Without 0.5 MB for labels and keys, a row must fit the 2 MB that production allows. */
export const MAX_VALUE_BYTES = 1.5 * 1024 * 1024

/** UTF-8 is at most three bytes for a UTF-16 unit: short texts need no counting. */
export const isTooLarge = (text: string): boolean =>
  text.length > MAX_VALUE_BYTES || (text.length * 3 > MAX_VALUE_BYTES && byteLength(text) > MAX_VALUE_BYTES)
