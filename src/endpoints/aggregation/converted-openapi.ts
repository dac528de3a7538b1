/** OpenAPI v3 of servers that have v2 alone: their document of v2 as one of v3, which this server serves as its own. */
import { writingPlainJson } from '../../api/write-json.ts'
import { isJsonObject } from '../../api/object.ts'
import { inTurns } from '../../api/slices.ts'
import type { OpenApiDocument } from '../../openapi/documents.ts'
import type { ApiRequest } from '../../request/context.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import type { RemoteService } from './remote-documents.ts'
import { RemoteDocuments, okJson } from './remote-documents.ts'

/** Limits of the v2 document, and of how much larger the v3 document may be. */
const MAX_BYTES = 6 << 20

/** Of members that are each written at once: those of paths and of components' schemas. */
const LEVELS = 3

const converted = new RemoteDocuments<OpenApiDocument>({
  path: () => '/openapi/v2',
  accept: 'application/json',
  maxBytes: MAX_BYTES,
  async read(answer) {
    const v2 = await okJson(answer)
    if (!isJsonObject(v2)) throw new CallFailed('the answer is no document of OpenAPI')
    // most servers have v3, so the converter is loaded for the first server that has not
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
 * @param services without OpenAPI v3
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
