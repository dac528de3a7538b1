/**
 * Lists in protobuf. The length comes before the content, so all items must be encoded before the first byte is sent.
 * The encoded items are kept as long as there is room (kept-items.ts); those beyond it are read and encoded a second time.
 */
import type { AnswerUse } from '../encode/answer-use.ts'
import { flatMapParts } from '../../base/parts.ts'
import { builtInType } from '../../schema/built-in.ts'
import type { StructType } from '../../schema/structural.ts'
import { joined } from '../../base/bytes.ts'
import { lineBatches, wholeLines } from '../../storage/streams/lines.ts'
import type { KeptItems, KeptList } from './kept-items.ts'
import { keptItems, OWN } from './kept-items.ts'
import { framed, itemsInTurns } from '../encode/list-body.ts'
import type { Failed } from '../encode/list-body.ts'
import { kindOfList, metadataOf } from '../encode/list-form.ts'
import type { ListMetadata } from '../encode/list-form.ts'
import { Source } from '../encode/present.ts'
import type { Presenter } from '../encode/present.ts'
import { encodeMessageInParts } from './encode-parts.ts'
import { itemHead, listFrame } from './envelope.ts'
import { transcodeItems } from './transcoder.ts'

/** A longer list is sent in the pieces in which it was encoded. */
const MAX_WHOLE = OWN

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
  /** Where lists are kept. */
  readonly kept?: KeptItems
  readonly use?: AnswerUse | undefined
}

/** @returns the whole, or a stream where the whole would be too large */
export async function listProtobuf(
  presenter: Presenter,
  metadata: ListMetadata,
  { items, again, kept: room = keptItems, use }: EncodedList,
  failed: Failed,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const share = room.begin()
  try {
    const { kept, count, length, left } = await encodedOnce(items, again === undefined ? undefined : share)
    const frame = listFrame(kindOfList(presenter), listMetaType(), metadataOf(metadata), length)
    const rest = again === undefined || left === 0 ? undefined : checked(again, count, left)
    if (rest === undefined && length <= MAX_WHOLE) {
      share.leave()
      use?.ended()
      return joined([frame.head, ...kept, frame.tail], frame.length)
    }
    return framed(
      failed,
      frame.head,
      () => sent(kept, share, rest),
      () => frame.tail,
      {
        onBroken: (work) => use?.onBroken(work),
        ended() {
          share.leave()
          use?.ended()
        },
      },
    )
  } catch (error) {
    share.leave()
    throw error
  }
}

/**
 * @param share may refuse to keep more; absent where everything is kept
 * @returns the first items, how many they are, and how many bytes the others have
 */
async function encodedOnce(items: AsyncIterable<EncodedItems>, share: KeptList | undefined) {
  const kept: Uint8Array[] = []
  let count = 0
  let length = 0
  let left = 0
  for await (const one of items) {
    length += one.bytes.length
    if (left > 0 || share?.take(one.bytes.length) === false) left += one.bytes.length
    else {
      if (one.bytes.length > 0) kept.push(one.bytes)
      count += one.count
    }
  }
  return { kept, count, length, left }
}

/** Sends kept items, and frees each after it was sent. */
async function* sent(
  kept: Uint8Array[],
  share: KeptList,
  rest?: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  kept.reverse()
  for (let bytes = kept.pop(); bytes !== undefined; bytes = kept.pop()) yield bytes
  share.leave()
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
  else {
    let isFirst = true
    for await (const lines of wholeLines(values)) {
      // what a shard has sent may all be there, so that nothing else waits
      if (!isFirst) await presenter.turn()
      isFirst = false
      const items = transcodeItems(type, lines, toSkip)
      toSkip = Math.max(0, toSkip - items.count)
      yield items
    }
  }
}

/** Encodes objects in memory. */
export const encodedItems = (presenter: Presenter, sources: readonly Source[]): AsyncGenerator<EncodedItems> =>
  itemsInTurns(sources, (slice) => ({ bytes: encodedSources(presenter, slice), count: slice.length }), presenter)

function encodedSources(presenter: Presenter, sources: readonly Source[]): Uint8Array {
  const parts = flatMapParts(sources, (source) => {
    const { type, object } = presenter.typed(source)
    if (type === undefined) throw new Error('assertion failed: protobuf of a custom resource')
    const message = encodeMessageInParts(type, object)
    return [itemHead(message.length), message]
  })
  return joined(parts)
}
