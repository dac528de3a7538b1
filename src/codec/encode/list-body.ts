/**
 * Writes lists item by item, so that a list of any length takes bounded memory. It collects all items only for tables
 * whose printer sorts the rows. protobuf/list.ts writes lists in protobuf.
 */
import { largeItems } from '../../base/few-at-once.ts'
import { inPartsAwaiting } from '../../base/parts.ts'
import { LARGE, slicesByLength } from '../../base/slices.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ListShape } from '../../storage/storage.ts'
import { byteChunks } from '../../storage/streams/byte-chunks.ts'
import { ClientGone, turnUnlessGone } from '../../base/client-gone.ts'
import { append } from '../../base/append.ts'
import { joined } from '../../base/bytes.ts'
import { lineBatches } from '../../storage/streams/lines.ts'
import type { AnswerUse } from './answer-use.ts'
import type { ListForm, ListMetadata } from './list-form.ts'
import { listForm } from './list-form.ts'
import { Source } from './present.ts'
import type { Presenter } from './present.ts'

/** The values of a list from storage. `as` says whether they are texts of objects or elements of the answer. */
export interface ListStream {
  readonly as: ListShape['as']
  readonly values: ReadableStream<Uint8Array>
  readonly count: number | undefined
}

/** The callback for an error within a list. The client's stream breaks off, too. */
export type Failed = (error: unknown) => void

/** Why a list breaks off that has to make room. */
const BROKEN = 'the list makes room for others'

/** Whether a list can be sent before all of its items are known. @param count the number of items, if known */
export const isStreamable = ({ layout, output }: Presenter, count: number | undefined): boolean =>
  layout?.printer.order === undefined && (count !== undefined || output.serialization !== 'cbor')

/** Streams a list with at least one item. */
export function listStream(
  presenter: Presenter,
  metadata: ListMetadata,
  { as, values, count }: ListStream,
  now: Date,
  failed: Failed,
  use?: AnswerUse,
): ReadableStream<Uint8Array> {
  const form = listForm(presenter, metadata, count, now)
  if (as === 'lines')
    return framed(failed, form.head(), (hasGone) => itemChunks(values, form, presenter, hasGone), form.tail, use)
  if (form.elements === undefined) return passed(failed, form.head(), values, form.tail(), use)
  const { elements } = form
  return framed(failed, form.head(), () => elementChunks(values, elements, presenter.turn), form.tail, use)
}

/** Makes a list in one piece. */
export async function listWhole(
  presenter: Presenter,
  metadata: ListMetadata,
  sources: readonly Source[],
  now: Date,
): Promise<Uint8Array> {
  const form = listForm(presenter, metadata, sources.length, now)
  if (sources.length === 0) return form.empty()
  const parts = [form.head()]
  for await (const items of itemsInTurns(await ordered(presenter, sources), form.items, presenter)) parts.push(items)
  parts.push(form.tail())
  return joined(
    parts,
    parts.reduce((length, part) => length + part.length, 0),
  )
}

async function ordered(presenter: Presenter, sources: readonly Source[]): Promise<readonly Source[]> {
  const order = presenter.layout?.printer.order
  if (order === undefined) return sources
  const objects: { readonly source: Source; readonly object: KubeObject }[] = []
  // this parses the objects
  const parsed = (slice: readonly Source[]) => slice.map((source) => ({ source, object: source.object }))
  for await (const made of itemsInTurns(sources, parsed, { turn: presenter.turn })) append(objects, made)
  return objects.sort((a, b) => order(a.object, b.object)).map(({ source }) => source)
}

/** Sends the bytes of storage unchanged. The engine pipes them from one stream to the other without JavaScript. */
function passed(
  failed: Failed,
  before: Uint8Array,
  values: ReadableStream<Uint8Array>,
  after: Uint8Array,
  use?: AnswerUse,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  const breaking = new AbortController()
  use?.onBroken(() => breaking.abort(new ClientGone(BROKEN)))
  const pass = async (): Promise<void> => {
    await writeTo(writable, before)
    await values.pipeTo(writable, { preventClose: true, preventAbort: true, signal: breaking.signal })
    await writeTo(writable, after)
    await writable.close()
  }
  // both streams end where the client disconnects; where a shard fails, the answer must not look complete
  void pass()
    .catch((error: unknown) => {
      if (!breaking.signal.aborted && !isErrored(writable)) failed(error)
      void writable.abort(error).catch(() => {})
    })
    .finally(() => use?.ended())
  return readable
}

/** Whether the client has disconnected. */
function isErrored(writable: WritableStream<Uint8Array>): boolean {
  // a write that ended because the client has gone keeps its lock; a pipe whose source fails does not
  if (writable.locked) return true
  const writer = writable.getWriter()
  const { desiredSize } = writer
  writer.releaseLock()
  return desiredSize === null
}

async function writeTo(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter()
  await writer.write(bytes)
  writer.releaseLock()
}

async function* itemChunks(
  values: ReadableStream<Uint8Array>,
  form: ListForm,
  pace: Pace,
  hasGone: HasGone,
): AsyncGenerator<Uint8Array> {
  for await (const lines of lineBatches(values))
    yield* itemsInTurns(
      lines.map((line) => Source.ofText(line)),
      form.items,
      pace,
      hasGone,
    )
}

/** Whether the client of a list has gone, who then needs no further items. */
type HasGone = () => boolean

/** Estimates the time for an object of a length, as the length of a plain object that takes the same time. */
type Weigh = (length: number) => number

interface Pace {
  /** Absent: as long as it is. */
  readonly weigh?: Weigh
  /** Resolves when it is the list's turn to go on. */
  readonly turn: () => Promise<void>
}

/** UTF-16 units of the items of one slice. In YAML, the slowest form, they take some twenty milliseconds. */
const ITEMS_AT_ONCE = 128 * 1024

/**
 * Makes items in slices, between which other requests have their turn. A large item is a slice of its own, made in
 * parts.
 */
export async function* itemsInTurns<Made>(
  sources: readonly Source[],
  make: (slice: readonly Source[]) => Made,
  { weigh = (length) => length, turn }: Pace,
  hasGone?: HasGone,
): AsyncGenerator<Made> {
  if (sources.length === 0) return
  let isFirst = true
  const weightOf = (source: Source): number => weigh(lengthOf(source))
  for (const slice of slicesByLength(sources, weightOf, ITEMS_AT_ONCE)) {
    const weight = slice.length === 1 ? weightOf(slice[0]!) : 0
    if (weight > LARGE) {
      const made = await largeItems.run(
        weight,
        () => inPartsAwaiting(() => make(slice), turnUnlessGone(hasGone, turn)),
        hasGone,
      )
      slice[0]!.forget()
      yield made
    } else {
      if (!isFirst) await turn()
      yield make(slice)
    }
    isFirst = false
  }
}

/** Sources without text come from another server or from settings, and are small. */
const lengthOf = ({ text }: Source): number => text?.length ?? 0

/** Bytes of one slice of elements. */
const AT_ONCE = 64 * 1024

async function* elementChunks(
  values: ReadableStream<Uint8Array>,
  written: (bytes: Uint8Array) => Uint8Array,
  turn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of byteChunks(values))
    for (let at = 0; at < chunk.length; at += AT_ONCE) {
      if (at > 0) await turn()
      yield written(chunk.subarray(at, at + AT_ONCE))
    }
}

/**
 * Bytes of a chunk. The engine takes some sixteen chunks ahead of the client, however long they are, and holds a copy of
 * each.
 */
const CHUNK_BYTES = 16 * 1024

/** A stream that makes each part when the client has read the one before. */
export function framed(
  failed: Failed,
  before: Uint8Array,
  between: (hasGone: HasGone) => AsyncIterable<Uint8Array>,
  after: () => Uint8Array,
  use?: AnswerUse,
): ReadableStream<Uint8Array> {
  let isGone = false
  const chunks = (async function* () {
    yield before
    yield* between(() => isGone)
    yield after()
  })()
  /** What was made, and is yet to be sent. */
  let left: Uint8Array = NOTHING
  const ended = (): void => use?.ended()
  return new ReadableStream({
    start(controller) {
      use?.onBroken(() => {
        if (isGone) return
        isGone = true
        left = NOTHING
        controller.error(new ClientGone(BROKEN))
        void chunks.return()
      })
    },
    async pull(controller) {
      try {
        let isDone = false
        while (left.length === 0 && !isDone) {
          const { done, value } = await chunks.next()
          isDone = done === true
          if (value !== undefined) left = value
        }
        if (!isDone) {
          controller.enqueue(left.subarray(0, CHUNK_BYTES))
          left = left.length > CHUNK_BYTES ? left.subarray(CHUNK_BYTES) : NOTHING
          return
        }
        ended()
        controller.close()
      } catch (error) {
        ended()
        if (isGone) return
        failed(error)
        throw error
      }
    },
    async cancel() {
      isGone = true
      left = NOTHING
      ended()
      await chunks.return()
    },
  })
}

const NOTHING = new Uint8Array()

export async function collected(values: ReadableStream<Uint8Array>): Promise<Source[]> {
  const sources: Source[] = []
  for await (const lines of lineBatches(values)) for (const line of lines) sources.push(Source.ofText(line))
  return sources
}
