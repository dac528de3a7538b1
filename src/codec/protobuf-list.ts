/**
 * Lists in protobuf. The length comes before the content, so all items must be encoded before the first byte is sent.
 * The encoded items are kept up to a bound; those beyond it are read and encoded a second time.
 */
import { flatMapParts } from '../api/parts.ts'
import { builtInType } from '../schema/built-in.ts'
import type { StructType } from '../schema/structural.ts'
import { joined } from '../api/bytes.ts'
import { lineBatches, wholeLines } from '../storage/lines.ts'
import { framed, itemsInTurns } from './list-body.ts'
import type { Failed } from './list-body.ts'
import { kindOfList, metadataOf } from './list-form.ts'
import type { ListMetadata } from './list-form.ts'
import { Source } from './present.ts'
import type { Presenter } from './present.ts'
import { encodeMessageInParts } from './protobuf-encode-parts.ts'
import { itemHead, listFrame } from './protobuf-envelope.ts'
import { transcodeItems } from './protobuf-transcoder.ts'

/** The most bytes of encoded items that are kept until the length of the list is known. */
const MAX_KEPT = 24 * 1024 * 1024
/** A longer list is sent in the pieces in which it was encoded. */
const MAX_WHOLE = 1024 * 1024

const listMetaType = (): StructType => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta')

const NOTHING = new Uint8Array()

/** Some items, one behind the other, each with its tag and length. */
export interface EncodedItems {
  readonly bytes: Uint8Array
  /** The number of items, including skipped ones. */
  readonly count: number
}

export interface EncodedList {
  readonly items: AsyncIterable<EncodedItems>
  /** The items again, without the first ones. Absent where everything is kept. */
  readonly again?: (skipped: number) => Promise<AsyncIterable<EncodedItems>>
  /** Bytes that may be kept. */
  readonly keep?: number
}

/** @returns the whole, or a stream where the whole would be too large */
export async function listProtobuf(
  presenter: Presenter,
  metadata: ListMetadata,
  { items, again, keep = MAX_KEPT }: EncodedList,
  failed: Failed,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const most = again === undefined ? Infinity : keep
  const kept: Uint8Array[] = []
  let keptCount = 0
  let keptLength = 0
  let length = 0
  for await (const { bytes, count } of items) {
    length += bytes.length
    if (length > most) continue
    if (bytes.length > 0) kept.push(bytes)
    keptCount += count
    keptLength = length
  }
  const frame = listFrame(kindOfList(presenter), listMetaType(), metadataOf(metadata), length)
  if (again === undefined || length === keptLength)
    return length > MAX_WHOLE
      ? framed(
          failed,
          frame.head,
          () => sent(kept),
          () => frame.tail,
        )
      : joined([frame.head, ...kept, frame.tail], frame.length)
  const rest = checked(again, keptCount, length - keptLength)
  return framed(
    failed,
    frame.head,
    () => sent(kept, rest),
    () => frame.tail,
  )
}

/** Sends kept items, and frees each after it was sent. */
async function* sent(kept: Uint8Array[], rest?: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  kept.reverse()
  for (let bytes = kept.pop(); bytes !== undefined; bytes = kept.pop()) yield bytes
  if (rest !== undefined) yield* rest
}

/** @param expected bytes; the items at one resourceVersion never change */
async function* checked(
  again: NonNullable<EncodedList['again']>,
  skipped: number,
  expected: number,
): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const { bytes } of await again(skipped)) {
    length += bytes.length
    if (bytes.length > 0) yield bytes
  }
  if (length !== expected) throw new Error(`a list was ${expected} bytes long and is ${length} when read again`)
}

/**
 * The lines that storage streams.
 * @param skipped the number of lines to skip
 */
export async function* encodedLines(
  presenter: Presenter,
  values: ReadableStream<Uint8Array>,
  skipped = 0,
): AsyncGenerator<EncodedItems> {
  const type = presenter.transcoded
  let toSkip = skipped
  if (type === undefined)
    for await (const lines of lineBatches(values)) {
      const rest = lines.slice(toSkip).map((line) => Source.ofText(line))
      toSkip -= lines.length - rest.length
      if (rest.length < lines.length) yield { bytes: NOTHING, count: lines.length - rest.length }
      yield* encodedItems(presenter, rest)
    }
  else
    for await (const lines of wholeLines(values)) {
      const items = transcodeItems(type, lines, toSkip)
      toSkip = Math.max(0, toSkip - items.count)
      yield items
    }
}

/** Encodes objects in memory. */
export const encodedItems = (presenter: Presenter, sources: readonly Source[]): AsyncGenerator<EncodedItems> =>
  itemsInTurns(sources, (slice) => ({ bytes: encodedSources(presenter, slice), count: slice.length }))

function encodedSources(presenter: Presenter, sources: readonly Source[]): Uint8Array {
  const parts = flatMapParts(sources, (source) => {
    const { type, object } = presenter.typed(source)
    if (type === undefined) throw new Error('assertion failed: protobuf of a custom resource')
    const message = encodeMessageInParts(type, object)
    return [itemHead(message.length), message]
  })
  return joined(parts)
}
