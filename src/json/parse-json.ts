/** Parses JSON of clients, without losing anything of the text, and stored JSON, which this server has written. */
import type { Json } from '../api/object.ts'
import { PART, forAsLong, goesInParts, kept, undivided } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { JsonSyntaxError, Scanner } from './scanner.ts'
import type { JsonTree } from './json.ts'
import { MAX_DEPTH, MAX_MEMBERS, plainJson } from './json.ts'
import { decodeUtf8 } from '../base/utf8.ts'

/**
 * Parses text without losing anything of it.
 * @throws {JsonSyntaxError}
 */
export function parseJson(text: string, maxDepth = MAX_DEPTH): JsonTree {
  return new Scanner(text, maxDepth, false).document()
}

/** Like parseJson, in steps. */
export function* parsingJson(text: string): Steps<JsonTree> {
  return (yield) ? yield* scanning(new Scanner(text, MAX_DEPTH, false)) : parseJson(text)
}

/**
 * Like parseJson, for bytes that a client sent. Each byte of a string that is not valid UTF-8 becomes U+FFFD.
 * @throws {JsonSyntaxError} with messages that name bytes, as in Go; StatusError 413 if a map has too many members
 */
export function parseJsonBytes(bytes: Uint8Array, maxDepth = MAX_DEPTH): JsonTree {
  try {
    return new Scanner(decodeUtf8(bytes), maxDepth, false, MAX_MEMBERS).document()
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    // In Latin-1 each byte is one character, and JSON's syntax is ASCII. So the second pass finds the same error and
    // its byte.
    return new Scanner(latin1(bytes), maxDepth, true, MAX_MEMBERS).document()
  }
}

/** Like parseJsonBytes, in steps. */
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
 * Like parseJsonBytes, for a walk in parts (parts.ts).
 * @param owner the owner of the bytes, the same in each run
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

/** The values that one step reads. */
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

/** Finds whole numbers that JSON.parse might round. It can also match inside of a string. */
const bigNumber = /[:,[]\s*-?\d{16}/

/** Parses a stored object without checks, because this server has written it. Whole numbers of 64 bits stay exact. */
export function parseStored(text: string): Json {
  return bigNumber.test(text) ? plainJson(parseJson(text)) : (JSON.parse(text) as Json)
}

/**
 * Stored objects up to this many characters are parsed in one step. JSON.parse takes about forty milliseconds for as
 * many names as the largest stored object can have.
 */
const STORED_AT_ONCE = 256 * 1024

/**
 * Like parseStored, for a walk in parts (parts.ts).
 * @param owner the owner of the text, and of nothing else
 * @param numbers rounded: JSON.parse rounds numbers beyond 2^53, which is much cheaper
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
    // a stored text has no number literals and no repeated members
    reading.value ??= reading.scanner.valueWithin(2 * PART) as Json | undefined
    return reading.value === undefined && 2 * PART
  })
  return reading.value!
}

/** Parses a stored text of any length, in steps. */
export const parsingStored = (text: string): Steps<Json> =>
  scanning(new Scanner(text, Infinity, false, Infinity, 'exact')) as Steps<Json> // no literals or repeated members

/**
 * Parses a text like JSON.parse, in steps.
 * @throws JsonSyntaxError, also if the text nests deeper than `maxDepth`
 */
export function* parsingPlainJson(text: string, maxDepth = MAX_DEPTH): Steps<Json> {
  return (yield* scanning(new Scanner(text, maxDepth, false, Infinity, 'rounded'))) as Json // no literals
}
