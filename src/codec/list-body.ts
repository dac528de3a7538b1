/**
 * Lists, item by item: their head is known first, so that a list of any length passes through in bounded memory. Forms
 * that need the whole first (indented, YAML, CBOR) are collected; protobuf-list.ts has those in protobuf.
 */
import { apiVersionOf } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import { builtInType } from '../schema/built-in.ts'
import type { ListShape } from '../storage/storage.ts'
import { stringify, stringifySorted } from './json.ts'
import { lineBatches } from './line-batches.ts'
import { metaApiVersion } from './partial-object-metadata.ts'
import { Source } from './present.ts'
import type { Presenter } from './present.ts'
import { serializeBinary } from './serialize.ts'

export interface ListMetadata {
  /** Absent: the list is not of storage. */
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** Text around the items of a list in JSON. */
interface Frame {
  readonly head: string
  readonly item: (source: Source) => string
  readonly tail: string
  /** What stands in place of all of it when there are no items, between head and tail. */
  readonly empty: string
}

/** Metadata as it is written. */
export function metadataOf(metadata: ListMetadata): JsonObject {
  return {
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
    ...(metadata.continue ? { continue: metadata.continue } : {}),
    ...(metadata.remainingItemCount ? { remainingItemCount: metadata.remainingItemCount } : {}),
  }
}

function frameOf(presenter: Presenter, metadata: ListMetadata, now: Date): Frame {
  const { transform } = presenter
  const meta = metadataOf(metadata)
  switch (transform?.kind) {
    case undefined:
      return { ...objectFrame(presenter, meta), item: (source) => presenter.item(source), empty: '[]' }
    case 'Table':
      return {
        head: presenter.tableHead(meta),
        item: (source) => presenter.row(source, now),
        tail: '}',
        empty: presenter.layout!.isDefault ? 'null' : '[]',
      }
    default: {
      const { version } = transform!
      return {
        head: `{"kind":"PartialObjectMetadataList","apiVersion":"${metaApiVersion(version)}","metadata":${stringify(meta)},"items":`,
        item: (source) => presenter.metadataText(source, version),
        tail: '}',
        empty: 'null',
      }
    }
  }
}

/** Members of lists of custom resources are sorted; `continue` is always one of them. */
function objectFrame({ scope }: Presenter, metadata: JsonObject): { head: string; tail: string } {
  const { entry, kind, custom } = scope
  const apiVersion = apiVersionOf(kind)
  if (!custom)
    return {
      head: `{"kind":"${entry.listKind}","apiVersion":"${apiVersion}","metadata":${stringify(metadata)},"items":`,
      tail: '}',
    }
  const sorted = stringifySorted({ continue: '', ...metadata })
  return { head: `{"apiVersion":"${apiVersion}","items":`, tail: `,"kind":"${entry.listKind}","metadata":${sorted}}` }
}

const encoder = new TextEncoder()

/** The whole list as compact JSON. */
export function listText(presenter: Presenter, metadata: ListMetadata, sources: readonly Source[], now: Date): string {
  const { head, item, tail, empty } = frameOf(presenter, metadata, now)
  const list = sources.length === 0 ? empty : `[${ordered(presenter, sources).map(item).join(',')}]`
  return `${head}${list}${tail}`
}

function ordered({ layout }: Presenter, sources: readonly Source[]): readonly Source[] {
  const order = layout?.printer.order
  return order === undefined ? sources : sources.toSorted((a, b) => order(a.object, b.object))
}

/** `as`: texts of the objects, or elements as they are to be written. */
export interface ListStream {
  readonly as: ListShape['as']
  readonly values: ReadableStream<Uint8Array>
  readonly isEmpty: boolean
}

/** Whether a list can be sent before its last item is known. */
export const isStreamable = ({ output, layout }: Presenter): boolean =>
  output.serialization === 'json' && !output.pretty && layout?.printer.order === undefined

/** Compact JSON with its final newline. */
export function listStream(
  presenter: Presenter,
  metadata: ListMetadata,
  { as, values, isEmpty }: ListStream,
  now: Date,
): ReadableStream<Uint8Array> {
  const { head, item, tail, empty } = frameOf(presenter, metadata, now)
  const before = encoder.encode(isEmpty ? `${head}${empty}` : `${head}[`)
  const after = encoder.encode(isEmpty ? `${tail}\n` : `]${tail}\n`)
  if (as !== 'lines' && !isEmpty) return passed(before, values, after)
  return framed(before, isEmpty ? nothing(values) : itemChunks(values, item), after)
}

/** Bytes that are right as they come never pass through JavaScript: the engine moves them from one stream to the other. */
function passed(before: Uint8Array, values: ReadableStream<Uint8Array>, after: Uint8Array): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  const pass = async (): Promise<void> => {
    await writeTo(writable, before)
    await values.pipeTo(writable, { preventClose: true })
    await writeTo(writable, after)
    await writable.close()
  }
  // a client that went away ends both streams; a shard that broke off must not look like an end
  pass().catch((error: unknown) => writable.abort(error).catch(() => {}))
  return readable
}

async function writeTo(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  writer.releaseLock()
}

async function* nothing(values: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  await values.cancel()
}

async function* itemChunks(values: ReadableStream<Uint8Array>, item: (source: Source) => string) {
  let separator = ''
  for await (const lines of lineBatches(values)) {
    yield encoder.encode(separator + lines.map((line) => item(Source.ofText(line))).join(','))
    separator = ','
  }
}

/** A stream that asks for a chunk when one was taken. */
export function framed(
  before: Uint8Array,
  between: AsyncIterable<Uint8Array>,
  after: Uint8Array,
): ReadableStream<Uint8Array> {
  const chunks = (async function* () {
    yield before
    yield* between
    yield after
  })()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return()
    },
  })
}

export async function collected(values: ReadableStream<Uint8Array>): Promise<Source[]> {
  const sources: Source[] = []
  for await (const lines of lineBatches(values)) for (const line of lines) sources.push(Source.ofText(line))
  return sources
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** What a list says it is. */
export function kindOfList({ scope, transform }: Presenter): { readonly kind: string; readonly apiVersion: string } {
  return transform === undefined
    ? { kind: scope.entry.listKind, apiVersion: apiVersionOf(scope.kind) }
    : { kind: 'PartialObjectMetadataList', apiVersion: metaApiVersion(transform.version) }
}

/** The whole list in CBOR. */
export function listCbor(presenter: Presenter, metadata: ListMetadata, sources: readonly Source[]): Uint8Array {
  const { scope, transform } = presenter
  const kind = kindOfList(presenter)
  const meta = metadataOf(metadata)
  const items = sources.map((source) => presenter.typed(source).object)
  const isUntyped = scope.custom && transform === undefined
  if (isUntyped) return serializeBinary('cbor', undefined, { ...kind, metadata: { continue: '', ...meta }, items })
  const type = transform === undefined ? `${scope.entry.type}List` : `${META}.PartialObjectMetadataList`
  const bare = transform === undefined ? items.map(({ kind: _, apiVersion: __, ...item }) => item) : items
  return serializeBinary('cbor', builtInType(type), { ...kind, metadata: meta, items: bare }, { keepEmpty: true })
}
