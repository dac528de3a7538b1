/**
 * OpenAPI of other servers' group versions: their part of the v3 index and of the v2 document, and their v3
 * documents.
 */
import * as z from 'zod/mini'
import type { OpenApiDocument, RemoteSpecs } from '../../openapi/documents.ts'
import type { RemoteSpec } from '../../openapi/remote-spec.ts'
import { specBelow } from '../../openapi/remote-spec.ts'
import { AGGREGATOR, askApiService, isAvailable, placeOfApiService } from '../../outgoing/api-service.ts'
import { inTurns } from '../../base/slices.ts'
import type { ApiRequest } from '../../request/context.ts'
import { targetOf } from '../../request/target.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { textResponse } from '../documents/text-response.ts'
import { convertedDocuments } from './converted-openapi.ts'
import { failed, remoteAnswer } from './remote-answer.ts'
import type { Known, RemoteService } from './remote-documents.ts'
import { RemoteDocuments, okJson, remoteServices } from './remote-documents.ts'

const JSON_TYPE = 'application/json'
const ANSWER_MS = 60_000

const keyOf = ({ spec }: RemoteService): string => `apis/${spec?.group}/${spec?.version}`

const index = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) })

/** What a server has of OpenAPI v3: nothing, or the URL of the group version's document. */
type Index = 'v2 alone' | { readonly url: string | undefined }

const indexes = new RemoteDocuments<Index>({
  path: () => '/openapi/v3',
  accept: JSON_TYPE,
  // an index of a thousand group versions has a sixth of it; it is checked at once
  maxBytes: 1 << 20,
  mostKept: 32 << 20,
  async read(answer, service) {
    if (answer.status === 404) return 'v2 alone'
    const read = index.safeParse(await okJson(answer))
    if (!read.success) throw new CallFailed('the answer is no index of OpenAPI')
    return { url: new Map(Object.entries(read.data.paths)).get(keyOf(service))?.serverRelativeURL }
  },
})

/** Entries of the index, as key and URL at this server. Documents that this server would not fetch are left out. */
export async function remoteIndex(request: ApiRequest): Promise<[key: string, url: string][]> {
  const known = await indexes.known(request)
  const own = known.flatMap(({ service, value }): [string, string][] => {
    const { url } = value === undefined || value === 'v2 alone' ? {} : value
    // the URL must be a path of this server, whatever the other server says
    return url?.startsWith(`/openapi/v3/${keyOf(service)}`) ? [[keyOf(service), url]] : []
  })
  const converted = await convertedDocuments(request, ofV2Alone(known))
  return [...own, ...converted.map(([service, { hash }]): [string, string] => [keyOf(service), urlOf(service, hash)])]
}

const ofV2Alone = (known: readonly Known<Index>[]): readonly RemoteService[] =>
  known.flatMap(({ service, value }) => (value === 'v2 alone' ? [service] : []))

const urlOf = (service: RemoteService, hash: string): string => `/openapi/v3/${keyOf(service)}?hash=${hash}`

/** A v3 document converted from another server's v2; undefined where no such document has this key. */
export async function convertedV3(request: ApiRequest, key: string): Promise<OpenApiDocument | undefined> {
  const services = (await remoteServices(request)).filter((one) => keyOf(one) === key)
  if (services.length === 0) return undefined
  const [found] = await convertedDocuments(request, ofV2Alone(await indexes.known(request, services)))
  return found?.[1]
}

/** Another server's own v3 document; undefined where no such document has this key. */
export async function serveRemoteV3(request: ApiRequest, key: string): Promise<Response | undefined> {
  const service = (await remoteServices(request)).find((one) => keyOf(one) === key)
  if (service === undefined) return undefined
  if (!isAvailable(service)) return textResponse('service unavailable\n', { status: 503, nosniff: true })
  try {
    const place = await placeOfApiService(request, service)
    const asked = ['Accept', 'Accept-Encoding', 'If-None-Match'].flatMap((name) => {
      const value = request.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    const answer = await askApiService(request, service, place, {
      // asked as this server, so that clients can read the document although they may not read the path at the other
      // server
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      target: targetOf(request.request),
      headers: asked,
      user: AGGREGATOR,
      timeoutMs: ANSWER_MS,
    })
    // a redirect to the document of another hash is passed on, because its path is the same here
    return remoteAnswer(answer, request.method === 'HEAD', true)
  } catch (error) {
    if (error instanceof CallFailed) return failed(error.message)
    throw error
  }
}

const specs = new RemoteDocuments<RemoteSpec>({
  path: () => '/openapi/v2',
  accept: JSON_TYPE,
  maxBytes: 12 << 20,
  // of each only the paths below its version and their definitions, as text
  mostKept: 24 << 20,
  read: async (answer, { spec }) => inTurns(specBelow(await okJson(answer), `/apis/${spec?.group}/${spec?.version}/`)),
})

export async function remoteSpecs(request: ApiRequest): Promise<RemoteSpecs> {
  const known = await specs.known(request)
  const found = known.flatMap(({ value }) => value ?? [])
  return { key: found.map(({ hash }) => hash).join(' '), specs: found }
}
