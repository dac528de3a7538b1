/**
 * Decodes request bodies to objects of the endpoint's type, with the errors of kube-apiserver (apiserver's handlers).
 */
import { Gathered } from '../../base/gathered.ts'
import { append } from '../../base/append.ts'
import { bytesToBase16 } from '../../base/base16.ts'
import { HEAVY } from '../../base/slices.ts'
import type { Steps } from '../../base/slices.ts'
import type { GroupVersion, GroupVersionKind } from '../../api/group-version.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { inParts } from '../../base/parts.ts'
import { StatusError, badRequest, requestEntityTooLarge } from '../../api/status.ts'
import { keepEmptyManagedFields } from '../../patch/object-forms.ts'
import type { ApiRequest } from '../../request/context.ts'
import { finished, isLargeIn, noteManyValues, turnOf } from '../../request/turns.ts'
import { received } from '../../flowcontrol/arrivals.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import { DecodeError, MissingKind, missingVersion } from '../../codec/decode/decode-problems.ts'
import { checkLeastSize } from '../../codec/protobuf/least-size.ts'
import type { JsonTree } from '../../json/json.ts'
import { plainJson } from '../../json/json.ts'
import { stringify } from '../../json/write-json.ts'
import { parsingJsonBytes } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import { loadYaml } from '../../codec/yaml/reader.ts'
import type { BodyFormat } from '../../codec/decode/parse-body.ts'
import { parsing, strictErrors } from '../../codec/decode/parse-body.ts'
import { goQuote } from '../../go/quote.ts'
import type { DeleteOptions, FieldValidation } from '../../request/options.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { StructType } from '../../schema/structural.ts'
import { applyDefaults } from '../../schema/defaulting.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import type { BodyRules, BodyTypes } from './body-rules.ts'
import { bodyRules, saidVersion, SCHEME } from './body-rules.ts'
import { defaultingOf, endpointKind, endpointType } from '../../registry/resource-scope.ts'

/** kube-apiserver's limit for request bodies. */
export const MAX_BODY = 3 * 1024 * 1024

/**
 * Reads the body of a request, and loads the YAML reader where it is needed.
 * @throws StatusError 413
 */
export async function readBody(request: ApiRequest): Promise<Uint8Array> {
  const body = await bytesOf(request).catch((error: unknown) => {
    // the client has gone, which is no fault of the server
    throw error instanceof StatusError ? error : badRequest(`the body ended early: ${String(error)}`)
  })
  if (isLargeIn(request.info.apiGroup, body, body.length * (request.growth ?? 1))) request.isLarge = true
  if (body.length > HEAVY) {
    await request.takeRoom?.('body', body.length)
    await turnOf(request)
  }
  if (/yaml/i.test(request.headers.get('Content-Type') ?? '') && request.method !== 'PATCH') await loadYaml()
  return body
}

async function bytesOf(call: ApiRequest): Promise<Uint8Array> {
  const { request, headers } = call
  const declared = Number(headers.get('Content-Length') ?? 0)
  if (declared > MAX_BODY) throw tooLarge()
  if (declared > 0 && declared <= HEAVY) return new Uint8Array(await request.arrayBuffer())
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const giveUp = (): void => void reader.cancel().catch(() => undefined)
  return received(call, (grew) => gather(reader, grew), giveUp)
}

async function gather(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  grew: (size: number) => void,
): Promise<Uint8Array> {
  const body = new Gathered()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return body.whole()
    if (body.length + value.length > MAX_BODY) {
      reader.releaseLock() // for request/unread-body.ts
      throw tooLarge()
    }
    body.add(value)
    grew(body.length)
  }
}

const tooLarge = () => requestEntityTooLarge(`limit is ${MAX_BODY}`)

/**
 * Decodes the object of a POST or PUT. A missing kind or version is the endpoint's. fieldValidation decides whether
 * unknown and repeated fields are errors, warnings, or ignored.
 * @throws StatusError 400
 */
export const decodeBody = async (...body: Parameters<typeof decodingBody>): Promise<KubeObject> =>
  finished(body[0].request, decodingBody(...body))

function* decodingBody(
  scope: RequestScope,
  format: BodyFormat,
  body: Uint8Array,
  fieldValidation: FieldValidation,
): Steps<KubeObject> {
  const expected = endpointKind(scope)
  const rules: BodyRules = bodyRules[scope.resource.forms.bodies]
  let found: GroupVersionKind | undefined
  try {
    const parsed = yield* parsing(format, body)
    const { apiVersion, kind } = parsed
    const isStrict = fieldValidation !== 'Ignore'
    const said = rules.kindOf({ apiVersion, kind, tree: parsed.tree, format, bytes: body, isStrict }, expected)
    found = said
    const type = rules.typeOf(said, expected, typesOf(scope), body)
    const { object, strict, tree } = yield* inParts(() => parsed.decodeAs(type))
    rules.checkKind(said, expected, type)
    reportStrict(scope, parsed.repeated, rules.complaints(said, expected, strict), fieldValidation)
    checkVersion(said, expected)
    noteManyValues(scope.request, object)
    const defaulting = defaultingOf(scope)
    yield* inParts(() => applyDefaults(type, object, defaulting))
    if (scope.request.isLarge) yield* inParts(() => checkLeastSize(object))
    // every type of an endpoint has metadata, which decoding sets
    const decoded = object as unknown as KubeObject
    keepEmptyManagedFields(type, tree, decoded)
    const objectKind = rules.objectKind(said, expected)
    return noted(scope, type, Object.assign(decoded, { kind: objectKind, apiVersion: apiVersionOf(expected) }))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (error instanceof MissingKind) found = error.known
    throw rules.refusal(
      found === undefined
        ? `the object provided is unrecognized (must be of type ${expected.kind}): ${error.message} (${summaryOf(body)})`
        : `${found.kind} in version ${goQuote(found.version)} cannot be handled as a ${rules.objectKind(found, expected)}: ${error.message}`,
    )
  }
}

function typesOf(scope: RequestScope): BodyTypes {
  const { typeOfVersion } = scope.resource
  return { own: endpointType(scope), ...(typeOfVersion && { ofVersion: typeOfVersion }) }
}

/** Records the object for audit as the client sent it, with defaults. */
function noted(scope: RequestScope, type: StructType, object: KubeObject): KubeObject {
  const { record } = scope.request
  if (record === undefined) return object
  record.object = { ...object.metadata } // a copy, because later steps change the object's metadata
  // a KubeObject is JSON
  const json = object as unknown as JsonObject
  if (record.wantsRequest)
    record.requestObject = record.bounded(scope.resource.forms.objectText(type, json, { keepEmpty: true }))
  return object
}

const sameVersion = (a: GroupVersionKind, b: GroupVersionKind) => a.group === b.group && a.version === b.version

function checkVersion(found: GroupVersionKind, expected: GroupVersionKind): void {
  if (!sameVersion(found, expected))
    throw badRequest(
      `the API version in the data (${apiVersionOf(found)}) does not match the expected API version (${apiVersionOf(expected)})`,
    )
}

/** @throws DecodeError */
function reportStrict(
  { request }: RequestScope,
  repeated: readonly string[],
  strict: readonly string[],
  fieldValidation: FieldValidation,
): void {
  if (repeated.length + strict.length === 0 || fieldValidation === 'Ignore') return
  if (fieldValidation === 'Warn') append(request.warnings, [...repeated, ...strict])
  else throw new DecodeError(`strict decoding error: ${strictErrors(repeated, strict)}`)
}

/** The first bytes of an unreadable body for the error: text where it is plain, else hex. */
function summaryOf(body: Uint8Array): string {
  const MAX = 30
  if (body.length === 0) return '<empty>'
  const head = body.subarray(0, MAX)
  const more = body.length > MAX ? ' ...' : ''
  // kube-apiserver takes a body with a leading brace for JSON, and prints any other body in hex
  const isJson = new TextDecoder('latin1').decode(body).trimStart().startsWith('{')
  return (isJson ? new TextDecoder().decode(head) : bytesToBase16(head)) + more
}

/** Records a patch for audit in JSON, as the client sent it. */
export async function notePatch(request: ApiRequest, format: BodyFormat, body: Uint8Array): Promise<void> {
  const { record } = request
  if (!record?.wantsRequest) return
  record.isPatch = true
  if (format === 'yaml') await loadYaml()
  try {
    const tree = await finished(request, patchTree(format, body))
    if (tree !== undefined) record.requestObject = record.bounded(stringify(plainJson(tree)))
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof JsonSyntaxError)) throw error // the verb will refuse the patch
  }
}

/** A JSON Patch is a list, so it has no kind. */
function* patchTree(format: BodyFormat, body: Uint8Array): Steps<JsonTree | undefined> {
  return format === 'json' ? yield* parsingJsonBytes(body) : (yield* parsing(format, body)).tree
}

/**
 * Decodes the DeleteOptions in the body of a DELETE, in any API version.
 * @throws StatusError 400
 */
export const decodeDeleteOptions = async (
  request: ApiRequest,
  ...body: Parameters<typeof decodingDeleteOptions>
): Promise<DeleteOptions> => finished(request, decodingDeleteOptions(...body))

function* decodingDeleteOptions(format: BodyFormat, body: Uint8Array): Steps<DeleteOptions> {
  try {
    const parsed = yield* parsing(format, body)
    checkMetaKind(parsed.kind, parsed.apiVersion, body)
    const type = builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions')
    const { object } = yield* inParts(() => parsed.decodeAs(type))
    return object as DeleteOptions
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error
  }
}

const META: GroupVersion = { group: 'meta.k8s.io', version: 'v1' }
const META_VERSION = apiVersionOf(META)

/** Refuses bodies that are not DeleteOptions. Their codec knows only the kinds of meta.k8s.io. @throws DecodeError */
function checkMetaKind(kind: string, sent: string, body: Uint8Array): void {
  const said = saidVersion(sent, META)
  if (said.version === '') throw missingVersion(decodeUtf8(body))
  if (kind === '' || kind === 'DeleteOptions') return
  const apiVersion = apiVersionOf(said)
  const version = unversionedKinds.has(kind) ? 'v1' : ownValue(ownValue(metaKinds, apiVersion), kind)
  throw new DecodeError(
    version === undefined
      ? `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(SCHEME)}`
      : `converting (${version}.${kind}) to (v1.DeleteOptions): unknown conversion`,
  )
}

/** Kinds that are known in every version. */
const unversionedKinds = new Set(
  'Status APIVersions APIGroupList APIGroup APIResourceList CreateOptions UpdateOptions'.split(' '),
)

const tableKinds = { Table: 'v1', TableOptions: 'v1', PartialObjectMetadata: 'v1' }
/** The Go package of each kind, by version of meta.k8s.io. */
const metaKinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [META_VERSION]: {
    ...tableKinds,
    PartialObjectMetadataList: 'v1',
    ListOptions: 'v1',
    GetOptions: 'v1',
    PatchOptions: 'v1',
    WatchEvent: 'v1',
  },
  'meta.k8s.io/v1beta1': { ...tableKinds, PartialObjectMetadataList: 'v1beta1' },
}
