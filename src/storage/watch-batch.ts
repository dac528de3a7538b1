/**
 * Batches of watch events as bytes. Event lines are made once, where the event happens, and are parsed only by
 * watchers that need another form than JSON in the storage version.
 */
import type { BatchHeader } from './shard-protocol.ts'
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
    const lines = decoder.decode(this.lines).split('\n')
    for (const [index, revision] of this.revisions.entries()) {
      const line = lines[index]!
      const type = typesByInitial[line[INITIAL_AT]!]!
      yield { kind: 'event', type, revision, text: line.slice(lineStart(type).length, -1) }
    }
    if (this.mark !== undefined) yield this.mark
  }
}

/** A header line and event lines, as sent on a socket. */
export function encodeMessage(header: BatchHeader, lines: Uint8Array): Uint8Array {
  const first = encoder.encode(`${JSON.stringify(header)}\n`)
  const message = new Uint8Array(first.length + lines.length)
  message.set(first)
  message.set(lines, first.length)
  return message
}

/** The same with its length, to be found in a stream. */
export function encodeFrame(header: Omit<BatchHeader, 'bytes'>, lines: string): Uint8Array {
  const encoded = encoder.encode(lines)
  return encodeMessage({ ...header, bytes: encoded.length }, encoded)
}

export function decodeMessage(message: Uint8Array): { header: BatchHeader; lines: Uint8Array } {
  const end = message.indexOf(NEWLINE)
  // Written by encodeMessage.
  const header = JSON.parse(decoder.decode(message.subarray(0, end))) as BatchHeader
  return { header, lines: message.subarray(end + 1) }
}

/** Frames as encodeFrame wrote them, however the stream was cut. */
export async function* readFrames(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<{ header: BatchHeader; lines: Uint8Array }> {
  let pending: Uint8Array = new Uint8Array()
  let header: BatchHeader | undefined
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    pending = pending.length === 0 ? value : joined(pending, value)
    for (;;) {
      if (header === undefined) {
        if (!pending.includes(NEWLINE)) break
        const message = decodeMessage(pending)
        header = message.header
        pending = message.lines
      }
      const bytes = header.bytes ?? 0
      if (pending.length < bytes) break
      yield { header, lines: pending.subarray(0, bytes) }
      pending = pending.subarray(bytes)
      header = undefined
    }
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

const NEWLINE = 10
const encoder = new TextEncoder()
const decoder = new TextDecoder()
