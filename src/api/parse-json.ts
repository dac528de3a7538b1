/** From text and bytes to JSON: of clients, with all that was said; and of storage, which this server wrote itself. */
import type { Json } from './object.ts'
import { PART, forAsLong, goesInParts, kept, undivided } from './parts.ts'
import type { Steps } from './slices.ts'
import { JsonSyntaxError, Scanner } from './json-scanner.ts'
import type { JsonTree } from './json.ts'
import { MAX_DEPTH, MAX_MEMBERS, plainJson } from './json.ts'
import { decodeUtf8 } from './utf8.ts'

/**
 * Parses text without losing anything that it said.
 * @throws {JsonSyntaxError}
 */
export function parseJson(text: string, maxDepth = MAX_DEPTH): JsonTree {
  return new Scanner(text, maxDepth, false).document()
}

/**
 * The same of bytes that a client sent. What is not UTF-8 in a string is U+FFFD, one a byte.
 * @throws {JsonSyntaxError} with texts that name bytes, as Go does; StatusError 413 where a map has too many members
 */
export function parseJsonBytes(bytes: Uint8Array, maxDepth = MAX_DEPTH): JsonTree {
  try {
    return new Scanner(decodeUtf8(bytes), maxDepth, false, MAX_MEMBERS).document()
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    // Latin-1 has a character a byte, and the syntax of JSON is ASCII: the same error, with the byte that was meant
    return new Scanner(latin1(bytes), maxDepth, true, MAX_MEMBERS).document()
  }
}

/** The same in steps. */
export function* parsingJsonBytes(bytes: Uint8Array, maxDepth = MAX_DEPTH): Steps<JsonTree> {
  if (!(yield)) return parseJsonBytes(bytes, maxDepth)
  try {
    return yield* scanning(new Scanner(decodeUtf8(bytes), maxDepth, false, MAX_MEMBERS))
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    yield
    return yield* scanning(new Scanner(latin1(bytes), maxDepth, true, MAX_MEMBERS))
  }
}

/**
 * The same in a walk (parts.ts).
 * @param owner of the bytes, the same each time
 */
export function parseJsonInParts(bytes: Uint8Array, owner: object, maxDepth = MAX_DEPTH): JsonTree {
  const reading = kept(owner, () => ({
    scanner: new Scanner(decodeUtf8(bytes), maxDepth, false, MAX_MEMBERS),
    isLatin1: false,
    tree: undefined as JsonTree | undefined,
  }))
  const scan = (): false | number => {
    reading.tree = reading.tree === undefined ? reading.scanner.valueWithin(VALUES) : reading.tree
    return reading.tree === undefined && VALUES
  }
  try {
    forAsLong(scan)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError) || reading.isLatin1) throw error
    reading.isLatin1 = true
    reading.scanner = new Scanner(latin1(bytes), maxDepth, true, MAX_MEMBERS)
    forAsLong(scan)
  }
  return reading.tree!
}

/** Values of a step. */
const VALUES = 4 * PART

function* scanning(scanner: Scanner): Steps<JsonTree> {
  for (;;) {
    const value = scanner.valueWithin(VALUES)
    if (value !== undefined) return value
    yield
  }
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return text
}

/** Whole numbers that JSON.parse would round, outside of strings as far as a pattern can tell. */
const bigNumber = /[:,[]\s*-?\d{16}/

/**
 * A stored object. It was written by this server, so nothing is checked, but whole numbers of 64 bits stay exact.
 */
export function parseStored(text: string): Json {
  return bigNumber.test(text) ? plainJson(parseJson(text)) : (JSON.parse(text) as Json)
}

/** Characters of a stored object that are parsed at once: V8 takes some forty milliseconds for as many names as storage takes. */
const STORED_AT_ONCE = 256 * 1024

/**
 * The same in a walk (parts.ts).
 * @param owner of the text, and of nothing else
 * @param numbers rounded: those beyond 2^53 are as JSON.parse reads them, which is much cheaper
 */
export function parseStoredInParts(text: string, owner: object, numbers: 'exact' | 'rounded' = 'exact'): Json {
  const atOnce = (): Json => (numbers === 'rounded' ? (JSON.parse(text) as Json) : parseStored(text))
  if (!goesInParts()) return atOnce()
  if (text.length <= STORED_AT_ONCE) return kept(owner, () => undivided(atOnce))
  const reading = kept(owner, () => ({
    scanner: new Scanner(text, Infinity, false, Infinity, numbers),
    value: undefined as Json | undefined,
  }))
  forAsLong(() => {
    reading.value ??= reading.scanner.valueWithin(2 * PART) as Json | undefined // without literals and repeated members
    return reading.value === undefined && 2 * PART
  })
  return reading.value!
}

/** A stored text of any length, in steps. */
export const parsingStored = (text: string): Steps<Json> =>
  scanning(new Scanner(text, Infinity, false, Infinity, 'exact')) as Steps<Json> // without literals and repeated members

/**
 * What JSON.parse makes of a text, in steps.
 * @throws JsonSyntaxError also where it is nested more deeply
 */
export function* parsingPlainJson(text: string, maxDepth = MAX_DEPTH): Steps<Json> {
  return (yield* scanning(new Scanner(text, maxDepth, false, Infinity, 'rounded'))) as Json // without literals
}
