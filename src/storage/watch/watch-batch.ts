/**
 * Batches of watch events as bytes. Event lines are made once, where the event happens, and are parsed only by
 * watchers that need another form than JSON in the storage version.
 */
import { ownValue } from '../../base/own.ts'
import type { ByteReader } from '../streams/byte-chunks.ts'
import { Pieces } from '../streams/pieces.ts'
import type { BatchHeader, FrameHeader } from '../shards/shard-protocol.ts'
import type { Revision, WatchBatch, WatchEventType, WatchMark, WatchMessage } from '../storage.ts'

const lineStart = (type: WatchEventType): string => `{"type":"${type}","object":`
const typesByInitial: Readonly<Record<string, WatchEventType>> = { A: 'ADDED', M: 'MODIFIED', D: 'DELETED' }
const INITIAL_AT = lineStart('ADDED').indexOf('ADDED')

/** The line of a JSON watch, newline included. */
export const eventLine = (type: WatchEventType, text: string): string => `${lineStart(type)}${text}}\n`

const NOTHING = new Uint8Array()
/** Bytes of a batch from which on its memory is given back at once. */
export const LONG = 64 * 1024

/** JSON text never contains a raw newline, so lines are whole events. */
export class EncodedBatch implements WatchBatch {
  /** @param revisions of the events in `lines`, in their order */
  constructor(
    public lines: Uint8Array,
    private revisions: ArrayLike<Revision>,
    readonly mark?: WatchMark,
  ) {}

  /** Its reader has it no longer. A loop over batches keeps the last one for as long as it waits for the next. */
  forget(): void {
    // of the whole message, of which nobody has anything else; V8 would collect it late
    if (this.lines.length > LONG && this.lines.buffer instanceof ArrayBuffer) this.lines.buffer.transfer(0)
    this.lines = NOTHING
    this.revisions = []
  }

  *[Symbol.iterator](): Iterator<WatchMessage> {
    const lines = decoder.decode(this.lines).split('\n')
    for (let index = 0; index < this.revisions.length; index++) {
      const line = lines[index]!
      const type = ownValue(typesByInitial, line[INITIAL_AT]!)!
      yield { kind: 'event', type, revision: this.revisions[index]!, text: line.slice(lineStart(type).length, -1) }
    }
    if (this.mark !== undefined) yield this.mark
  }
}

/**
 * The message of a socket. Each number is a double in the machine's byte order, because both ends run on one
 * platform: 1 for `live`, or the bytes ahead as a number that is not above 0, the revision, the number of events, and their revisions. The event lines follow.
 * Hundreds of watchers read the same message, and most need only its revision.
 */
export function encodeMessage({ state, ahead, revision, revisions }: BatchHeader, lines: Uint8Array): Uint8Array {
  const head = new Float64Array(3 + revisions.length)
  head.set([state === 'live' ? 1 : -ahead, revision, revisions.length])
  head.set(revisions, 3)
  const message = new Uint8Array(head.byteLength + lines.length)
  message.set(new Uint8Array(head.buffer))
  message.set(lines, head.byteLength)
  return message
}

export function decodeMessage(message: ArrayBuffer): { header: BatchHeader; lines: Uint8Array } {
  // encodeMessage wrote it
  const [live, revision, count] = new Float64Array(message, 0, 3) as unknown as [number, number, number]
  const revisions = new Float64Array(message, 3 * DOUBLE, count)
  const lines = new Uint8Array(message, (3 + count) * DOUBLE)
  const isLive = live === 1
  return { header: { state: isLive ? 'live' : 'past', ahead: isLive ? 0 : -live, revision, revisions }, lines }
}

const DOUBLE = Float64Array.BYTES_PER_ELEMENT

/** A frame: a header line with the length, then event lines. */
export function encodeFrame(header: Omit<FrameHeader, 'bytes'>, lines: string): Uint8Array {
  const encoded = encoder.encode(lines)
  const first = encoder.encode(`${JSON.stringify({ ...header, bytes: encoded.length })}\n`)
  return joined(first, encoded)
}

/**
 * Reads frames that encodeFrame wrote, however the stream was cut.
 * @param pieces holds the received part of a frame; a parameter for measurements
 */
export async function* readFrames(
  reader: Pick<ByteReader, 'read'>,
  pieces = new Pieces(),
): AsyncGenerator<{ header: FrameHeader; lines: Uint8Array }> {
  let header: FrameHeader | undefined
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) {
    while (chunk.length > 0) {
      const end: number = header === undefined ? chunk.indexOf(NEWLINE) + 1 : header.bytes - pieces.length
      if (end === 0 || end > chunk.length) {
        pieces.push(chunk)
        break
      }
      const whole: Uint8Array = pieces.take(chunk.subarray(0, end))
      chunk = chunk.subarray(end)
      if (header === undefined) {
        // encodeFrame wrote it
        header = JSON.parse(decoder.decode(whole)) as FrameHeader
      } else {
        yield { header, lines: whole }
        header = undefined
      }
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
