/**
 * `/openapi/v2`, `/openapi/v3` and its documents, served as files for every method. The code that builds them is
 * loaded for the first request.
 */
import { inPartsAwaiting } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { wholeText } from '../../openapi/members.ts'
import { covers, parseAccept } from '../../codec/negotiation/media-type.ts'
import type { OpenApiDocument, OpenApiDocuments, OpenApiStream, SwaggerStream } from '../../openapi/documents.ts'
import type { ServedResources } from '../../registry/served/resources.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import type { ApiRequest } from '../../request/context.ts'
import { convertedV3, remoteIndex, remoteSpecs, serveRemoteV3 } from '../aggregation/remote-openapi.ts'
import { packedBody, plainBody } from './packed-bodies.ts'
import { slowBytes, slowText } from './slow-stream.ts'
import type { Content } from './serve-content.ts'
import { httpDate, serveContent } from './serve-content.ts'
import { NO_CACHE } from './text-response.ts'

const JSON_TYPE = 'application/json'

/** Clients may use both spellings; the answer has the one without @. */
const protobufTypes = (version: 'v2' | 'v3') => [
  `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`,
  `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`,
]

/** When the isolate learned the served resources, which is the Last-Modified of their documents. */
const builtAt = new WeakMap<object, Date>()

function ageOf(document: object, now: Date): Date {
  let date = builtAt.get(document)
  if (date === undefined) builtAt.set(document, (date = now))
  return date
}

/** Undefined where the client accepts no available type. */
function acceptedType(request: Request, version: 'v2' | 'v3'): string | undefined {
  const accept = request.headers.get('Accept') ?? ''
  const [protobuf, old] = protobufTypes(version)
  for (const clause of parseAccept(accept === '' ? '*/*' : accept)) {
    if (covers(clause, JSON_TYPE)) return JSON_TYPE
    if (covers(clause, protobuf!) || covers(clause, old!)) return protobuf
  }
  return undefined
}

const refused = (headers: Record<string, string>, status: number) =>
  new Response(null, { status, headers: { 'Cache-Control': NO_CACHE, ...headers } })

async function documentsOf({ env }: ApiRequest, served: ServedResources): Promise<OpenApiDocuments> {
  await served.read()
  const { openApiDocuments } = await import('../../openapi/documents.ts')
  const { gates } = builtInServed(env)
  return openApiDocuments(served, {
    cbor: gates.enabled('CBORServingAndStorage'),
    ...(gates.enabled('OpenAPIEnums') ? {} : { hidesEnums: true }),
  })
}

export async function serveOpenApiV2(apiRequest: ApiRequest, served: ServedResources): Promise<Response> {
  const { request, tenant, now } = apiRequest
  const vary = { Vary: 'Accept-Encoding, Accept' }
  const type = acceptedType(request, 'v2')
  if (type === undefined) return refused(vary, 406)
  const remote = await remoteSpecs(apiRequest)
  const document = await (await documentsOf(apiRequest, served)).v2(remote)
  const { body, ...content } = await contentOf(document, type, now, 'v2')
  const key = `${tenant.uid} ${type} ${document.hash}`
  const isPacked = acceptsGzip(request)
  const response = serveContent(request, {
    ...content,
    body: typeof body === 'function' ? () => (isPacked ? packedBody : plainBody)(key, body) : body,
    headers: { 'Cache-Control': NO_CACHE, 'Content-Type': type, ...vary },
  })
  return isPacked ? gzipped(response, typeof body === 'function') : response
}

async function contentOf(
  document: OpenApiDocument | OpenApiStream | SwaggerStream,
  type: string,
  now: Date,
  version: 'v2' | 'v3',
): Promise<Omit<Content, 'headers'>> {
  return {
    body: type === JSON_TYPE ? jsonOf(document) : await protobufOf(document, version),
    etag: `"${document.hash}"`,
    lastModified: ageOf(document, now),
  }
}

const jsonOf = (document: OpenApiDocument | OpenApiStream): Content['body'] =>
  'text' in document ? new TextEncoder().encode(document.text) : () => slowText(document.pieces())

/** The protobuf of a group version is made from its whole text. */
async function protobufOf(
  document: OpenApiDocument | OpenApiStream | SwaggerStream,
  version: 'v2' | 'v3',
): Promise<Content['body']> {
  const { protobufPieces, protobufV2, protobufV3 } = await import('../../openapi/protobuf.ts')
  if ('members' in document) return () => slowBytes(protobufPieces(document.members))
  const whole = 'text' in document ? document : { text: await wholeText(document.pieces(), turnOfOthers) }
  const bytes = await inPartsAwaiting(() => (version === 'v2' ? protobufV2(whole) : protobufV3(whole)), turnOfOthers)
  // a Response copies its bytes at once, and a large document has tens of megabytes
  return 'text' in document ? bytes : () => slowBytes(slicesOf(bytes))
}

/** Bytes of a slice. */
const SLICE_BYTES = 32 * 1024

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

const acceptsGzip = (request: Request): boolean =>
  /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?(?:$|[\s,]))/.test(request.headers.get('Accept-Encoding') ?? '')

/** Compresses the 2 MB of v2 for clients that accept gzip. */
function gzipped(response: Response, isPacked: boolean): Response {
  if (response.status !== 200 || response.body === null) return response
  const headers = new Headers(response.headers)
  headers.set('Content-Encoding', 'gzip')
  headers.delete('Content-Length')
  const body = isPacked ? response.body : response.body.pipeThrough(new CompressionStream('gzip'))
  return new Response(body, { headers, encodeBody: 'manual' })
}

/** @param path what follows `/openapi/v3`: empty for the index, else `/` and the key of a document */
export async function serveOpenApiV3(request: ApiRequest, served: ServedResources, path: string): Promise<Response> {
  const documents = await documentsOf(request, served)
  return path === '' ? serveIndex(request, documents) : serveDocument(request, documents, path.slice(1))
}

async function serveIndex(apiRequest: ApiRequest, documents: OpenApiDocuments): Promise<Response> {
  const { request, now } = apiRequest
  const [hashes, remote] = await Promise.all([documents.hashes(), remoteIndex(apiRequest)])
  const known = hashes.map(([key, hash]) => [key, urlOf(key, hash)] as const)
  const urls = remote.length === 0 ? known : [...known, ...remote].sort(([a], [b]) => (a < b ? -1 : 1))
  const paths = Object.fromEntries(urls.map(([key, serverRelativeURL]) => [key, { serverRelativeURL }]))
  return serveContent(request, {
    body: new TextEncoder().encode(`${JSON.stringify({ paths })}\n`),
    lastModified: ageOf(documents, now),
    headers: { 'Cache-Control': NO_CACHE, 'Content-Type': 'text/plain; charset=utf-8' },
  })
}

const urlOf = (key: string, hash: string): string => `/openapi/v3/${key}?hash=${hash}`

async function serveDocument(request: ApiRequest, documents: OpenApiDocuments, key: string): Promise<Response> {
  if (documents.keys.includes(key))
    // not undefined: the index lists the key
    return serveHashed(request, key, await documents.hash(key), async () => (await documents.v3(key))!)
  const converted = await convertedV3(request, key)
  if (converted !== undefined) return serveHashed(request, key, converted.hash, async () => converted)
  return (await serveRemoteV3(request, key)) ?? refused({}, 404)
}

async function serveHashed(
  { request, query, now }: ApiRequest,
  key: string,
  hash: string,
  read: () => Promise<OpenApiDocument | OpenApiStream>,
): Promise<Response> {
  const vary = { Vary: 'Accept' }
  const type = acceptedType(request, 'v3')
  if (type === undefined) return refused(vary, 406)
  const asked = query.get('hash') ?? ''
  if (asked !== '' && asked !== hash)
    return refused({ ...vary, ETag: `"${hash}"`, 'Content-Type': type, Location: urlOf(key, hash) }, 301)
  return serveContent(request, {
    ...(await contentOf(await read(), type, now, 'v3')),
    headers: { 'Content-Type': type, ...vary, ...(asked === '' ? { 'Cache-Control': NO_CACHE } : foreverFrom(now)) },
  })
}

function foreverFrom(now: Date): Record<string, string> {
  const inAYear = new Date(now)
  inAYear.setUTCFullYear(now.getUTCFullYear() + 1)
  return { 'Cache-Control': 'public, immutable', Expires: httpDate(inAYear).replace('GMT', 'UTC') }
}
