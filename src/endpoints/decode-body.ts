/** Request bodies → objects of the endpoint's type, with the complaints of the reference (apiserver's handlers). */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { badRequest, requestEntityTooLarge } from '../api/status.ts'
import type { ApiRequest } from '../request/context.ts'
import type { FieldValidation } from '../request/options.ts'

/** The reference's limit of a request body. */
export const MAX_BODY = 3 * 1024 * 1024

export async function readBody({ request }: ApiRequest): Promise<Uint8Array> {
  const declared = Number(request.headers.get('Content-Length') ?? 0)
  if (declared > MAX_BODY) throw tooLarge()
  if (request.body === null) return new Uint8Array()
  if (declared > 0) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body) {
    length += chunk.length
    if (length > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  const body = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}

const tooLarge = () => requestEntityTooLarge(`limit is ${MAX_BODY}`)
