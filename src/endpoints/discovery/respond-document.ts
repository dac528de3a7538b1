/** A document that is no resource, in the form that was negotiated. */
import type { JsonObject } from '../../api/object.ts'
import { pretty as indented, stringify } from '../../codec/json.ts'
import type { Serialization } from '../../codec/negotiate.ts'
import { mediaTypes } from '../../codec/negotiate.ts'
import { warningHeaders } from '../../codec/warnings.ts'
import type { ApiRequest } from '../../request/context.ts'
import { NO_CACHE } from '../text-response.ts'

export interface DocumentForm {
  readonly serialization: Serialization
  readonly pretty: boolean
}

export interface DocumentResponse {
  /** Model name of its type; needed for protobuf. */
  readonly model?: string
  /** Where it says more than the media type. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function respondDocument(
  request: ApiRequest,
  form: DocumentForm,
  document: JsonObject,
  { model, contentType, headers }: DocumentResponse = {},
): Promise<Response> {
  const all = new Headers({
    'Cache-Control': NO_CACHE,
    ...headers,
    'Content-Type': contentType ?? mediaTypes[form.serialization],
  })
  for (const warning of warningHeaders(request.warnings)) all.append('Warning', warning)
  return new Response(await bodyOf(form, document, model), { headers: all })
}

async function bodyOf(
  { serialization, pretty }: DocumentForm,
  document: JsonObject,
  _model: string | undefined,
): Promise<string | Uint8Array> {
  switch (serialization) {
    case 'json':
      return pretty ? indented(stringify(document)) : `${stringify(document)}\n`
    default:
      throw new Error(`assertion failed: no form ${serialization} of a document`)
  }
}
