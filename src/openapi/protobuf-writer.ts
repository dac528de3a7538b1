/**
 * Writes OpenAPI documents in protobuf (github.com/google/gnostic). A `Message` maps each JSON member to a field
 * number and to a `Write`, which encodes its value.
 */
import { append } from '../base/append.ts'
import { lazy } from '../base/lazy.ts'
import type { Json, JsonObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../base/own.ts'
import { kept, mapNames, mapParts } from '../base/parts.ts'

const encoder = new TextEncoder()

/** Bytes from this number on are kept where they are until the end. A document may have tens of megabytes. */
const LONG = 1024

/** The least size of a buffer. */
const SHORT = 256

/** A buffer that grows, and longer pieces between its parts. A nested message has one of its own, as its length comes first. */
export class Bytes {
  private readonly pieces: Uint8Array[] = []
  private lengthOfPieces = 0
  private buffer = new Uint8Array(SHORT)
  /** Where the part of the buffer begins that follows the pieces. */
  private begin = 0
  private end = 0

  get length(): number {
    return this.lengthOfPieces + this.end - this.begin
  }

  private reserve(more: number): void {
    if (this.end + more <= this.buffer.length) return
    const rest = this.buffer.subarray(this.begin, this.end)
    const grown = new Uint8Array(Math.max(SHORT, rest.length * 2, rest.length + more))
    grown.set(rest)
    this.buffer = grown
    this.end = rest.length
    this.begin = 0
  }

  varint(value: number): void {
    this.reserve(10)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.buffer[this.end++] = (rest % 128) | 0x80
    this.buffer[this.end++] = rest
  }

  double(value: number): void {
    this.reserve(8)
    new DataView(this.buffer.buffer).setFloat64(this.end, value, true)
    this.end += 8
  }

  chunk(number: number, bytes: Uint8Array): void {
    this.varint(number * 8 + 2)
    this.varint(bytes.length)
    this.put(bytes)
  }

  put(bytes: Uint8Array): void {
    if (bytes.length >= LONG) return this.keep(bytes)
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.end)
    this.end += bytes.length
  }

  private keep(piece: Uint8Array): void {
    this.keepBuffer()
    this.pieces.push(piece)
    this.lengthOfPieces += piece.length
  }

  private keepBuffer(): void {
    if (this.end === this.begin) return
    this.pieces.push(this.buffer.subarray(this.begin, this.end))
    this.lengthOfPieces += this.end - this.begin
    this.begin = this.end
  }

  /** Appends what another has. It is not written to afterwards. */
  private append(other: Bytes): void {
    if (other.pieces.length > 0) {
      this.keepBuffer()
      append(this.pieces, other.pieces)
      this.lengthOfPieces += other.lengthOfPieces
    }
    this.put(other.buffer.subarray(other.begin, other.end))
  }

  doubleField(number: number, value: number): void {
    this.varint(number * 8 + 1)
    this.double(value)
  }

  boolField(number: number, value: boolean): void {
    this.varint(number * 8)
    this.varint(value ? 1 : 0)
  }

  text(number: number, text: string): void {
    this.chunk(number, encoder.encode(text))
  }

  /** Writes a nested message; `write` writes its fields. */
  message(number: number, write: (bytes: Bytes) => void): void {
    const nested = new Bytes()
    write(nested)
    this.varint(number * 8 + 2)
    this.varint(nested.length)
    this.append(nested)
  }

  done(): Uint8Array {
    if (this.pieces.length === 0) return this.buffer.slice(this.begin, this.end)
    this.keepBuffer()
    const all = new Uint8Array(this.lengthOfPieces)
    let at = 0
    for (const piece of this.pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }
}

export type Write = (bytes: Bytes, number: number, value: Json) => void

export const string: Write = (bytes, number, value) => {
  if (value !== '') bytes.text(number, String(value))
}
export const bool: Write = (bytes, number, value) => {
  if (value === true) bytes.boolField(number, true)
}
export const double: Write = (bytes, number, value) => {
  if (value !== 0) bytes.doubleField(number, Number(value))
}
export const int64: Write = (bytes, number, value) => {
  if (value === 0) return
  bytes.varint(number * 8)
  bytes.varint(Number(value))
}
/** gnostic's Any holds YAML. */
export const any: Write = (bytes, number, value) =>
  bytes.message(number, (one) => one.text(2, `${yamlLines(value).join('\n')}\n`))

/**
 * Blocks as Go's yaml.v3 writes them: members in their order, nested blocks at the next multiple of four columns.
 * @param column where the block begins
 */
function yamlLines(value: Json, column = 0): string[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((one) => yamlLines(one, column + 2).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`))
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [yamlScalar(value)]
  return Object.entries(value).flatMap(([name, one]) => {
    if (one === undefined) return []
    const nested = typeof one === 'object' && one !== null && Object.keys(one).length > 0
    if (!nested) return [`${name}: ${yamlScalar(one)}`]
    const inner = (Math.floor(column / 4) + 1) * 4
    return [`${name}:`, ...yamlLines(one, inner).map((line) => `${' '.repeat(inner - column)}${line}`)]
  })
}

const beyondText = lazy(() => new RegExp(String.raw`\p{C}`, 'u')) // built on first use, because it needs tables of Unicode
const plain = /^[A-Za-z_/](?:[\w./,+ -]*[\w./,+-])?$/
const spoken = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i

function yamlScalar(value: Json): string {
  if (typeof value !== 'string' || value === '') return JSON.stringify(value)
  if (plain.test(value) && !spoken.test(value)) return value
  return /["'\\\0-\x1f\x7f-\x9f]/.test(value) || beyondText().test(value) ? JSON.stringify(value) : `'${value}'`
}

/** Strings of a list that are written anew in each run of a walk in parts. */
const FEW = 64

/** Writes empty strings too. */
export const strings: Write = (bytes, number, value) => {
  const texts = list(value)
  const write = (into: Bytes): void => {
    for (const one of texts) into.text(number, String(one))
  }
  if (texts.length < FEW) write(bytes)
  else bytes.put(kept(texts, () => writtenBy(write), texts.length))
}
export const each =
  (write: Write): Write =>
  (bytes, number, value) => {
    for (const written of mapParts(list(value), (one) => writtenBy((own) => write(own, number, one)), WEIGHT))
      bytes.put(written)
  }

/** The weight of a message in `PART`. */
const WEIGHT = 8

/** The bytes of one item, in a buffer of its own: a walk in parts runs again from the start (base/parts.ts). */
function writtenBy(write: (bytes: Bytes) => void): Uint8Array {
  const bytes = new Bytes()
  write(bytes)
  return bytes.done()
}

const list = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value])

/** Members by name. `extensions` is the field number of members that begin with `x-`. */
export interface Message {
  readonly members: Readonly<Record<string, readonly [number: number, write: Write]>>
  readonly extensions?: number
}

export const message =
  (of: () => Message): Write =>
  (bytes, number, value) =>
    bytes.message(number, (nested) => writeMessage(nested, of(), value))

export function writeMessage(bytes: Bytes, { members, extensions }: Message, value: Json): void {
  if (!isJsonObject(value)) return
  const known = Object.entries(members)
    .filter(([name]) => ownValue(value, name) !== undefined)
    .sort(([, [a]], [, [b]]) => a - b)
  for (const [name, [number, write]] of known) write(bytes, number, ownValue(value, name)!)
  if (extensions === undefined) return
  for (const [name, extension] of Object.entries(value))
    if (name.startsWith('x-') && extension !== undefined) named(any)(bytes, extensions, { [name]: extension })
}

/** An object as a repeated {name = 1, value = 2}. */
export const named =
  (write: Write): Write =>
  (bytes, number, value) => {
    const object = value as JsonObject
    const entryOf = (name: string): Uint8Array =>
      writtenBy((entry) => {
        entry.text(1, name)
        write(entry, 2, ownValue(object, name)!)
      })
    for (const entry of mapNames(object, Object.keys, entryOf, WEIGHT)) bytes.chunk(number, entry)
  }

/** A message with one field: `within(2, string)` is {2: string}. */
export const within =
  (inner: number, write: Write): Write =>
  (bytes, number, value) =>
    bytes.message(number, (nested) => write(nested, inner, value))

/** A reference goes out as {second: {1: $ref}}, anything else as {first: …}. */
export const orReference =
  (write: Write): Write =>
  (bytes, number, value) =>
    isJsonObject(value) && typeof value['$ref'] === 'string'
      ? bytes.message(number, (nested) => within(1, string)(nested, 2, value['$ref']!))
      : within(1, write)(bytes, number, value)

/** `true` stands for any value, `false` for none. */
export const allowance =
  (write: Write): Write =>
  (bytes, number, value) =>
    typeof value === 'boolean' ? within(2, bool)(bytes, number, value) : within(1, write)(bytes, number, value)

export const operationsOf = (operation: Message, numbers: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(numbers).map(([method, number]) => [method, [number, message(() => operation)] as const]),
  )
