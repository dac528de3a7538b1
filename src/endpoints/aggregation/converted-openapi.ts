/** OpenAPI v3 for servers that publish only v2. This server converts their v2 document and serves it. */
import { writingPlainJson } from '../../json/write-json.ts'
import { isJsonObject } from '../../api/object.ts'
import { inTurns } from '../../base/slices.ts'
import type { OpenApiDocument } from '../../openapi/documents.ts'
import type { ApiRequest } from '../../request/context.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import type { RemoteService } from './remote-documents.ts'
import { RemoteDocuments, okJson } from './remote-documents.ts'

/** Limit of the v2 document, and of the copies of schemas in the v3 document. */
const MAX_BYTES = 6 << 20

/** The document is written in pieces down to this level: a path, or a schema of the components, is one piece. */
const LEVELS = 3

const converted = new RemoteDocuments<OpenApiDocument>({
  path: () => '/openapi/v2',
  accept: 'application/json',
  maxBytes: MAX_BYTES,
  mostKept: 32 << 20,
  async read(answer) {
    const v2 = await okJson(answer)
    if (!isJsonObject(v2)) throw new CallFailed('the answer is no document of OpenAPI')
    // most servers have v3, so the converter is loaded for the first server without it
    const [{ hashed }, { TooLarge, v3OfV2 }] = await Promise.all([
      import('../../openapi/documents.ts'),
      import('../../openapi/v3-of-v2.ts'),
    ])
    try {
      const v3 = await inTurns(v3OfV2(v2, MAX_BYTES))
      return await hashed(await inTurns(writingPlainJson(v3, LEVELS)))
    } catch (error) {
      throw error instanceof TooLarge ? new CallFailed(error.message) : error
    }
  },
})

/**
 * @param services those without OpenAPI v3
 * @returns the known documents, with their services
 */
export async function convertedDocuments(
  request: ApiRequest,
  services: readonly RemoteService[],
): Promise<[service: RemoteService, document: OpenApiDocument][]> {
  if (services.length === 0) return []
  const known = await converted.known(request, services)
  return known.flatMap(({ service, value }): [RemoteService, OpenApiDocument][] =>
    value === undefined ? [] : [[service, value]],
  )
}
