/**
 * Bodies made of lent pieces, whose buffers are used again. A stream of chunks leaves a buffer behind for each chunk.
 * These are outside of V8's heap, so V8 lets tens of megabytes gather before it collects them: a document of 43 MB
 * took twice its size.
 */
import { logError } from '../../log/log.ts'
import type { ByteReader } from './byte-chunks.ts'

/** Whether a write to the engine's pipe ends only when the whole piece is taken. In Node it does not. */
const lendsToPipes = (): boolean =>
  'IdentityTransformStream' in globalThis && (IdentityTransformStream as unknown) !== TransformStream

/** A piece is requested when the one before it was taken. */
export const lentStream = (pieces: ByteReader): ReadableStream<Uint8Array> =>
  lendsToPipes() ? piped(pieces) : copied(pieces)

function piped(pieces: ByteReader): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const pass = async (): Promise<void> => {
    for (let piece = await pieces.read(); piece !== undefined; piece = await pieces.read()) await writer.write(piece)
    await writer.close()
  }
  // a failed source must not look like an end; where the client has gone the stream has its error already
  pass().catch((error: unknown) => {
    if (writer.desiredSize !== null) logError('an answer broke off', { error })
    void writer.abort(error).catch(() => {})
    void pieces.cancel().catch(() => {})
  })
  return readable
}

function copied(pieces: ByteReader): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const piece = await pieces.read()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece.slice())
    },
    cancel: () => pieces.cancel(),
  })
}

/** Gathers bytes until they are lent. */
export class LentBytes {
  private bytes: Uint8Array
  private from = 0
  private to = 0

  constructor(size: number) {
    this.bytes = new Uint8Array(size)
  }

  get isEmpty(): boolean {
    return this.from === this.to
  }

  /** Returns room for `length` more bytes; `took` then says how many were written. */
  room(length: number): Uint8Array {
    if (this.to + length > this.bytes.length) this.makeRoom(length)
    return this.bytes.subarray(this.to)
  }

  took(length: number): void {
    this.to += length
  }

  add(piece: Uint8Array): void {
    this.room(piece.length).set(piece)
    this.took(piece.length)
  }

  /** Lends all gathered bytes, valid until `free`. Later bytes are appended behind them. */
  lend(): Uint8Array {
    const lent = this.bytes.subarray(this.from, this.to)
    this.from = this.to
    return lent
  }

  /** The lent bytes are returned. */
  free(): void {
    if (this.isEmpty) this.from = this.to = 0
  }

  /** Makes room in a new buffer where bytes are lent; those stay in the old one. */
  private makeRoom(length: number): void {
    const pending = this.bytes.subarray(this.from, this.to)
    const size = Math.max(this.bytes.length, 2 * (pending.length + length))
    const larger = new Uint8Array(size)
    larger.set(pending)
    this.bytes = larger
    this.to = pending.length
    this.from = 0
  }
}
