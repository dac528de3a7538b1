/** Streams in pieces that are worth a turn: the engine hands out 4 KB at a time unless it is given larger buffers. */

const CHUNK = 256 * 1024

export interface ByteReader {
  /** A piece is only good until the next one is asked for. Undefined at the end. */
  read(): Promise<Uint8Array | undefined>
  cancel(): Promise<void>
}

/** Pieces of half a chunk and more. */
export const byteReader = (stream: ReadableStream<Uint8Array>): ByteReader =>
  reading(stream, (lender, view) => lender.readAtLeast(CHUNK / 2, view))

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
  let buffer = new ArrayBuffer(CHUNK)
  let isOver = false
  return {
    async read() {
      if (isOver) return undefined
      const { value, done } = await readInto(lender, new Uint8Array(buffer))
      // at the end there is an empty view, or none
      const piece = value as Uint8Array<ArrayBuffer> | undefined
      isOver = done || piece === undefined || piece.length === 0
      if (piece === undefined || piece.length === 0) return undefined
      buffer = piece.buffer // the one that was lent
      return piece
    },
    cancel: () => lender.cancel(),
  }
}

/** As ByteReader.read gives them. */
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

/** Bodies of responses lend themselves to it; streams made of chunks don't, and come as they were made. */
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
