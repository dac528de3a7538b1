/**
 * The existing objects at the start of a watch: a list at one revision, as ADDED events. Where its stream breaks, the
 * rest is read at the same revision.
 */
import { byteReader } from '../streams/byte-chunks.ts'
import type { ByteReader } from '../streams/byte-chunks.ts'
import { StorageError } from '../errors.ts'
import type { ListAt, ListResult, Revision, WatchBatch } from '../storage.ts'
import { EncodedBatch, readFrames } from './watch-batch.ts'

/** @param start the key behind the prefix at which the list begins; '' for its start */
type ListEvents = (at: ListAt, start: string) => Promise<ListResult>

/** Attempts in a row that may break without an event. */
const MAX_BREAKS = 5

export class InitialEvents implements AsyncIterable<WatchBatch> {
  readonly revision: Revision
  private reader: ByteReader
  private isCancelled = false

  private constructor(
    first: ListResult,
    private readonly list: ListEvents,
  ) {
    this.revision = first.revision
    this.reader = byteReader(first.values)
  }

  /** @throws StorageError FutureRevision */
  static async open(list: ListEvents, notOlderThan: Revision): Promise<InitialEvents> {
    return new InitialEvents(await list({ kind: 'notOlderThan', revision: notOlderThan }, ''), list)
  }

  /** The last batch is the mark `synced`. Fails with Compacted where the state was dropped while it was read. */
  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch> {
    let after: string | undefined
    for (let breaks = 0; ;) {
      try {
        for await (const { header, lines } of readFrames(this.reader)) {
          breaks = 0
          after = header.after
          yield new EncodedBatch(lines, header.revisions)
        }
        break
      } catch (error) {
        if (this.isCancelled) return
        if (++breaks > MAX_BREAKS) throw new StorageError('Unavailable', 0, 0, String(error))
      }
      const at: ListAt = { kind: 'exact', revision: this.revision }
      this.reader = byteReader((await this.list(at, after === undefined ? '' : `${after}\0`)).values)
    }
    if (!this.isCancelled) yield new EncodedBatch(new Uint8Array(), [], { kind: 'synced', revision: this.revision })
  }

  cancel(): void {
    this.isCancelled = true
    // a broken stream cannot be cancelled and need not be
    void this.reader.cancel().catch(() => {})
  }
}
