/**
 * OpenAPI documents in the protobuf form of github.com/google/gnostic (openapi.v2 and openapi.v3), which old kubectl
 * and client-go versions ask for. The tables say under which number a member of the JSON goes out and what it is.
 */
import type { Json, JsonObject } from '../api/object.ts'
import { lazy } from '../api/lazy.ts'
import { isJsonObject } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import type { Section, SwaggerMember } from './swagger.ts'
import { swaggerFrame } from './swagger.ts'

const encoder = new TextEncoder()

/** Grows as it is written; nested messages are written apart, since their length comes first. */
class Bytes {
  private buffer = new Uint8Array(256)
  private length = 0

  private reserve(more: number): void {
    if (this.length + more <= this.buffer.length) return
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length + more))
    grown.set(this.buffer.subarray(0, this.length))
    this.buffer = grown
  }

  varint(value: number): void {
    this.reserve(10)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.buffer[this.length++] = (rest % 128) | 0x80
    this.buffer[this.length++] = rest
  }

  double(value: number): void {
    this.reserve(8)
    new DataView(this.buffer.buffer).setFloat64(this.length, value, true)
    this.length += 8
  }

  chunk(number: number, bytes: Uint8Array): void {
    this.varint(number * 8 + 2)
    this.varint(bytes.length)
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
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

  /** A message by what writes it. */
  message(number: number, write: (bytes: Bytes) => void): void {
    const nested = new Bytes()
    write(nested)
    this.chunk(number, nested.done())
  }

  done(): Uint8Array {
    return this.buffer.slice(0, this.length)
  }
}

type Write = (bytes: Bytes, number: number, value: Json) => void

const string: Write = (bytes, number, value) => {
  if (value !== '') bytes.text(number, String(value))
}
const bool: Write = (bytes, number, value) => {
  if (value === true) bytes.boolField(number, true)
}
const double: Write = (bytes, number, value) => {
  if (value !== 0) bytes.doubleField(number, Number(value))
}
const int64: Write = (bytes, number, value) => {
  if (value === 0) return
  bytes.varint(number * 8)
  bytes.varint(Number(value))
}
/** gnostic's Any holds YAML. */
const any: Write = (bytes, number, value) =>
  bytes.message(number, (one) => one.text(2, `${yamlLines(value).join('\n')}\n`))

/**
 * Blocks as Go's yaml.v3 writes them: members in their order, what is nested at the next multiple of four columns.
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

const beyondText = lazy(() => new RegExp(String.raw`\p{C}`, 'u')) // Unicode's tables, where they are needed
const plain = /^[A-Za-z_/](?:[\w./,+ -]*[\w./,+-])?$/
const spoken = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i

function yamlScalar(value: Json): string {
  if (typeof value !== 'string' || value === '') return JSON.stringify(value)
  if (plain.test(value) && !spoken.test(value)) return value
  return /["'\\\0-\x1f\x7f-\x9f]/.test(value) || beyondText().test(value) ? JSON.stringify(value) : `'${value}'`
}

/** Empty elements count too. */
const strings: Write = (bytes, number, value) => {
  for (const one of list(value)) bytes.text(number, String(one))
}
const each =
  (write: Write): Write =>
  (bytes, number, value) => {
    for (const one of list(value)) write(bytes, number, one)
  }

const list = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value])

/** Members by name; `extensions` is the number that members beginning with `x-` go under. */
interface Message {
  readonly members: Readonly<Record<string, readonly [number: number, write: Write]>>
  readonly extensions?: number
}

const message =
  (of: () => Message): Write =>
  (bytes, number, value) =>
    bytes.message(number, (nested) => writeMessage(nested, of(), value))

function writeMessage(bytes: Bytes, { members, extensions }: Message, value: Json): void {
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
const named =
  (write: Write): Write =>
  (bytes, number, value) => {
    for (const [name, one] of Object.entries(value as JsonObject))
      bytes.message(number, (entry) => {
        entry.text(1, name)
        write(entry, 2, one!)
      })
  }

/** A message with one field: `within(2, string)` is {2: string}. */
const within =
  (inner: number, write: Write): Write =>
  (bytes, number, value) =>
    bytes.message(number, (nested) => write(nested, inner, value))

/** A reference goes out as {second: {1: $ref}}, anything else as {first: …}. */
const orReference =
  (write: Write): Write =>
  (bytes, number, value) =>
    isJsonObject(value) && typeof value['$ref'] === 'string'
      ? bytes.message(number, (nested) => within(1, string)(nested, 2, value['$ref']!))
      : within(1, write)(bytes, number, value)

const info: Readonly<Record<'v2' | 'v3', Message>> = {
  v2: { members: { title: [1, string], version: [2, string] } },
  v3: { members: { title: [1, string], version: [6, string] } },
}

// v2

const schemaV2: Message = {
  members: {
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, int64],
    minLength: [12, int64],
    pattern: [13, string],
    maxItems: [14, int64],
    minItems: [15, int64],
    uniqueItems: [16, bool],
    maxProperties: [17, int64],
    minProperties: [18, int64],
    required: [19, strings],
    enum: [20, each(any)],
    additionalProperties: [21, (bytes, number, value) => allowance(message(() => schemaV2))(bytes, number, value)],
    type: [22, within(1, strings)],
    items: [
      23,
      (bytes, number, value) =>
        within(
          1,
          message(() => schemaV2),
        )(bytes, number, value),
    ],
    allOf: [24, (bytes, number, value) => each(message(() => schemaV2))(bytes, number, value)],
    properties: [25, (bytes, number, value) => within(1, named(message(() => schemaV2)))(bytes, number, value)],
    example: [30, any],
  },
  extensions: 31,
}

/** `true` and `false` stand for any value and none. */
const allowance =
  (write: Write): Write =>
  (bytes, number, value) =>
    typeof value === 'boolean' ? within(2, bool)(bytes, number, value) : within(1, write)(bytes, number, value)

const bodyParameter: Message = {
  members: {
    description: [1, string],
    name: [2, string],
    in: [3, string],
    required: [4, bool],
    schema: [5, message(() => schemaV2)],
  },
}
const queryParameter: Message = {
  members: {
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    type: [6, string],
    format: [7, string],
    uniqueItems: [20, bool],
  },
}
const pathParameter: Message = {
  members: {
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    type: [5, string],
    format: [6, string],
    uniqueItems: [19, bool],
  },
}

const parameterV2: Write = (bytes, number, value) => {
  const place = isJsonObject(value) ? value['in'] : undefined
  if (place === 'body')
    within(
      1,
      message(() => bodyParameter),
    )(bytes, number, value)
  else if (place === 'query')
    within(
      2,
      within(
        3,
        message(() => queryParameter),
      ),
    )(bytes, number, value)
  else
    within(
      2,
      within(
        4,
        message(() => pathParameter),
      ),
    )(bytes, number, value)
}

const responseV2: Message = {
  members: {
    description: [1, string],
    schema: [
      2,
      within(
        1,
        message(() => schemaV2),
      ),
    ],
  },
  extensions: 5,
}

const operationV2: Message = {
  members: {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    produces: [6, strings],
    consumes: [7, strings],
    parameters: [8, each(orReference(parameterV2))],
    responses: [9, within(1, named(orReference(message(() => responseV2))))],
    schemes: [10, strings],
  },
  extensions: 13,
}

const operationsOf = (operation: Message, numbers: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(numbers).map(([method, number]) => [method, [number, message(() => operation)] as const]),
  )

const pathItemV2: Message = {
  members: {
    ...operationsOf(operationV2, { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 }),
    parameters: [9, each(orReference(parameterV2))],
  },
  extensions: 10,
}

const apiKey: Message = { members: { type: [1, string], name: [2, string], in: [3, string], description: [4, string] } }

const documentV2: Message = {
  members: {
    swagger: [1, string],
    info: [2, message(() => info.v2)],
    paths: [8, within(2, named(message(() => pathItemV2)))],
    definitions: [9, within(1, named(message(() => schemaV2)))],
    parameters: [10, within(1, named(parameterV2))],
    security: [12, each(within(1, named(within(1, strings))))],
    securityDefinitions: [
      13,
      within(
        1,
        named(
          within(
            2,
            message(() => apiKey),
          ),
        ),
      ),
    ],
  },
}

// v3

/** One of three, zero or not; objects and lists have no place in the message, which is empty then. */
const defaultV3: Write = (bytes, number, value) =>
  bytes.message(number, (nested) => {
    if (typeof value === 'number') nested.doubleField(1, value)
    else if (typeof value === 'boolean') nested.boolField(2, value)
    else if (typeof value === 'string') nested.text(3, value)
  })

const schemaOrReference: Write = (bytes, number, value) => orReference(message(() => schemaV3))(bytes, number, value)

const schemaV3: Message = {
  members: {
    nullable: [1, bool],
    example: [7, any],
    title: [9, string],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, bool],
    minimum: [13, double],
    exclusiveMinimum: [14, bool],
    maxLength: [15, int64],
    minLength: [16, int64],
    pattern: [17, string],
    maxItems: [18, int64],
    minItems: [19, int64],
    uniqueItems: [20, bool],
    maxProperties: [21, int64],
    minProperties: [22, int64],
    required: [23, strings],
    enum: [24, each(any)],
    type: [25, string],
    allOf: [26, each(schemaOrReference)],
    oneOf: [27, each(schemaOrReference)],
    anyOf: [28, each(schemaOrReference)],
    not: [29, (bytes, number, value) => message(() => schemaV3)(bytes, number, value)],
    items: [30, within(1, schemaOrReference)],
    properties: [31, within(1, named(schemaOrReference))],
    additionalProperties: [32, allowance(schemaOrReference)],
    default: [33, defaultV3],
    description: [34, string],
    format: [35, string],
  },
  extensions: 36,
}

const mediaTypes: Write = within(1, named(message((): Message => ({ members: { schema: [1, schemaOrReference] } }))))

const parameterV3: Message = {
  members: {
    name: [1, string],
    in: [2, string],
    description: [3, string],
    required: [4, bool],
    schema: [10, schemaOrReference],
  },
}
const requestBody: Message = { members: { description: [1, string], content: [2, mediaTypes], required: [3, bool] } }
const responseV3: Message = { members: { description: [1, string], content: [3, mediaTypes] } }

const operationV3: Message = {
  members: {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    parameters: [6, each(orReference(message(() => parameterV3)))],
    requestBody: [7, orReference(message(() => requestBody))],
    responses: [8, within(2, named(orReference(message(() => responseV3))))],
  },
  extensions: 13,
}

const pathItemV3: Message = {
  members: {
    ...operationsOf(operationV3, { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10 }),
    parameters: [13, each(orReference(message(() => parameterV3)))],
  },
  extensions: 14,
}

const securityScheme: Message = {
  members: { type: [1, string], description: [2, string], name: [3, string], in: [4, string] },
}

const components: Message = {
  members: {
    schemas: [1, within(1, named(schemaOrReference))],
    securitySchemes: [7, within(1, named(orReference(message(() => securityScheme))))],
  },
}

const documentV3: Message = {
  members: {
    openapi: [1, string],
    info: [2, message(() => info.v3)],
    paths: [4, within(1, named(message(() => pathItemV3)))],
    components: [5, message(() => components)],
  },
}

const made = new WeakMap<object, Uint8Array>()

function encoded(document: { readonly text: string }, form: Message): Uint8Array {
  let bytes = made.get(document)
  if (bytes === undefined) {
    const writer = new Bytes()
    writeMessage(writer, form, JSON.parse(document.text) as Json)
    made.set(document, (bytes = writer.done()))
  }
  return bytes
}

/** Of a document of v2: the field of each section, and that of an entry in it. */
const sections: Readonly<Record<Section, readonly [field: number, entry: number, write: Write]>> = {
  paths: [8, 2, named(message(() => pathItemV2))],
  definitions: [9, 1, named(message(() => schemaV2))],
  parameters: [10, 1, named(parameterV2)],
}

function written(write: (bytes: Bytes) => void): Uint8Array {
  const bytes = new Bytes()
  write(bytes)
  return bytes.done()
}

/**
 * A document that is never whole in memory. The length of a section comes before it, so all of it is made twice.
 * @returns pieces; empty ones where others may have a turn
 */
export function* protobufPieces(members: () => Iterable<SwaggerMember>): Generator<Uint8Array, void, undefined> {
  const entryOf = ([section, name, json]: NonNullable<SwaggerMember>): Uint8Array => {
    const [, entry, write] = sections[section]
    return written((bytes) => write(bytes, entry, { [name]: JSON.parse(json) as Json }))
  }
  const lengths: Record<Section, number> = { paths: 0, definitions: 0, parameters: 0 }
  for (const member of members()) {
    if (member !== undefined) lengths[member[0]] += entryOf(member).length
    yield new Uint8Array()
  }
  const { swagger, info: about, ...rest } = swaggerFrame
  yield written((bytes) => writeMessage(bytes, documentV2, { swagger, info: about }))
  let current: Section | undefined
  for (const member of members()) {
    if (member !== undefined && member[0] !== current) {
      current = member[0]
      const section = current
      yield written((bytes) => {
        bytes.varint(sections[section][0] * 8 + 2)
        bytes.varint(lengths[section])
      })
    }
    yield member === undefined ? new Uint8Array() : entryOf(member)
  }
  yield written((bytes) => writeMessage(bytes, documentV2, rest))
}

export const protobufV2 = (document: { readonly text: string }): Uint8Array => encoded(document, documentV2)
export const protobufV3 = (document: { readonly text: string }): Uint8Array => encoded(document, documentV3)
