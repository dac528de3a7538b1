/** Makes answers: status, headers and body in the negotiated form. */
import { settingsOf } from '../settings.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { kept } from '../base/parts.ts'
import { SLICE } from '../base/slices.ts'
import type { Status } from '../api/status.ts'
import { internalError, notInTime, StatusError } from '../api/status.ts'
import type { EncodedResource } from './encoded-resource.ts'
import { grown } from './encoded-resource.ts'
import { noteFault } from '../request/fault.ts'
import type { ApiRequest } from '../request/context.ts'
import { turnOf, walked } from '../request/turns.ts'
import { builtInType } from '../schema/built-in.ts'
import type { StructType } from '../schema/structural.ts'
import type { ListShape, Revision, StoredValue } from '../storage/storage.ts'
import type { AnswerHeaders } from './negotiation/compression.ts'
import { acceptsGzip, compressible, compressibleStream } from './negotiation/compression.ts'
import { collected, isStreamable, listStream, listWhole } from './encode/list-body.ts'
import type { AnswerUse } from './encode/answer-use.ts'
import type { Failed } from './encode/list-body.ts'
import type { ListMetadata } from './encode/list-form.ts'
import { mediaTypes, negotiateError, streamTypes } from './negotiation/negotiate.ts'
import type { OutputNegotiation } from './negotiation/negotiate.ts'
import { partialObjectMetadataText } from './encode/partial-object-metadata.ts'
import { cutsMetadata, identityText, passesText, Presenter, Source } from './encode/present.ts'
import { encodedItems, encodedLines, listProtobuf } from './protobuf/list.ts'
import type { EncodedList } from './protobuf/list.ts'
import { encodeJson } from './encode/encode.ts'
import { isBinary, serializeText, serializeTyped } from './encode/serialize.ts'
import type { Body, Form } from './encode/serialize.ts'
import { decorated, decoratedText } from './encode/decorate.ts'
import { warningHeaders } from './negotiation/warnings.ts'

/** Headers of API answers that are the same for every request. */
export const answerHeaders = (contentType: string): AnswerHeaders => ({
  'Cache-Control': 'no-cache, private',
  'Content-Type': contentType,
})

/**
 * Marks answers that already have all headers. Adding a header later is slow, because the engine then makes a Headers
 * object.
 */
const FINISHED = Symbol('finished')
type Answer = Response & { [FINISHED]?: boolean }

/** Whether an answer already has all headers, and no Content-Length. Reading its headers instead would be slow. */
export const isFinished = (response: Answer): boolean => response[FINISHED] === true

/** Adds the headers that depend on the request, where an answer lacks them. */
export function finish({ answerHeaders, warnings }: ApiRequest, response: Answer): void {
  if (!isFinished(response))
    for (const [name, value] of Object.entries(answerHeaders)) response.headers.set(name, value)
  for (const warning of warningHeaders(warnings)) response.headers.append('Warning', warning)
}

function respond(request: ApiRequest, { serialization }: Form, status: number, body: Body): Response {
  const headers = { ...request.answerHeaders, ...answerHeaders(mediaTypes[serialization]) }
  const response: Answer = compressible(status, headers, body, acceptsGzip(request.headers))
  response[FINISHED] = true
  return response
}

/** The request and the resource of an answer. A ResourceScope is one. */
export interface Answering {
  readonly request: ApiRequest
  readonly resource: EncodedResource
}

const failing =
  (request: ApiRequest): Failed =>
  (error) =>
    noteFault('list', error, request)

const sourceOf = (resource: EncodedResource, object: KubeObject | StoredValue): Source =>
  'text' in object ? Source.ofText(decoratedText(resource, object.text)) : Source.ofObject(decorated(resource, object))

/** Answers with one object from storage or from a write, in the storage version. */
export function respondObject(
  { request, resource }: Answering,
  output: OutputNegotiation,
  status: number,
  object: KubeObject | StoredValue,
): Response {
  const presenter = kept(object, () => new Presenter(resource, output))
  presenter.checkObject()
  const source = kept(object, () => sourceOf(resource, object))
  const { serialization } = output
  const { record } = request
  if (record?.wantsResponse) record.responseObject = record.bounded(presenter.json(source, request.now))
  const body = isBinary(serialization)
    ? presenter.bytes(serialization, source)
    : serializeText(
        output,
        kept(source, () => presenter.json(source, request.now)),
        source,
      )
  return respond(request, output, status, body)
}

/** Whether the answer is the stored text without a change. */
export const isPassedOn = (
  resource: EncodedResource,
  { serialization, transform, pretty }: OutputNegotiation,
): boolean => serialization === 'json' && !pretty && transform === undefined && passesText(resource)

/** Estimates the time of an answer, as the length in UTF-16 units of a plain object that takes the same time. */
export const weightOfAnswer = (resource: EncodedResource, { transform }: OutputNegotiation, length: number): number =>
  grown(
    resource,
    transform?.kind === 'Table' ? (resource.forms.tableLayout(resource).printer.weight?.(length) ?? length) : length,
  )

/**
 * Answers with an object of no resource, like a review or a Binding. It needs no conversion and no transform.
 * @param object has kind and apiVersion
 */
export function respondTyped(
  request: ApiRequest,
  output: Form,
  status: number,
  type: StructType,
  object: KubeObject | JsonObject,
): Response {
  // any object is JSON
  const json = object as unknown as JsonObject
  const { record } = request
  if (record?.wantsResponse) record.responseObject = record.bounded(encodeJson(type, json, { keepEmpty: true }))
  return respond(request, output, status, serializeTyped(output, type, json, { keepEmpty: true }))
}

const statusType = (): StructType => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.Status')

/** Answers with a Status of success, which is never a Table or PartialObjectMetadata. */
export const respondSuccess = (
  { request }: Pick<Answering, 'request'>,
  output: Form,
  status: Status,
  code = 200,
): Response => {
  noteStatus(request, status)
  return respondTyped(request, output, code, statusType(), status as unknown as JsonObject)
}

function noteStatus({ record }: ApiRequest, status: Status): void {
  if (record === undefined) return
  record.status = status
  if (record.wantsResponse) record.responseObject = record.bounded(JSON.stringify(status))
}

/** Turns any error into an answer. Errors that are the server's fault are logged. */
export async function respondStatus(request: ApiRequest, error: unknown): Promise<Response> {
  const { code, status, headers: more, maker = request.stage.maker } = asStatusError(request, error)
  noteStatus(request, status)
  if (maker === 'timeout') return respondLate(request)
  const form = negotiateError(request, maker) ?? { serialization: 'json', pretty: true }
  const isLarge = (status.details?.causes?.length ?? 0) > SLICE
  const body = await walked({ isLarge }, () => serializeTyped(form, statusType(), status as unknown as JsonObject))
  const { retryAfterSeconds } = status.details ?? {}
  const headers = {
    ...request.answerHeaders,
    ...answerHeaders(mediaTypes[form.serialization]),
    ...(retryAfterSeconds ? { 'Retry-After': String(retryAfterSeconds) } : {}),
    ...more,
  }
  const response: Answer = new Response(code === 204 ? null : body, { ...stated(code), headers })
  response[FINISHED] = true
  return response
}

/**
 * The answer to a request whose time is over. It is not negotiated, and has no header of a step that may still be at
 * work.
 */
export function respondLate({ auditId }: ApiRequest): Response {
  const { code, status: all } = notInTime()
  const { kind: _kind, apiVersion: _version, ...status } = all
  const headers = { ...answerHeaders('text/plain; charset=utf-8'), 'Audit-Id': auditId }
  const response: Answer = new Response(`${JSON.stringify(status)}\n`, { status: code, headers })
  response[FINISHED] = true
  return response
}

/** The highest status of a Worker's answer. */
const MAX_STATUS = 599

/**
 * A webhook may deny a request with a status above MAX_STATUS. The front of a local server reads it from the reason
 * phrase (cli/front/stated-status.ts), which no other code writes. Other platforms pass no reason phrase on.
 */
const stated = (code: number): ResponseInit =>
  code > MAX_STATUS ? { status: 500, statusText: String(code) } : { status: code }

function asStatusError(request: ApiRequest, error: unknown): StatusError {
  if (error instanceof StatusError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (request.record !== undefined) request.record.panic = message
  const { stage, user } = request
  noteFault('request', error, { ...request, user: stage.user ?? user })
  return internalError(message)
}

export interface ListFacts {
  /** Absent: the list does not come from storage. */
  readonly revision?: Revision
  readonly continueToken?: string
  readonly remaining?: number
}

const metadataOf = ({ revision, continueToken, remaining }: ListFacts): ListMetadata => ({
  ...(revision === undefined ? {} : { resourceVersion: String(revision) }),
  ...(continueToken === undefined ? {} : { continue: continueToken }),
  ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
})

/** The form in which storage should send the values of a list, so that the codec has little work. */
export function listShape(resource: EncodedResource, output: OutputNegotiation): ListShape {
  const { transform } = output
  if (output.serialization !== 'json' || !passesText(resource)) return { as: 'lines' }
  const identity = identityText(resource)
  if (transform === undefined && resource.strategy.decorator !== undefined) return { as: 'lines' }
  if (transform === undefined)
    return resource.forms.itemsHaveKind ? { as: 'items' } : { as: 'items', without: identity }
  if (transform.kind !== 'PartialObjectMetadataList' || !cutsMetadata(resource)) return { as: 'lines' }
  const [head = '', tail = ''] = partialObjectMetadataText('\n', transform.version).split('\n')
  return { as: 'members', before: `${identity}"metadata":`, head, tail }
}

/** Answers with a list from storage. `shape` is the result of listShape. */
export async function respondList(
  { request, resource }: Answering,
  output: OutputNegotiation,
  list: ListFacts & {
    readonly isEmpty: boolean
    /** Streaming CBOR needs the count. */
    readonly count?: number | undefined
    readonly values: ReadableStream<Uint8Array>
    readonly shape?: ListShape
    /** Reads the same values a second time, for forms that begin with their length. */
    readonly again?: () => Promise<ReadableStream<Uint8Array>>
    /** Ends with the answer. */
    readonly use: AnswerUse
  },
): Promise<Response> {
  const reading = output.transform?.kind === 'Table' ? resource.forms.readTableLayout?.(resource) : undefined
  if (reading !== undefined) await reading
  const presenter = new Presenter(resource, output, () => turnOf(request))
  const metadata = metadataOf(list)
  try {
    presenter.checkList()
  } catch (error) {
    await list.values.cancel()
    throw error
  }
  const { serialization } = output
  const { again, use } = list
  const values = await noteList({ request, resource }, output, metadata, list)
  if (serialization === 'protobuf')
    return respondProtobuf(request, presenter, metadata, {
      items: encodedLines(presenter, values),
      use,
      ...(again === undefined ? {} : { again: async (skipped) => encodedLines(presenter, await again(), skipped) }),
    })
  if (list.isEmpty || !isStreamable(presenter, list.count)) {
    const whole = await listWhole(presenter, metadata, await collected(values), request.now)
    use.ended()
    return respond(request, output, 200, whole)
  }
  const stream = { as: list.shape?.as ?? 'lines', values, count: list.count }
  return compressibleStream(
    200,
    answerHeaders(mediaTypes[serialization]),
    listStream(presenter, metadata, stream, request.now, failing(request), use),
    acceptsGzip(request.headers),
  )
}

/** Copies the values for the audit log, which gets JSON in any case. @returns the values for the client */
async function noteList(
  { request, resource }: Answering,
  output: OutputNegotiation,
  metadata: ListMetadata,
  list: { readonly values: ReadableStream<Uint8Array>; readonly shape?: ListShape },
): Promise<ReadableStream<Uint8Array>> {
  const { record, now } = request
  if (!record?.wantsResponse) return list.values
  const [values, copy] = list.values.tee()
  const presenter = new Presenter(resource, { ...output, serialization: 'json', pretty: false }, () => turnOf(request))
  const read = { as: list.shape?.as ?? 'lines', values: copy, count: undefined }
  record.responseObject = isStreamable(presenter, undefined)
    ? record.collected(listStream(presenter, metadata, read, now, failing(request)))
    : collected(copy)
        .then((sources) => listWhole(presenter, metadata, sources, now))
        .then((body) => record.bounded(textOf(body)))
  return values
}

const textOf = (body: Body): string => (typeof body === 'string' ? body : new TextDecoder().decode(body))

/** Answers with a list of objects in memory, or of their texts, in the storage version. */
export async function respondItems(
  { request, resource }: Answering,
  output: OutputNegotiation,
  list: ListFacts & {
    readonly items: readonly (KubeObject | StoredValue)[]
    /** Ends with the answer. */
    readonly use: AnswerUse
  },
): Promise<Response> {
  const presenter = new Presenter(resource, output, () => turnOf(request))
  presenter.checkList()
  const sources = list.items.map((item) => sourceOf(resource, item))
  const { serialization } = output
  const metadata = metadataOf(list)
  const { record, now } = request
  if (record?.wantsResponse) {
    const asJson = new Presenter(resource, { ...output, serialization: 'json', pretty: false }, presenter.turn)
    record.responseObject = record.bounded(textOf(await listWhole(asJson, metadata, sources, now)))
  }
  if (serialization === 'protobuf')
    return respondProtobuf(request, presenter, metadata, { items: encodedItems(presenter, sources), use: list.use })
  const whole = await listWhole(presenter, metadata, sources, request.now)
  list.use.ended()
  return respond(request, output, 200, whole)
}

async function respondProtobuf(
  request: ApiRequest,
  presenter: Presenter,
  metadata: ListMetadata,
  list: EncodedList,
): Promise<Response> {
  const { output } = presenter
  const body = await listProtobuf(presenter, metadata, list, failing(request))
  if (body instanceof Uint8Array) return respond(request, output, 200, body)
  return compressibleStream(200, answerHeaders(mediaTypes[output.serialization]), body, acceptsGzip(request.headers))
}

/** A setting keeps the platform from compressing a watch, which would delay events. */
export function watchHeaders(
  { request }: Pick<Answering, 'request'>,
  { serialization }: OutputNegotiation,
): AnswerHeaders {
  const { streamEncoding } = settingsOf(request.env)
  return {
    ...answerHeaders(streamTypes[serialization]!),
    ...(streamEncoding === '' ? {} : { 'Content-Encoding': streamEncoding }),
  }
}
