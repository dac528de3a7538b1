/** OpenAPI of other servers' group versions: in the index and the document of v2, and their own documents of v3. */
import * as z from 'zod/mini'
import type { RemoteSpecs } from '../../openapi/documents.ts'
import type { RemoteSpec } from '../../openapi/remote-spec.ts'
import { specBelow } from '../../openapi/remote-spec.ts'
import { AGGREGATOR, askApiService, isAvailable, placeOfApiService } from '../../outgoing/api-service.ts'
import type { ApiRequest } from '../../request/context.ts'
import { targetOf } from '../../request/target.ts'
import { CallFailed } from '../../webhooks/outgoing-call.ts'
import { textResponse } from '../text-response.ts'
import { failed, remoteAnswer } from './remote-answer.ts'
import type { RemoteService } from './remote-documents.ts'
import { RemoteDocuments, okJson, remoteServices } from './remote-documents.ts'

const JSON_TYPE = 'application/json'
const ANSWER_MS = 60_000

const keyOf = ({ spec }: RemoteService): string => `apis/${spec?.group}/${spec?.version}`

const index = z.object({ paths: z.record(z.string(), z.object({ serverRelativeURL: z.string() })) })

const indexes = new RemoteDocuments<string | undefined>({
  path: () => '/openapi/v3',
  accept: JSON_TYPE,
  maxBytes: 3 << 20,
  read(answer, service) {
    const read = index.safeParse(okJson(answer))
    if (!read.success) throw new CallFailed('the answer is no index of OpenAPI')
    return new Map(Object.entries(read.data.paths)).get(keyOf(service))?.serverRelativeURL
  },
})

/** Members of the index: key, and URL at this server. What a server is not asked about is not there. */
export async function remoteIndex(request: ApiRequest): Promise<[key: string, url: string][]> {
  const known = await indexes.known(request)
  return known.flatMap(({ service, value }): [string, string][] =>
    // a path of this server, whatever the other says of itself
    value?.startsWith(`/openapi/v3/${keyOf(service)}`) ? [[keyOf(service), value]] : [],
  )
}

/** A document of v3 that is another server's; undefined where the key is none of them. */
export async function serveRemoteV3(request: ApiRequest, key: string): Promise<Response | undefined> {
  const service = (await remoteServices(request)).find((one) => keyOf(one) === key)
  if (service === undefined) return undefined
  if (!isAvailable(service)) return textResponse('service unavailable\n', { status: 503, nosniff: true })
  request.delegate?.()
  try {
    const place = await placeOfApiService(request, service)
    const asked = ['Accept', 'Accept-Encoding', 'If-None-Match'].flatMap((name) => {
      const value = request.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    const answer = await askApiService(request, service, place, {
      // it is asked in this server's name: whatever the client does with the path, the document is read
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      target: targetOf(request.request),
      headers: asked,
      user: AGGREGATOR,
      timeoutMs: ANSWER_MS,
    })
    // the document of another hash is at another URL of the same path
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
  read: (answer, { spec }) => specBelow(okJson(answer), `/apis/${spec?.group}/${spec?.version}/`),
})

export async function remoteSpecs(request: ApiRequest): Promise<RemoteSpecs> {
  const known = await specs.known(request)
  const found = known.flatMap(({ value }) => value ?? [])
  return { key: found.map(({ hash }) => hash).join(' '), specs: found }
}
