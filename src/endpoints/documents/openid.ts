/** The OIDC discovery documents of the ServiceAccount token issuer. */
import { settingsOf } from '../../settings.ts'
import { bareRanges } from '../../codec/negotiation/media-type.ts'
import type { JsonObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { publishedKeys } from '../../authentication/published-keys.ts'
import { tokenIssuer } from '../../authentication/service-account-key.ts'
import type { ApiRequest } from '../../request/context.ts'

/** @throws StatusError 406 with the text of kube-apiserver's routing layer */
export function requireProduced(request: ApiRequest, ...mediaTypes: readonly string[]): void {
  const accept = request.headers.get('Accept') ?? ''
  // few: the media types of one path
  if (accept === '' || bareRanges(accept).some((range) => range === '*/*' || mediaTypes.includes(range))) return
  throw new StatusError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(', ')}`,
    {},
  )
}

function documentResponse(document: JsonObject, type: string, seconds: number): Response {
  return new Response(JSON.stringify(document), {
    headers: { 'Cache-Control': `public, max-age=${seconds}`, 'Content-Type': type },
  })
}

export async function serveOpenIdConfiguration(request: ApiRequest): Promise<Response> {
  requireProduced(request, 'application/json')
  const { keys, seconds } = await publishedKeys(request)
  const algorithms = [...new Set(keys.map(({ algorithm }) => algorithm))].sort()
  return documentResponse(
    {
      issuer: tokenIssuer(request.env),
      jwks_uri: `https://${settingsOf(request.env).advertise ?? request.headers.get('Host') ?? 'localhost'}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms.length === 0 ? ['RS256'] : algorithms,
    },
    'application/json',
    seconds,
  )
}

export async function serveKeySet(request: ApiRequest): Promise<Response> {
  requireProduced(request, 'application/jwk-set+json')
  const { keys, seconds } = await publishedKeys(request)
  const all = keys.map(({ publicJwk }) => ({ ...publicJwk }) as JsonObject) // a JWK is plain JSON
  return documentResponse({ keys: all }, 'application/jwk-set+json', seconds)
}
