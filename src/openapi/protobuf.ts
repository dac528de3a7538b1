/**
 * OpenAPI documents in the protobuf form of github.com/google/gnostic (openapi.v2 and openapi.v3), which old kubectl
 * and client-go versions ask for.
 */
import type { Json } from '../api/object.ts'
import { parseStoredInParts } from '../json/parse-json.ts'
import { inParts } from '../base/parts.ts'
import { documentV2, parameterV2, pathItemV2, schemaV2 } from './protobuf-v2.ts'
import { documentV3 } from './protobuf-v3.ts'
import { Bytes, message, named, writeMessage } from './protobuf-writer.ts'
import type { Message, Write } from './protobuf-writer.ts'
import type { Section, SwaggerMember } from './swagger.ts'
import { swaggerFrame } from './swagger.ts'

const made = new WeakMap<object, Uint8Array>()

function encoded(document: { readonly text: string }, form: Message): Uint8Array {
  let bytes = made.get(document)
  if (bytes === undefined) {
    const writer = new Bytes()
    writeMessage(writer, form, parseStoredInParts(document.text, document, 'rounded'))
    made.set(document, (bytes = writer.done()))
  }
  return bytes
}

/** For each section of a v2 document: its field number, and the field number of an entry in it. */
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
 * Makes a document piece by piece. The length of a section precedes its content, so each entry is encoded twice.
 * @returns pieces; an empty one where other requests may have their turn
 */
export function* protobufPieces(members: () => Iterable<SwaggerMember>): Generator<Uint8Array, void, undefined> {
  function* entryOf([section, name, json]: NonNullable<SwaggerMember>): Generator<Uint8Array, Uint8Array, undefined> {
    const [, entry, write] = sections[section]
    const value = { [name]: JSON.parse(json) as Json }
    const steps = inParts(() => written((bytes) => write(bytes, entry, value)))
    for (;;) {
      const step = steps.next(true)
      if (step.done === true) return step.value
      yield new Uint8Array()
    }
  }
  const lengths: Record<Section, number> = { paths: 0, definitions: 0, parameters: 0 }
  for (const member of members()) {
    if (member !== undefined) lengths[member[0]] += (yield* entryOf(member)).length
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
    yield member === undefined ? new Uint8Array() : yield* entryOf(member)
  }
  yield written((bytes) => writeMessage(bytes, documentV2, rest))
}

/** Callers may run it in parts (base/parts.ts). */
export const protobufV2 = (document: { readonly text: string }): Uint8Array => encoded(document, documentV2)
export const protobufV3 = (document: { readonly text: string }): Uint8Array => encoded(document, documentV3)
