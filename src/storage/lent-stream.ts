/**
 * Bodies made of lent pieces, whose buffers are used again. A stream of chunks leaves a buffer behind for each of them.
 * V8 lets tens of megabytes of them gather before it looks for unused ones, because they are outside of its heap: a
 * document of 43 MB took that much twice.
 */
import { logError } from '../log/log.ts'
import type { ByteReader } from './byte-chunks.ts'

/** The engine's pipe has taken a piece whole before its write ends. Node has none. */
const lendsToPipes = (): boolean =>
  'IdentityTransformStream' in globalThis && (IdentityTransformStream as unknown) !== TransformStream

/** A piece is asked for when the one before it was taken. */
export const lentStream = (pieces: ByteReader): ReadableStream<Uint8Array> =>
  lendsToPipes() ? piped(pieces) : copied(pieces)

function piped(pieces: ByteReader): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const pass = async (): Promise<void> => {
    for (let piece = await pieces.read(); piece !== undefined; piece = await pieces.read()) await writer.write(piece)
    await writer.close()
  }
  // a source that failed must not look like an end; where the client has gone the stream is errored already
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

/** Bytes that gather until they are lent. */
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

  /** Room for so many more bytes; `took` says how many were written. */
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

  /** All gathered bytes, valid until `free`. Later bytes come behind them. */
  lend(): Uint8Array {
    const lent = this.bytes.subarray(this.from, this.to)
    this.from = this.to
    return lent
  }

  /** The lent bytes came back. */
  free(): void {
    if (this.isEmpty) this.from = this.to = 0
  }

  /** Lent bytes stay in place, in the old buffer. */
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
