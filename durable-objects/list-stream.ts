/**
 * The answer to a list: revision and counts in a header, the values in the body. The first turn settles the revision.
 * Later turns read keys and values while the reader takes them. Writes in between do no harm: the log has the state at
 * every revision, and the value of a revision never changes.
 */
import { turnOfOthers } from '../src/api/slices.ts'
import type { ListCall, StreamShape } from '../src/storage/shard-protocol.ts'
import type { Revision } from '../src/storage/storage.ts'
import { encodeHeader } from '../src/storage/shard-protocol.ts'
import { memberText } from '../src/storage/value-text.ts'
import { encodeFrame, eventLine } from '../src/storage/watch-batch.ts'
import type { Page } from './log.ts'
import type { Statements } from './statements.ts'

const CHUNK_VALUES = 128
/** The first chunk is small, so that the first byte comes soon. */
const FIRST_VALUES = 8
/** Limit of a chunk. Values may have 1.5 MiB, and an isolate has 128 MB for everything. */
const CHUNK_LENGTH = 1024 * 1024

interface ValueRow {
  readonly rv: Revision
  readonly k: string
  readonly v: string
}

export function listAnswer(page: Page, { prefix, shape }: ListCall, statements: Statements): Response {
  const { revisions, ...value } = page
  if (value.isEmpty) return new Response(null, { headers: encodeHeader({ value }) })
  const write = shapes[shape.as](shape, prefix)
  const chunks = valuesInChunks(statements, revisions)
  const values = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value, done } = chunks.next()
        if (done === true) return controller.close()
        if (value.length > 0) return controller.enqueue(write(value))
        await turnOfOthers()
      }
    },
  })
  return new Response(values, { headers: encodeHeader({ value }) })
}

/**
 * Each chunk has as many values as fitted the last one. After an empty chunk the reader takes a turn before the next.
 */
function* valuesInChunks(
  statements: Statements,
  batches: Iterable<readonly Revision[]>,
): Generator<readonly ValueRow[]> {
  let size = FIRST_VALUES
  for (const revisions of batches) {
    if (revisions.length === 0) yield []
    for (let done = 0; done < revisions.length;) {
      const wanted = revisions.slice(done, done + size)
      const rows = statements.values(wanted)
      // compaction keeps revisions for the retention only; a slower reader gets an error and not a list with holes
      if (rows.length !== wanted.length)
        throw new Error(`versions of a list at ${wanted[0]} were compacted while it was read`)
      done += wanted.length
      const length = rows.reduce((sum, { v }) => sum + v.length, 0)
      size = Math.max(1, Math.min(CHUNK_VALUES, Math.floor((CHUNK_LENGTH * wanted.length) / length)))
      yield rows
    }
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
