/**
 * Negotiates the form of answers and request bodies by the headers Accept and Content-Type, and by `pretty` and
 * `includeObject` (apiserver's handlers/negotiation). For built-in resources, go-restful matches the media types first.
 */
import { goQuote } from '../../go/quote.ts'
import { append } from '../../base/append.ts'
import { badRequest, madeBy, notAcceptable, StatusError, unsupportedMediaType } from '../../api/status.ts'
import type { Maker } from '../../api/status.ts'
import { settingsOf } from '../../settings.ts'
import type { ApiRequest } from '../../request/context.ts'
import { bareRanges, contentTypeOf, covers, parseAccept } from './media-type.ts'
import type { AcceptClause } from './media-type.ts'
import type { ResourceForms } from '../resource-forms.ts'

export type Serialization = 'json' | 'yaml' | 'protobuf' | 'cbor'

export const mediaTypes = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
} as const satisfies Record<Serialization, string>

/** The Content-Type of a watch. YAML supports no watch. */
export const streamTypes: Readonly<Partial<Record<Serialization, string>>> = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf;stream=watch',
  cbor: 'application/cbor-seq',
}

/** A kind of meta.k8s.io for which a client may ask in place of the object. */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly version: 'v1' | 'v1beta1'
}

export interface OutputNegotiation {
  readonly serialization: Serialization
  /** Indent the answer (JSON only). */
  readonly pretty: boolean
  readonly transform?: Transform
  /** The unchecked parameter `includeObject`. Only an answer with a Table validates it. */
  readonly includeObject: string
}

export interface OutputEndpoint {
  readonly kind: 'object' | 'list' | 'watch'
  readonly forms: ResourceForms
  /** Further media types that the endpoint produces (pods/log: text/plain). */
  readonly produces?: readonly string[]
}

/**
 * @throws StatusError 406: `406: Not Acceptable …` where the endpoint produces no media type of the Accept header, else
 * `only the following media types are accepted: …`
 */
export function negotiateOutput(request: ApiRequest, endpoint: OutputEndpoint): OutputNegotiation {
  const available = serializations(request)
  const accept = request.headers.get('Accept') ?? ''
  if (endpoint.forms.matchesFirst) {
    // only a request that reaches the endpoint gets a deprecation warning
    const earlier = request.warnings.splice(0)
    matchProduced(accept, () => produced(request, endpoint, available))
    append(request.warnings, earlier)
  }
  const negotiated = negotiate(request, accept, available, {
    allows: (serialization, target) => allowsTransform(endpoint, serialization, target),
    serverVersion: 'v1',
    includesTransforms: true,
  })
  if (negotiated === undefined) throw notAcceptable(available.map((serialization) => mediaTypes[serialization]))
  return negotiated
}

/** @throws StatusError 406 where the negotiated media type cannot be streamed. Watches find that last. */
export function checkStream(request: ApiRequest, { serialization }: OutputNegotiation): void {
  if (streamTypes[serialization] !== undefined) return
  throw notAcceptable(serializations(request).flatMap((one) => streamRepresentation(one) ?? []))
}

/**
 * Negotiates the form of documents that are no resources (discovery, reviews by path).
 * @param matched whether go-restful matches the media types first, like at /api and /apis/GROUP/VERSION
 * @param cbor whether kube-apiserver serves the document in CBOR, too
 */
export function negotiateDocument(
  request: ApiRequest,
  { matched, cbor, allows = () => false }: { matched: boolean; cbor: boolean; allows?: (target: Target) => boolean },
): OutputNegotiation & { readonly target?: Target } {
  const available = cbor ? serializations(request) : withoutCbor
  const accept = request.headers.get('Accept') ?? ''
  if (matched) matchProduced(accept, () => available.map((serialization) => mediaTypes[serialization]))
  const negotiated = negotiate(request, accept, available, {
    allows: (_, target) => target === undefined || allows(target),
    serverVersion: undefined,
    includesTransforms: false,
  })
  if (negotiated === undefined) throw notAcceptable(available.map((serialization) => mediaTypes[serialization]))
  return negotiated
}

/** The form of an error. Undefined: the client accepts none of the possible types, and gets indented JSON. */
export function negotiateError(request: ApiRequest, maker: Maker): OutputNegotiation | undefined {
  const available = maker === 'handler' ? serializations(request) : withoutCbor
  return negotiate(request, request.headers.get('Accept') ?? '', available, {
    allows: (_, target) => target === undefined,
    serverVersion: undefined,
    includesTransforms: false,
  })
}

/** The kind that the parameters `as`, `g` and `v` of a media type name. */
export interface Target {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface Restrictions {
  allows(serialization: Serialization, target: Target | undefined): boolean
  /** The only valid value of the parameter `sv`. */
  readonly serverVersion: string | undefined
  /** Targets are transforms of meta.k8s.io. */
  readonly includesTransforms: boolean
}

function negotiate(
  request: ApiRequest,
  accept: string,
  available: readonly Serialization[],
  restrictions: Restrictions,
): (OutputNegotiation & { readonly target?: Target }) | undefined {
  const includeObject = request.query.get('includeObject') ?? ''
  const humane = wantsIndented(request)
  if (accept === '') return { serialization: 'json', pretty: humane, includeObject }
  for (const clause of parseAccept(accept))
    for (const serialization of available) {
      if (!covers(clause, mediaTypes[serialization])) continue
      const target = targetOf(clause)
      if (!allowsParameters(clause, serialization, restrictions) || !restrictions.allows(serialization, target))
        continue
      return {
        serialization,
        pretty: serialization === 'json' && (humane || clause.parameters.get('pretty') === '1'),
        includeObject,
        ...(target === undefined ? {} : { target }),
        // `allows` refuses all other kinds and versions
        ...(target === undefined || !restrictions.includesTransforms
          ? {}
          : { transform: { kind: target.kind, version: target.version } as Transform }),
      }
    }
  return undefined
}

function targetOf({ parameters }: AcceptClause): Target | undefined {
  const [kind, group, version] = ['as', 'g', 'v'].map((name) => parameters.get(name))
  if (kind === undefined && group === undefined && version === undefined) return undefined
  return { kind: kind ?? '', group: group ?? '', version: version ?? '' }
}

function allowsParameters({ parameters }: AcceptClause, serialization: Serialization, { serverVersion }: Restrictions) {
  const stream = parameters.get('stream') ?? ''
  if (stream !== '' && (stream !== 'watch' || streamTypes[serialization] === undefined)) return false
  const sv = parameters.get('sv') ?? ''
  return sv === '' || sv === serverVersion
}

const serializations = ({ env }: ApiRequest): readonly Serialization[] =>
  settingsOf(env).gates.enabled('CBORServingAndStorage') ? withCbor : withoutCbor

const withoutCbor: readonly Serialization[] = ['json', 'yaml', 'protobuf']
const withCbor: readonly Serialization[] = [...withoutCbor, 'cbor']

const streamRepresentation = (serialization: Serialization): string | undefined =>
  serialization === 'json' ? `${mediaTypes.json};stream=watch` : streamTypes[serialization]

function produced(
  { method }: ApiRequest,
  { kind, produces = [] }: OutputEndpoint,
  available: readonly Serialization[],
): readonly string[] {
  const plain = [...produces, ...available.map((serialization) => mediaTypes[serialization])]
  // one endpoint lists and watches; deletecollection has no stream
  if (kind === 'object' || method === 'DELETE') return plain
  return [...plain, ...available.flatMap((serialization) => streamRepresentation(serialization) ?? [])]
}

/** go-restful compares media types without parameters. Its only wildcard is the one for all types. */
function matchProduced(accept: string, produces: () => readonly string[]): void {
  if (accept === '' || accept === '*/*') return
  const available = produces()
  // few: the media types of one path
  if (bareRanges(accept).some((range) => range === '*/*' || available.includes(range))) return
  const why = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`
  throw madeBy('router', new StatusError(406, 'NotAcceptable', why, {}))
}

const META_GROUP = 'meta.k8s.io'

function allowsTransform({ forms }: OutputEndpoint, serialization: Serialization, target: Target | undefined): boolean {
  if (target === undefined) return forms.hasProtobuf || serialization !== 'protobuf'
  if (target.group !== META_GROUP || (target.version !== 'v1' && target.version !== 'v1beta1')) return false
  switch (target.kind) {
    case 'Table':
      return (serialization === 'json' || serialization === 'yaml') && forms.hasTable
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return true
    default:
      return false
  }
}

const booleans: Readonly<Record<string, boolean>> = { '1': true, t: true, T: true, true: true, TRUE: true, True: true }

/** Whether `?pretty` asks for indentation, or the User-Agent is that of a browser, curl or Wget. */
function wantsIndented({ query, headers }: ApiRequest): boolean {
  const asked = query.get('pretty') ?? ''
  if (asked !== '') return Object.hasOwn(booleans, asked)
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers.get('User-Agent') ?? '')
}

export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** @throws StatusError 400 */
export function parseIncludeObject(text: string): IncludeObject {
  switch (text) {
    case '':
      return 'Metadata'
    case 'None':
    case 'Metadata':
    case 'Object':
      return text
    default:
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(text)}: must be 'Metadata', 'Object', 'None', or empty`,
      )
  }
}

/**
 * The form of a request's body. The errors for custom resources also list protobuf, but their decoder refuses it.
 * @throws StatusError 415
 */
export function negotiateInput(request: ApiRequest): Serialization {
  const header = request.headers.get('Content-Type') ?? ''
  if (header === '') return 'json'
  const type = contentTypeOf(header)
  const available = serializations(request)
  const found = available.find((serialization) => mediaTypes[serialization] === type)
  if (found === undefined) throw unsupportedMediaType(available.map((serialization) => mediaTypes[serialization]))
  return found
}

export type PatchType =
  | 'application/json-patch+json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/apply-patch+yaml'
  | 'application/apply-patch+cbor'

/**
 * The kind of a patch. For built-in resources, go-restful first accepts a header with several types separated by
 * commas; the second check, for all resources, accepts one type only.
 * @throws StatusError 415
 */
export function negotiatePatchType(request: ApiRequest, forms: ResourceForms): PatchType {
  const header = request.headers.get('Content-Type') ?? ''
  const available = patchTypes(request, forms)
  if (forms.matchesFirst && !bareRanges(header).some((range) => available.some((type) => type === range))) {
    request.warnings.length = 0 // as in negotiateOutput
    throw madeBy('router', new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}))
  }
  const end = header.indexOf(';')
  const type = end > 0 ? header.slice(0, end) : header
  const found = available.find((one) => one === type)
  if (found === undefined) throw unsupportedMediaType(available)
  return found
}

function patchTypes(request: ApiRequest, forms: ResourceForms): readonly PatchType[] {
  return [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(forms.hasStrategicMergePatch ? (['application/strategic-merge-patch+json'] as const) : []),
    'application/apply-patch+yaml',
    ...(serializations(request).includes('cbor') ? (['application/apply-patch+cbor'] as const) : []),
  ]
}
