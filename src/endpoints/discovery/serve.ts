/** `/api`, `/apis` and the documents of groups and versions. */
import { settingsOf } from '../../settings.ts'
import type { JsonObject } from '../../api/object.ts'
import { methodNotAllowed } from '../../api/status.ts'
import { inTurns, turnOfOthers } from '../../base/slices.ts'
import { escapeHtml, stringify } from '../../json/write-json.ts'
import { negotiateDocument } from '../../codec/negotiation/negotiate.ts'
import type { Target } from '../../codec/negotiation/negotiate.ts'
import { mediaTypes } from '../../codec/negotiation/negotiate.ts'
import type { RemoteDiscovery } from '../aggregation/remote-discovery.ts'
import { remoteDiscovery } from '../aggregation/remote-discovery.ts'
import type { ServedGroup, ServedResources, ServedVersion } from '../../registry/served/resources.ts'
import type { ApiRequest } from '../../request/context.ts'
import { SharedValue } from '../../tenancy/shared-value.ts'
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from './documents.ts'
import { respondDocument } from './respond-document.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const AGGREGATED = 'io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList'
const TARGET: Target = { group: 'apidiscovery.k8s.io', version: 'v2', kind: 'APIGroupDiscoveryList' }

/**
 * These paths allow only GET, and match media types in their own way.
 * @throws StatusError 405
 */
function requireGet({ method }: ApiRequest): void {
  if (method !== 'GET') throw methodNotAllowed()
}

/** `/api` */
export function serveApiVersions(request: ApiRequest, served: ServedResources): Response | Promise<Response> {
  requireGet(request)
  if (wantsAggregated(request)) return serveAggregated(request, served, 'api')
  const address = settingsOf(request.env).advertise ?? request.headers.get('Host') ?? ''
  return respondDocument(negotiateDocument(request, { matched: true, cbor: false }), apiVersions(served, address), {
    model: `${META}.APIVersions`,
  })
}

/**
 * `/apis`.
 * @param exact the path has no slash at the end; only then can the client get the aggregated document
 */
export async function serveApiGroupList(
  request: ApiRequest,
  served: ServedResources,
  exact: boolean,
): Promise<Response> {
  if (exact && wantsAggregated(request)) return serveAggregated(request, served, 'apis')
  await served.read()
  return respondDocument(negotiateDocument(request, { matched: false, cbor: false }), apiGroupList(served), {
    model: `${META}.APIGroupList`,
  })
}

/** `/apis/GROUP` */
export function serveApiGroup(request: ApiRequest, group: ServedGroup): Response {
  const routed = group.group === 'apiregistration.k8s.io'
  if (routed) requireGet(request)
  return respondDocument(negotiateDocument(request, { matched: routed, cbor: false }), apiGroup(group), {
    model: `${META}.APIGroup`,
  })
}

/** `/api/v1`, `/apis/GROUP/VERSION` */
export function serveApiResourceList(
  request: ApiRequest,
  served: ServedResources,
  group: string,
  version: ServedVersion,
): Response {
  const routed = served.isBuiltInGroup(group)
  if (routed) requireGet(request)
  return respondDocument(
    negotiateDocument(request, { matched: routed, cbor: routed }),
    apiResourceList(group, version),
    {
      model: `${META}.APIResourceList`,
    },
  )
}

const isTarget = ({ group, version, kind }: Target): boolean =>
  group === TARGET.group && version === TARGET.version && kind === TARGET.kind

/** The aggregated document is preferred wherever the Accept header names it, whatever its q. */
const aggregatedClause = /(?:^|[\s,])application\/(json|yaml|vnd\.kubernetes\.protobuf)\s*;([^,]*)/g

function wantsAggregated({ headers }: ApiRequest): boolean {
  for (const [, , parameters = ''] of (headers.get('Accept') ?? '').matchAll(aggregatedClause)) {
    const given = new Map(
      parameters.split(';').map((one) => {
        const [name = '', value = ''] = one.split('=')
        return [name.trim(), value.trim()]
      }),
    )
    if (isTarget({ group: given.get('g') ?? '', version: given.get('v') ?? '', kind: given.get('as') ?? '' }))
      return true
  }
  return false
}

async function serveAggregated(
  request: ApiRequest,
  served: ServedResources,
  prefix: 'api' | 'apis',
): Promise<Response> {
  const { serialization } = negotiateDocument(onlyTargets(request), {
    matched: prefix === 'api',
    cbor: false,
    allows: isTarget,
  })
  const remote = prefix === 'apis' ? await remoteDiscovery(request) : undefined
  const { document, json, etag } = await aggregatedOf(served, prefix, remote)
  const headers = { 'Cache-Control': 'public', Vary: 'Accept', ETag: etag }
  if (request.headers.get('If-None-Match') === etag) return new Response(null, { status: 304, headers })
  const { pretty } = negotiateDocument(withoutAccept(request), { matched: false, cbor: false })
  return respondDocument({ serialization, pretty: pretty && serialization === 'json' }, document, {
    model: AGGREGATED,
    json,
    contentType: `${mediaTypes[serialization]};g=${TARGET.group};v=${TARGET.version};as=${TARGET.kind}`,
    headers,
  })
}

/** The request with only the aggregated types in its Accept header. */
function onlyTargets(request: ApiRequest): ApiRequest {
  const clauses = (request.headers.get('Accept') ?? '').split(',').filter((clause) => clause.includes(TARGET.kind))
  return withAccept(request, clauses.join(','))
}

const withoutAccept = (request: ApiRequest): ApiRequest => withAccept(request, '')

const withAccept = (request: ApiRequest, accept: string): ApiRequest => ({
  ...request,
  headers: request.headers.with('Accept', accept),
})

/** Milliseconds that making a document may take on a busy machine. */
const MAKING = 10_000

interface Kept {
  /** The key of the other servers' documents in it. */
  readonly remote: string | undefined
  readonly document: SharedValue<Aggregated>
}

interface Aggregated {
  readonly document: JsonObject
  readonly json: string
  readonly etag: string
}

/** Bound: the two prefixes, for each table of served resources. */
const aggregated = new WeakMap<ServedResources, Map<string, Kept>>()

function aggregatedOf(
  served: ServedResources,
  prefix: 'api' | 'apis',
  remote: RemoteDiscovery | undefined,
): Promise<Aggregated> {
  let documents = aggregated.get(served)
  if (documents === undefined) aggregated.set(served, (documents = new Map()))
  let known = documents.get(prefix)
  if (known?.remote !== remote?.key || known === undefined)
    documents.set(prefix, (known = { remote: remote?.key, document: new SharedValue(MAKING) }))
  return known.document.get(() => build(served, prefix, remote))
}

/** The ETag is a hash of the content only: `{"metadata":{},"items":[…]}`. The text may be long, so each use is a step. */
async function build(
  served: ServedResources,
  prefix: 'api' | 'apis',
  remote: RemoteDiscovery | undefined,
): Promise<Aggregated> {
  await served.read()
  await turnOfOthers()
  const document = await inTurns(aggregatedDiscovery(served, prefix, remote?.versions))
  await turnOfOthers()
  const { kind, apiVersion, ...content } = document
  const text = JSON.stringify(content)
  await turnOfOthers()
  const digest = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(text))
  await turnOfOthers()
  const json = `${stringify({ kind: kind!, apiVersion: apiVersion! }).slice(0, -1)},${escapeHtml(text.slice(1))}`
  return { document, json, etag: `"${hexadecimal(new Uint8Array(digest))}"` }
}

const hexadecimal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
