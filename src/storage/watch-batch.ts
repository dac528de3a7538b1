/**
 * Batches of watch events as bytes. Event lines are made once, where the event happens, and are parsed only by
 * watchers that need another form than JSON in the storage version.
 */
import type { Revision, WatchBatch, WatchEventType, WatchMark, WatchMessage } from './storage.ts'

const lineStart = (type: WatchEventType): string => `{"type":"${type}","object":`
const typesByInitial: Readonly<Record<string, WatchEventType>> = { A: 'ADDED', M: 'MODIFIED', D: 'DELETED' }
const INITIAL_AT = lineStart('ADDED').indexOf('ADDED')

/** The line of a JSON watch, newline included. */
export const eventLine = (type: WatchEventType, text: string): string => `${lineStart(type)}${text}}\n`

/** JSON text never contains a raw newline, so lines are whole events. */
export class EncodedBatch implements WatchBatch {
  /** @param revisions of the events in `lines`, in their order */
  constructor(
    readonly lines: Uint8Array,
    private readonly revisions: readonly Revision[],
    readonly mark?: WatchMark,
  ) {}

  *[Symbol.iterator](): Iterator<WatchMessage> {
    const lines = new TextDecoder().decode(this.lines).split('\n')
    for (const [index, revision] of this.revisions.entries()) {
      const line = lines[index]!
      const type = typesByInitial[line[INITIAL_AT]!]!
      yield { kind: 'event', type, revision, text: line.slice(lineStart(type).length, -1) }
    }
    if (this.mark !== undefined) yield this.mark
  }
}
