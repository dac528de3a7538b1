/**
 * The existing objects at the start of a watch: a list at one revision, as ADDED events. Where its stream breaks, the
 * rest is read at the same revision.
 */
import { ClientGone } from '../../base/client-gone.ts'
import { byteReader } from '../streams/byte-chunks.ts'
import type { ByteReader } from '../streams/byte-chunks.ts'
import { StorageError } from '../errors.ts'
import type { ListAt, ListResult, Revision, WatchBatch } from '../storage.ts'
import { EncodedBatch, readFrames } from './watch-batch.ts'
import type { WatchShare } from './watch-room.ts'

/** @param start the key behind the prefix at which the list begins; '' for its start */
type ListEvents = (at: ListAt, start: string) => Promise<ListResult>

/** Attempts in a row that may break without an event. */
const MAX_BREAKS = 5
/** Bytes of room that a list takes while its stream is open: the engine holds some frames of it. */
const OPEN = 1024 * 1024
/** Frames after which others have their turn. Most have a quarter of a megabyte. */
const FRAMES_OF_TURN = 8

export class InitialEvents implements AsyncIterable<WatchBatch> {
  readonly revision: Revision
  private reader: ByteReader
  private isCancelled = false

  private constructor(
    first: ListResult,
    private readonly list: ListEvents,
    private readonly share: WatchShare | undefined,
  ) {
    this.revision = first.revision
    this.reader = byteReader(first.values)
  }

  /**
   * @param share of the room for what watches hold; absent: nobody limits it
   * @throws StorageError FutureRevision
   * @throws ClientGone where the watch ends while it waits for room
   */
  static async open(list: ListEvents, notOlderThan: Revision, share?: WatchShare): Promise<InitialEvents> {
    if ((await share?.take(OPEN)) === false) throw new ClientGone('the watch has ended')
    try {
      return new InitialEvents(await list({ kind: 'notOlderThan', revision: notOlderThan }, ''), list, share)
    } catch (error) {
      share?.hold(-OPEN)
      throw error
    }
  }

  /** The last batch is the mark `synced`. Fails with Compacted where the state was dropped while it was read. */
  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch> {
    let after: string | undefined
    for (let breaks = 0; ;) {
      try {
        let frames = 0
        let isTurnOver = false
        for await (const { header, lines } of readFrames(this.reader)) {
          breaks = 0
          after = header.after
          const batch = new EncodedBatch(lines, header.revisions)
          yield batch
          batch.forget()
          isTurnOver = ++frames >= FRAMES_OF_TURN && this.share?.isWanted === true
          if (isTurnOver) break
        }
        if (this.isCancelled) return
        if (!isTurnOver) break
        void this.reader.cancel().catch(() => {})
        if (!(await this.turnOfOthers())) return
      } catch (error) {
        if (this.isCancelled) return
        if (++breaks > MAX_BREAKS) throw new StorageError('Unavailable', 0, 0, String(error))
      }
      const at: ListAt = { kind: 'exact', revision: this.revision }
      this.reader = byteReader((await this.list(at, after === undefined ? '' : `${after}\0`)).values)
    }
    this.share?.hold(-OPEN)
    if (!this.isCancelled) yield new EncodedBatch(new Uint8Array(), [], { kind: 'synced', revision: this.revision })
  }

  /** @returns false where the watch has ended */
  private async turnOfOthers(): Promise<boolean> {
    this.share?.hold(-OPEN)
    return (await this.share?.take(OPEN)) !== false
  }

  cancel(): void {
    this.isCancelled = true
    // a broken stream cannot be cancelled and need not be
    void this.reader.cancel().catch(() => {})
  }
}
