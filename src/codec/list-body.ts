/**
 * Lists, item by item: their head is known first, so that a list of any length passes through in bounded memory. So do
 * those in protobuf, whose lengths come before content, by being read twice. Other forms that need the whole first
 * (indented, YAML, CBOR) are collected.
 */
import { apiVersionOf } from '../api/group-version.ts'
import type { JsonObject } from '../api/object.ts'
import { builtInType } from '../schema/built-in.ts'
import type { ListShape } from '../storage/storage.ts'
import { joined } from './compression.ts'
import { stringify, stringifySorted } from './json.ts'
import { lineBatches } from './line-batches.ts'
import { metaApiVersion } from './partial-object-metadata.ts'
import { Source } from './present.ts'
import type { Presenter } from './present.ts'
import { encodeMessage } from './protobuf.ts'
import { itemHead, listFrame } from './protobuf-envelope.ts'
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

function metadataOf(metadata: ListMetadata): JsonObject {
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
function framed(before: Uint8Array, between: AsyncIterable<Uint8Array>, after: Uint8Array): ReadableStream<Uint8Array> {
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

function kindOfList({ scope, transform }: Presenter): { readonly kind: string; readonly apiVersion: string } {
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

/** What is kept of a list in protobuf until its length is known; of a longer one the rest is encoded twice. */
const MAX_KEPT = 24 * 1024 * 1024
/** A longer one is sent in the pieces in which it was encoded. */
const MAX_WHOLE = 1024 * 1024

/** The values of a list, some at a time, and the same once more. */
export interface ListValues {
  readonly batches: AsyncIterable<readonly Source[]> | Iterable<readonly Source[]>
  /** Absent: everything is kept. */
  readonly again?: () => Promise<AsyncIterable<readonly Source[]>>
  /** Bytes that may be kept. */
  readonly keep?: number
}

/**
 * Lengths come before content, so a list in protobuf begins when all of it was encoded once; what there is no room for
 * is then encoded again.
 * @returns the whole, or a stream of it where that would be too much
 */
export async function listProtobuf(
  presenter: Presenter,
  metadata: ListMetadata,
  { batches, again, keep = MAX_KEPT }: ListValues,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const most = again === undefined ? Infinity : keep
  const kept: Uint8Array[] = []
  let keptCount = 0
  let keptLength = 0
  let length = 0
  for await (const sources of batches) {
    const bytes = itemsProtobuf(presenter, sources)
    length += bytes.length
    if (length > most) continue
    kept.push(bytes)
    keptCount += sources.length
    keptLength = length
  }
  const frame = listFrame(kindOfList(presenter), builtInType(`${META}.ListMeta`), metadataOf(metadata), length)
  if (again === undefined || length === keptLength)
    return length > MAX_WHOLE
      ? framed(frame.head, sent(kept), frame.tail)
      : joined([frame.head, ...kept, frame.tail], frame.length)
  const rest = encodedAgain(presenter, again, keptCount, length - keptLength)
  return framed(frame.head, sent(kept, rest), frame.tail)
}

function itemsProtobuf(presenter: Presenter, sources: readonly Source[]): Uint8Array {
  const parts: Uint8Array[] = []
  let length = 0
  for (const source of sources) {
    const { type, object } = presenter.typed(source)
    if (type === undefined) throw new Error('assertion failed: protobuf of a custom resource')
    const message = encodeMessage(type, object)
    const head = itemHead(message.length)
    parts.push(head, message)
    length += head.length + message.length
  }
  return joined(parts, length)
}

/** Lets go of what was sent. */
async function* sent(kept: Uint8Array[], rest?: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  kept.reverse()
  for (let bytes = kept.pop(); bytes !== undefined; bytes = kept.pop()) yield bytes
  if (rest !== undefined) yield* rest
}

/** @param skipped how many items were sent @param expected bytes: what a version says never changes */
async function* encodedAgain(
  presenter: Presenter,
  again: () => Promise<AsyncIterable<readonly Source[]>>,
  skipped: number,
  expected: number,
): AsyncGenerator<Uint8Array> {
  let toSkip = skipped
  let length = 0
  for await (const sources of await again()) {
    const rest = sources.slice(toSkip)
    toSkip -= sources.length - rest.length
    if (rest.length === 0) continue
    const bytes = itemsProtobuf(presenter, rest)
    length += bytes.length
    yield bytes
  }
  if (length !== expected) throw new Error(`a list was ${expected} bytes long and is ${length} when read again`)
}

/** What storage streams as lines. */
export async function* batchesOf(values: ReadableStream<Uint8Array>): AsyncGenerator<readonly Source[]> {
  for await (const lines of lineBatches(values)) yield lines.map((line) => Source.ofText(line))
}
