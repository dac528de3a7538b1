/**
 * Lists of metadata, byte by byte: of each stored line only the metadata is copied, and nothing becomes text in
 * between. A list of ten thousand costs a tenth of what parsing it would.
 */
import { byteChunks } from './byte-chunks.ts'

const NEWLINE = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d

/** What stands around the metadata in a line, and what shall stand around it. */
export interface MetadataFrame {
  /** `{"kind":"Pod","apiVersion":"v1","metadata":` */
  readonly before: Uint8Array
  /** `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":` */
  readonly head: Uint8Array
}

/** Elements with commas between them, as many as a chunk of lines gives. */
export async function* metadataChunks(
  lines: ReadableStream<Uint8Array>,
  frame: MetadataFrame,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  const copier = new Copier(frame)
  for await (const chunk of byteChunks(lines)) {
    const bytes = rest.length === 0 ? chunk : joined(rest, chunk)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      copier.line(bytes, start)
      start = end + 1
    }
    rest = bytes.slice(start)
    const elements = copier.take()
    if (elements.length > 0) yield elements
  }
}

class Copier {
  private out = new Uint8Array(64 * 1024)
  private length = 0
  private isFirst = true

  constructor(private readonly frame: MetadataFrame) {}

  take(): Uint8Array {
    const taken = this.out.slice(0, this.length)
    this.length = 0
    return taken
  }

  line(bytes: Uint8Array, start: number): void {
    const { before, head } = this.frame
    const from = start + before.length
    const end = endOfObject(bytes, from)
    const needed = this.length + head.length + end - from + 2
    if (needed > this.out.length) this.grow(needed)
    if (!this.isFirst) this.out[this.length++] = COMMA
    this.isFirst = false
    this.out.set(head, this.length)
    this.length += head.length
    this.out.set(bytes.subarray(from, end), this.length)
    this.length += end - from
    this.out[this.length++] = CLOSE
  }

  private grow(needed: number): void {
    const bigger = new Uint8Array(Math.max(needed, this.out.length * 2))
    bigger.set(this.out.subarray(0, this.length))
    this.out = bigger
  }
}

/** Position behind the closing brace of the object that opens at `at`. */
function endOfObject(bytes: Uint8Array, at: number): number {
  let depth = 0
  for (;;) {
    const byte = bytes[at++]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (byte === OPEN) depth++
    else if (byte === CLOSE && --depth === 0) return at
    else if (byte === undefined) throw new Error('assertion failed: a stored object without an end')
  }
}

/** Position behind the closing quote of the string whose content begins at `at`. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (;;) {
    const byte = bytes[at++]
    if (byte === QUOTE || byte === undefined) return at
    if (byte === BACKSLASH) at++
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
