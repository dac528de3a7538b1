/** Streams in pieces that are worth a turn. Without larger buffers the engine returns 4 KB at a time. */

const CHUNK = 256 * 1024
/**
 * Bytes of a stream's first buffer, because most lists are short. V8 counts the buffers, and collects the whole heap
 * when there are many: with large buffers alone it did so every two seconds while a Deployment of 1,000 came up.
 */
const FIRST = 16 * 1024

/** For a stream on the way of a list: nothing waits in it, so that a list whose client is slow holds one chunk or two. */
export const ON_DEMAND: QueuingStrategy<Uint8Array> = { highWaterMark: 0 }

export interface ByteReader {
  /** A piece is valid until the next call. Undefined at the end. */
  read(): Promise<Uint8Array | undefined>
  cancel(): Promise<void>
}

/** Pieces of at least half a chunk, after a short first one. */
export const byteReader = (stream: ReadableStream<Uint8Array>): ByteReader =>
  reading(stream, (lender, view) => lender.readAtLeast(view.length / 2, view))

/** Returns all available bytes, as soon as there are any. */
export const availableReader = (stream: ReadableStream<Uint8Array>): ByteReader =>
  reading(stream, (lender, view) => lender.read(view))

function reading(
  stream: ReadableStream<Uint8Array>,
  readInto: (lender: ReadableStreamBYOBReader, view: Uint8Array) => ReturnType<ReadableStreamBYOBReader['readAtLeast']>,
): ByteReader {
  const lender = lendingReader(stream)
  if (lender === undefined) {
    const reader = stream.getReader()
    return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() }
  }
  let buffer = new ArrayBuffer(FIRST)
  let isOver = false
  return {
    async read() {
      if (isOver) return undefined
      const { value, done } = await readInto(lender, new Uint8Array(buffer))
      // at the end the view is empty or undefined
      const piece = value as Uint8Array<ArrayBuffer> | undefined
      isOver = done || piece === undefined || piece.length === 0
      if (piece === undefined || piece.length === 0) return undefined
      const isLong = piece.length >= piece.buffer.byteLength / 2 && piece.buffer.byteLength < CHUNK
      buffer = isLong ? new ArrayBuffer(CHUNK) : piece.buffer // the buffer that was lent
      return piece
    },
    cancel: () => lender.cancel(),
  }
}

/** Yields pieces like those of ByteReader.read. */
export async function* byteChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = byteReader(stream)
  let isOver = false
  try {
    for (let piece = await reader.read(); piece !== undefined; piece = await reader.read()) yield piece
    isOver = true
  } finally {
    if (!isOver) await reader.cancel()
  }
}

/**
 * A reader into own buffers, which the bodies of responses support. Streams made of chunks do not, and return their
 * chunks.
 */
function lendingReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    if ('readAtLeast' in reader) return reader
    ;(reader as { releaseLock(): void }).releaseLock()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return undefined
}
