import { byteChunks } from './byte-chunks.ts'
import { joined } from './compression.ts'

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

const NEWLINE = 0x0a

/** The same as bytes, with their newlines. What comes is only good until more is asked for. */
export async function* wholeLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of byteChunks(stream)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    const lines = chunk.subarray(0, end)
    if (end > 0) yield rest.length === 0 ? lines : joined([rest, lines], rest.length + lines.length)
    const after = chunk.subarray(end)
    rest = end > 0 ? after.slice() : joined([rest, after], rest.length + after.length)
  }
  if (rest.length > 0) yield rest
}
