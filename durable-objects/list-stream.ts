/**
 * The answer to a list: revision and counts in a header, the values in the body. The first turn settles the revision.
 * Later turns read keys and values while the reader takes them. Writes in between do no harm: the log has the state at
 * every revision, and the value of a revision never changes.
 */
import { turnOfOthers } from '../src/base/slices.ts'
import type { ListCall, StreamShape } from '../src/storage/shards/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { encodeHeader } from '../src/storage/shards/shard-protocol.ts'
import { memberText } from '../src/storage/streams/value-text.ts'
import { encodeFrame, eventLine } from '../src/storage/watch/watch-batch.ts'
import type { Page } from './log.ts'
import type { Statements, ValueRow } from './statements.ts'

const CHUNK_VALUES = 128
/** The first chunk is small, so that the first byte comes soon. */
const FIRST_VALUES = 8
/**
 * Octets after which a chunk ends, and with it what a reader holds who takes nothing. Values may have 1.5 MiB, and an
 * isolate has 128 MB for everything.
 */
const CHUNK_LENGTH = 256 * 1024

export function listAnswer(page: Page, { prefix, shape }: ListCall, statements: Statements): Response {
  const { revisions, ...value } = page
  if (value.isEmpty) return new Response(null, { headers: encodeHeader({ value }) })
  const write = shapes[shape.as](shape, prefix)
  const chunks = new ValueChunks(statements, revisions[Symbol.iterator]())
  const values = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const rows = chunks.next()
          if (rows === undefined) return controller.close()
          if (rows.length > 0) return controller.enqueue(write(rows))
          await turnOfOthers()
        }
      },
    },
    // no chunk waits beside the one that is being sent
    { highWaterMark: 0 },
  )
  return new Response(values, { headers: encodeHeader({ value }) })
}

/** Keeps no values between two chunks. */
class ValueChunks {
  private revisions: readonly Revision[] = []
  /** How many of them were read. */
  private done = 0
  private most = FIRST_VALUES

  constructor(
    private readonly statements: Statements,
    private readonly batches: Iterator<readonly Revision[]>,
  ) {}

  /** After an empty chunk the reader takes a turn before the next. @returns undefined at the end */
  next(): readonly ValueRow[] | undefined {
    if (this.done === this.revisions.length) {
      const { value, done } = this.batches.next()
      if (done === true) return undefined
      this.revisions = value
      this.done = 0
      if (value.length === 0) return []
    }
    const rows = this.statements.values(this.revisions.slice(this.done, this.done + this.most), CHUNK_LENGTH)
    this.done += rows.length
    this.most = CHUNK_VALUES
    return rows
  }
}

type Writer = (rows: readonly ValueRow[]) => Uint8Array
const encoder = new TextEncoder()

const shapes: {
  readonly [As in StreamShape['as']]: (shape: StreamShape, prefix: string) => Writer
} = {
  lines: () => (rows) => encoder.encode(rows.map(({ v }) => `${v}\n`).join('')),

  items(shape) {
    const without = (shape.as === 'items' ? shape.without : undefined) ?? '{'
    let comma = ''
    return (rows) => {
      const items = rows.map(({ v }) => (v.startsWith(without) ? `{${v.slice(without.length)}` : v))
      const text = comma + items.join(',')
      comma = ','
      return encoder.encode(text)
    }
  },

  members(shape) {
    if (shape.as !== 'members') throw new Error(`assertion failed: ${shape.as} written as members`)
    let comma = ''
    return (rows) => {
      const text = comma + rows.map(({ v }) => memberText(v, shape)).join(',')
      comma = ','
      return encoder.encode(text)
    }
  },

  events: (_, prefix) => (rows) =>
    encodeFrame(
      {
        revisions: rows.map(({ rv }) => rv),
        after: rows.at(-1)!.k.slice(prefix.length + 1),
      },
      rows.map(({ v }) => eventLine('ADDED', v)).join(''),
    ),
}
