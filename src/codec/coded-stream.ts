/**
 * Compresses and decompresses streams with gzip, no faster than the client reads. workerd's own coders take all input
 * at once and keep the output in memory: a pipe through one reads its source to the end even if the client reads
 * nothing.
 */
import { turnOfOthers } from '../api/slices.ts'
import { availableReader } from '../storage/byte-chunks.ts'
import type { ByteReader } from '../storage/byte-chunks.ts'
import { LentBytes } from '../storage/lent-stream.ts'

type Stream = ReadableStream<Uint8Array>

/** Bytes that a coder gets at a time. Compressing them takes a millisecond or two. */
const PIECE = 64 * 1024

/** Bytes after which other requests have their turn. A turn costs as much as compressing a piece. */
const TURN = 256 * 1024

/** The coder gets a piece only when the reader waits for one. Its chunks of 4 KiB are joined. */
export function recoded(input: ByteReader, coder: CompressionStream | DecompressionStream): ByteReader {
  const writer = coder.writable.getWriter()
  const made = new LentBytes(PIECE)
  const whole = drain(coder.readable, (chunk) => made.add(chunk))
  whole.catch(() => undefined) // its end awaits it
  /** Of what the source gave. */
  let rest: Uint8Array = new Uint8Array()
  let sinceTurn = 0
  let isOver = false
  return {
    async read() {
      made.free()
      while (made.isEmpty && !isOver) {
        if (rest.length === 0) {
          const piece = await input.read()
          isOver = piece === undefined
          rest = piece ?? new Uint8Array() // the last piece went with the buffer that it was lent in
        }
        const next = rest.subarray(0, PIECE)
        await (isOver ? writer.close() : writer.write(next))
        rest = rest.subarray(PIECE)
        sinceTurn += next.length
        if (isOver) await whole
        else if (sinceTurn >= TURN) {
          sinceTurn = 0
          await turnOfOthers()
        }
      }
      return made.isEmpty ? undefined : made.lend()
    },
    async cancel() {
      writer.abort().catch(() => undefined)
      await input.cancel()
    },
  }
}

/** @param take gets bytes that are valid only during the call */
export async function drain(stream: Stream, take: (chunk: Uint8Array) => void): Promise<void> {
  const reader = availableReader(stream)
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) take(chunk)
}
