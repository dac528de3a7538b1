/** Answers with a document that belongs to no resource, in the negotiated form. */
import type { JsonObject } from '../../api/object.ts'
import { stringify } from '../../json/write-json.ts'
import { mediaTypes } from '../../codec/negotiation/negotiate.ts'
import { answerHeaders } from '../../codec/respond.ts'
import { isBinary, serializeBinary, serializeText } from '../../codec/encode/serialize.ts'
import type { Form } from '../../codec/encode/serialize.ts'
import { builtInType } from '../../schema/built-in.ts'

export interface DocumentResponse {
  /** The model name of its type, for protobuf and CBOR. */
  readonly model?: string
  /** Given where it differs from the media type. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The document's JSON, where it was made before. */
  readonly json?: string
}

/** @param document with kind and, where its type has one, apiVersion; keys in the order of kube-apiserver */
export function respondDocument(
  form: Form,
  document: JsonObject,
  { model, contentType, headers = {}, json }: DocumentResponse = {},
): Response {
  const { serialization } = form
  const body =
    isBinary(serialization) && model !== undefined
      ? serializeBinary(serialization, builtInType(model), document)
      : serializeText(form, json ?? stringify(document))
  return new Response(body, {
    headers: { ...answerHeaders(contentType ?? mediaTypes[form.serialization]), ...headers },
  })
}
