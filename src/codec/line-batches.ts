import { byteChunks } from './byte-chunks.ts'

/** Lines of a UTF-8 stream, without their newlines: all that a chunk completes at once. */
export async function* lineBatches(stream: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of byteChunks(stream)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    if (lines.length > 0) yield lines
  }
  if (rest !== '') yield [rest]
}
