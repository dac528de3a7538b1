/** Streams in pieces that are worth a turn: the engine hands out 4 KB at a time unless it is given larger buffers. */

const CHUNK = 256 * 1024

/** A piece is only good until the next one is asked for. */
export async function* byteChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = byteReader(stream)
  if (reader === undefined) {
    yield* stream
    return
  }
  let buffer = new ArrayBuffer(CHUNK)
  let isOver = false
  try {
    for (;;) {
      const read = await reader.readAtLeast(CHUNK / 2, new Uint8Array(buffer))
      // at the end there is an empty view, or none
      const value = read.value as Uint8Array<ArrayBuffer> | undefined
      if (value === undefined || value.length === 0) break
      yield value
      if (read.done) break
      buffer = value.buffer // the one that was lent
    }
    isOver = true
  } finally {
    if (!isOver) await reader.cancel()
  }
}

/** Bodies of responses lend themselves to it; streams made of chunks don't, and come as they were made. */
function byteReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    if ('readAtLeast' in reader) return reader
    ;(reader as { releaseLock(): void }).releaseLock()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return undefined
}
