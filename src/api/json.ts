/**
 * JSON as kube-apiserver reads and writes it (sigs.k8s.io/json, encoding/json): whole numbers of 64 bits are exact,
 * repeated members are kept until somebody reports them, nesting is bounded, and errors read as Go's do.
 */
import type { Json, JsonObject } from './object.ts'
import { ownValue, setOwn } from './own.ts'
import { PART, eachName, eachPart, forAsLong, goesInParts, kept, mapNames, mapParts, sortedItems } from './parts.ts'
import type { Steps } from './slices.ts'
import { requestEntityTooLarge } from './status.ts'
import { goQuoteByte } from '../go/quote.ts'

declare global {
  interface JSON {
    /** A value that JSON.stringify writes as this text. */
    rawJSON(text: string): unknown
  }
  interface BigInt {
    toJSON(): unknown
  }
}

/** From here on JSON.stringify writes a bigint as the whole number it is. */
BigInt.prototype.toJSON = function () {
  return JSON.rawJSON(String(this))
}

/** Nesting that kube-apiserver refuses. */
export const MAX_DEPTH = 10_000

/**
 * Nesting of what is kept without a type that bounds it: custom resources, raw extensions, patches, schemas. Whatever
 * walks an object later walks it on the stack, which holds this many levels of the most expensive walk several times.
 */
export const MAX_NESTING = 500

/**
 * Members that one map of a body may have: V8 takes milliseconds for whatever goes over the names of a larger one. With
 * their owners they would have 31 bytes each in an object as large as storage takes.
 */
export const MAX_MEMBERS = 50_000

/** @throws StatusError 413 */
export function checkMembers(count: number): void {
  if (count > MAX_MEMBERS) throw requestEntityTooLarge(`a map may have ${MAX_MEMBERS} members`)
}

/** A value that nests deeper than MAX_NESTING. */
export class NestingError extends Error {
  override readonly name = 'NestingError'

  constructor() {
    super('exceeded max depth')
  }
}

/** A number whose text JavaScript would not give back: `3.0`, `1e2`, `12345678901234567890`. */
export class NumberLiteral {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

/** An object with a member more than once: all of them, in the order of the text. */
export class RepeatedMembers {
  constructor(readonly entries: [name: string, value: JsonTree][]) {}
}

/** Parsed JSON with all that its text said. Any `Json` value is one. */
export type JsonTree =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberLiteral
  | RepeatedMembers
  | JsonTree[]
  | { [name: string]: JsonTree | undefined }

/** Text that is not JSON; `message` is encoding/json's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'

  constructor(
    message: string,
    /** Position of the offending UTF-16 unit. */
    readonly at: number,
  ) {
    super(message)
  }
}

const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** A whole number in the form that objects have in memory; undefined beyond 64 bits. */
export function wholeNumber(text: string): number | bigint | undefined {
  if (text.length < 16) return Number(text) + 0 // no negative zero: Go has none either
  const big = BigInt(text)
  if (big > INT64_MAX || big < INT64_MIN) return undefined
  const small = Number(big)
  return Number.isSafeInteger(small) ? small : big
}

function numberOf(text: string): number | bigint | NumberLiteral {
  if (!/[.eE]/.test(text)) return wholeNumber(text) ?? new NumberLiteral(text)
  const value = Number(text)
  return String(value) === text ? value : new NumberLiteral(text)
}

const plainNumber = (text: string): number | bigint =>
  (/[.eE]/.test(text) ? undefined : wholeNumber(text)) ?? Number(text)

type Container = { [name: string]: JsonTree | undefined } | RepeatedMembers | JsonTree[]

function addMember(container: Container, name: string, value: JsonTree): Container {
  if (container instanceof RepeatedMembers) container.entries.push([name, value])
  else {
    const object = container as { [name: string]: JsonTree | undefined } // a list has no names
    if (ownValue(object, name) !== undefined)
      return new RepeatedMembers([...(Object.entries(object) as [string, JsonTree][]), [name, value]])
    setOwn(object, name, value)
  }
  return container
}

const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const COLON = 0x3a
const QUOTE = 0x22
const BACKSLASH = 0x5c

class Scanner {
  private at = 0
  private readonly containers: Container[] = []
  /** Of the member each open container, or the value at hand, belongs to. */
  private readonly names: string[] = []
  /** Of each open container. */
  private readonly members: number[] = []
  private readonly number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  private readonly plain = /[^"\\\u0000-\u001f]*/y

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    /** The text is bytes, one a character. */
    private readonly isLatin1: boolean,
    /** Of one map; what is no client's may have any number. */
    private readonly maxMembers = Infinity,
    /** This server wrote the text: no member is repeated, and numbers are what they are in memory. */
    private readonly stored?: 'exact' | 'rounded',
  ) {}

  document(): JsonTree {
    return this.valueWithin(Infinity)!
  }

  /**
   * Iterative: 10,000 levels would be too deep for the stack.
   * @returns undefined where more values are to come than that; the next call goes on
   */
  valueWithin(values: number): JsonTree | undefined {
    const { containers, names, members } = this
    for (let left = values; left > 0; left--) {
      this.skipSpace()
      const code = this.text.charCodeAt(this.at)
      let value: JsonTree
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (containers.length >= this.maxDepth) throw this.unexpected('exceeded max depth')
        this.at++
        const opened: Container = code === OPEN_BRACE ? {} : []
        this.skipSpace()
        if (this.text.charCodeAt(this.at) === (code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) {
          this.at++
          value = opened
        } else {
          containers.push(opened)
          members.push(0)
          names.push(code === OPEN_BRACE ? this.memberName() : '')
          continue
        }
      } else value = this.scalar(code)

      for (;;) {
        const depth = containers.length - 1
        if (depth < 0) {
          this.skipSpace()
          if (this.at < this.text.length) throw this.unexpected('after top-level value')
          return value
        }
        const container = containers[depth]!
        const isList = Array.isArray(container)
        if (isList) container.push(value)
        else {
          if (++members[depth]! > this.maxMembers) checkMembers(Infinity)
          if (this.stored !== undefined) setOwn(container as JsonObject, names[depth]!, value as Json)
          else containers[depth] = addMember(container, names[depth]!, value)
        }
        this.skipSpace()
        const next = this.text.charCodeAt(this.at)
        if (next === COMMA) {
          this.at++
          if (!isList) {
            this.skipSpace()
            names[depth] = this.memberName()
          }
          break
        }
        if (next !== (isList ? CLOSE_BRACKET : CLOSE_BRACE))
          throw this.unexpected(isList ? 'after array element' : 'after object key:value pair')
        this.at++
        value = containers.pop()!
        names.pop()
        members.pop()
      }
    }
    return undefined
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.at++
    }
  }

  /** A name and its colon. */
  private memberName(): string {
    if (this.text.charCodeAt(this.at) !== QUOTE) throw this.unexpected('looking for beginning of object key string')
    const name = this.string()
    this.skipSpace()
    if (this.text.charCodeAt(this.at) !== COLON) throw this.unexpected('after object key')
    this.at++
    return name
  }

  private scalar(code: number): JsonTree {
    switch (code) {
      case QUOTE:
        return this.string()
      case 0x74: // t
        return this.word('true', true)
      case 0x66: // f
        return this.word('false', false)
      case 0x6e: // n
        return this.word('null', null)
    }
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.numeric()
    throw this.unexpected('looking for beginning of value')
  }

  private word<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++)
      if (this.text.charCodeAt(this.at + i) !== word.charCodeAt(i)) {
        this.at += i
        throw this.unexpected(`in literal ${word} (expecting '${word[i]}')`)
      }
    this.at += word.length
    return value
  }

  private numeric(): number | bigint | NumberLiteral {
    this.number.lastIndex = this.at
    const text = this.number.exec(this.text)?.[0]
    if (text === undefined) {
      this.at++
      throw this.unexpected('in numeric literal')
    }
    this.at += text.length
    const code = this.text.charCodeAt(this.at)
    if (code === 0x2e && !/[.eE]/.test(text)) {
      this.at++
      throw this.unexpected('after decimal point in numeric literal')
    }
    if ((code === 0x65 || code === 0x45) && !/[eE]/.test(text)) {
      this.at++
      const sign = this.text.charCodeAt(this.at)
      if (sign === 0x2b || sign === 0x2d) this.at++
      throw this.unexpected('in exponent of numeric literal')
    }
    return this.stored === undefined ? numberOf(text) : this.stored === 'rounded' ? Number(text) : plainNumber(text)
  }

  private string(): string {
    this.at++
    let start = this.at
    let read = ''
    for (;;) {
      this.plain.lastIndex = this.at
      this.plain.test(this.text)
      this.at = this.plain.lastIndex
      const code = this.text.charCodeAt(this.at)
      if (code === QUOTE) {
        const text = read + this.text.slice(start, this.at)
        this.at++
        return read === '' ? text : text.toWellFormed()
      }
      if (code !== BACKSLASH) throw this.unexpected('in string literal')
      read += this.text.slice(start, this.at) + this.escape()
      start = this.at
    }
  }

  private escape(): string {
    this.at++
    const code = this.text[this.at]
    this.at++
    switch (code) {
      case '"':
      case '\\':
      case '/':
        return code
      case 'b':
        return '\b'
      case 'f':
        return '\f'
      case 'n':
        return '\n'
      case 'r':
        return '\r'
      case 't':
        return '\t'
      case 'u': {
        const end = this.at + 4
        for (; this.at < end; this.at++)
          if (!/[0-9a-fA-F]/.test(this.text[this.at] ?? ''))
            throw this.unexpected('in \\u hexadecimal character escape')
        return String.fromCharCode(parseInt(this.text.slice(end - 4, end), 16))
      }
    }
    this.at--
    throw this.unexpected('in string escape code')
  }

  private unexpected(context: string): JsonSyntaxError {
    if (this.at >= this.text.length) return new JsonSyntaxError('unexpected end of JSON input', this.at)
    const code = this.text.codePointAt(this.at)!
    const byte = this.isLatin1 ? code : new TextEncoder().encode(String.fromCodePoint(code))[0]!
    return new JsonSyntaxError(`invalid character ${goQuoteByte(byte)} ${context}`, this.at)
  }
}

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

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const looseUtf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** UTF-8 as Go reads it: each byte that belongs to no character is one U+FFFD. A byte order mark is a character. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return decodeBroken(bytes)
  }
}

function decodeBroken(bytes: Uint8Array): string {
  let text = ''
  let start = 0
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at)
    if (length === 0) {
      text += looseUtf8.decode(bytes.subarray(start, at)) + '\ufffd'
      start = ++at
    } else at += length
  }
  return text + looseUtf8.decode(bytes.subarray(start))
}

/** Bytes of the character at a position; 0 when there is none. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.length) return 0
  const second = bytes[at + 1]!
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80 // no overlong forms
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf // no surrogates, nothing above U+10FFFF
  if (second < low || second > high) return 0
  for (let i = 2; i < length; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  return length
}

/**
 * The value of a tree that no schema describes: the last of repeated members counts, numbers are numbers. Changes the
 * tree in place. Iterative, level by level, for it may be 10,000 levels deep.
 * @throws {NestingError} where it is deeper than the limit
 */
export function plainJson(tree: JsonTree, maxDepth = Infinity): Json {
  if (typeof tree !== 'object' || tree === null) return tree
  const walk = kept(tree, () => {
    const root = plainNode(tree)
    return { root, level: isContainer(root) ? [root] : [], depth: 1, below: [] as JsonTree[] }
  })
  while (walk.level.length > 0) {
    if (walk.depth > maxDepth) throw new NestingError()
    const { below } = walk
    const plainPart = (value: JsonTree, replace: (plain: JsonTree) => void): void => {
      if (typeof value !== 'object' || value === null) return
      const plain = plainNode(value)
      if (plain !== value) replace(plain)
      if (isContainer(plain)) below.push(plain)
    }
    eachPart(walk.level, (node) => {
      if (Array.isArray(node)) eachPart(node, (value, at) => plainPart(value, (plain) => (node[at] = plain)))
      else {
        const members = node as { [name: string]: JsonTree } // nothing else has parts
        eachName(members, Object.keys, (name) => plainPart(members[name]!, (plain) => setOwn(members, name, plain)))
      }
    })
    walk.level = below
    walk.below = []
    walk.depth++
  }
  return walk.root as Json // nothing else is left in it
}

/** Whether there are more levels than that. Iterative. */
export function nestsDeeper(tree: JsonTree, maxDepth: number): boolean {
  let level: JsonTree[] = [tree]
  for (let depth = 0; level.length > 0; depth++) {
    const below: JsonTree[] = []
    for (const node of level) {
      if (typeof node !== 'object' || node === null || node instanceof NumberLiteral) continue
      if (depth >= maxDepth) return true
      if (node instanceof RepeatedMembers) for (const [, value] of node.entries) below.push(value)
      else for (const value of Object.values(node)) if (isContainer(value ?? null)) below.push(value ?? null)
    }
    level = below
  }
  return false
}

const isContainer = (node: JsonTree): boolean => typeof node === 'object' && node !== null

function plainNode(node: JsonTree): JsonTree {
  if (node instanceof NumberLiteral) return Number(node.text)
  if (!(node instanceof RepeatedMembers)) return node
  const object: { [name: string]: JsonTree } = {}
  for (const [name, value] of node.entries) setOwn(object, name, value)
  return object
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
  if (!goesInParts() || text.length <= STORED_AT_ONCE)
    return numbers === 'rounded' ? (JSON.parse(text) as Json) : parseStored(text)
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

/**
 * What JSON.parse makes of a text, in steps.
 * @throws JsonSyntaxError also where it is nested more deeply
 */
export function* parsingPlainJson(text: string, maxDepth = MAX_DEPTH): Steps<Json> {
  return (yield* scanning(new Scanner(text, maxDepth, false, Infinity, 'rounded'))) as Json // without literals
}

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

const surrogate = /[\ud800-\udfff]/

/** Sorts in place by the bytes of UTF-8, as Go sorts strings. UTF-16 differs only where there are surrogates. */
export function sortNames(names: string[]): string[] {
  return names.some((name) => surrogate.test(name)) ? names.sort(compareNames) : names.sort()
}

/** An object's own names, sorted like that; of many in parts (parts.ts). */
export const sortedKeys = (object: object): string[] => sortedItems(() => Object.keys(object), sortNames, compareNames)

/** Texts sorted like that, the items of a loop; of many in parts. */
export const sortedTexts = (texts: string[]): string[] => sortedItems(() => texts, sortNames, compareNames)

/** Order by UTF-8 bytes, which is that of code points. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above all that one unit can say. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
