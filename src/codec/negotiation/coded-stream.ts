/**
 * Compresses and decompresses streams with gzip, no faster than the client reads. A pipe through workerd's
 * CompressionStream reads its source to the end and keeps the output in memory, even if the client reads nothing.
 */
import { turnOfOthers } from '../../base/slices.ts'
import { availableReader } from '../../storage/streams/byte-chunks.ts'
import type { ByteReader } from '../../storage/streams/byte-chunks.ts'
import { LentBytes } from '../../storage/streams/lent-stream.ts'

type Stream = ReadableStream<Uint8Array>

/** Bytes of one write to the coder. Compressing them takes a millisecond or two. */
const PIECE = 64 * 1024

/** Bytes after which other requests have their turn. A turn costs as much as compressing a piece. */
const TURN = 256 * 1024

/** Writes a piece to the coder only when a reader waits, and joins the coder's chunks of 4 KiB. */
export function recoded(input: ByteReader, coder: CompressionStream | DecompressionStream): ByteReader {
  const writer = coder.writable.getWriter()
  const made = new LentBytes(PIECE)
  const whole = drain(coder.readable, (chunk) => made.add(chunk))
  whole.catch(() => undefined) // `read` awaits it at the end
  /** Bytes of the source that the coder has not got yet. */
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
          rest = piece ?? new Uint8Array() // the buffer of the last piece is not valid any more
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

/** @param take its argument is valid only during the call */
export async function drain(stream: Stream, take: (chunk: Uint8Array) => void): Promise<void> {
  const reader = availableReader(stream)
  for (let chunk = await reader.read(); chunk !== undefined; chunk = await reader.read()) take(chunk)
}
