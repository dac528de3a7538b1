/** Makes bodies in the negotiated serialization: JSON and YAML from JSON text, protobuf and CBOR from objects. */
import type { JsonObject } from '../../api/object.ts'
import { apart, kept } from '../../base/parts.ts'
import type { StructType } from '../../schema/structural.ts'
import { encodeCbor, encodeCborValue } from '../cbor/encode.ts'
import type { EncodeOptions } from './encode.ts'
import { encodeJson } from './encode.ts'
import { indented } from './indent.ts'
import { parseStored } from '../../json/parse-json.ts'
import type { OutputNegotiation, Serialization } from '../negotiation/negotiate.ts'
import { encodeProtobuf } from '../protobuf/envelope.ts'
import { yamlText } from '../yaml/text.ts'

const encoder = new TextEncoder()

export type Form = Pick<OutputNegotiation, 'serialization' | 'pretty'>

export type TextSerialization = 'json' | 'yaml'
export type BinarySerialization = Exclude<Serialization, TextSerialization>

export const isBinary = (serialization: Serialization): serialization is BinarySerialization =>
  serialization === 'protobuf' || serialization === 'cbor'

/** The body of an answer. It stays text where no code needs its bytes, and the engine encodes it. */
export type Body = string | Uint8Array

export const bytesOf = (body: Body): Uint8Array => (typeof body === 'string' ? encoder.encode(body) : body)

/**
 * @param json compact text without a final newline
 * @param owner the key of the text in a walk (base/parts.ts)
 */
export function serializeText({ serialization, pretty }: Form, json: string, owner?: object): Body {
  if (serialization === 'yaml')
    return yamlText(owner === undefined ? parseStored(json) : apart(owner, () => parseStored(json)))
  return pretty ? indented(json, owner) : `${json}\n`
}

/**
 * @param type undefined for a custom resource, which has only a CBOR form
 * @param object has kind and apiVersion
 */
export function serializeBinary(
  serialization: BinarySerialization,
  type: StructType | undefined,
  object: JsonObject,
  options: EncodeOptions = {},
): Uint8Array {
  if (type === undefined) return encodeCborValue(object)
  return serialization === 'cbor' ? encodeCbor(type, object, options) : encodeProtobuf(type, object)
}

/** Serializes an object of a type in any serialization. */
export function serializeTyped(form: Form, type: StructType, object: JsonObject, options: EncodeOptions = {}): Body {
  const { serialization } = form
  if (isBinary(serialization)) return serializeBinary(serialization, type, object, options)
  return serializeText(
    form,
    kept(object, () => encodeJson(type, object, options)),
    object,
  )
}
