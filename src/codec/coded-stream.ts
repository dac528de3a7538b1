/**
 * gzip of streams, and back, as fast as somebody reads. workerd's coders take whatever they are given and hold all that
 * came of it, so that a pipe through one reads its source to the end for a reader who takes nothing.
 */
import { turnOfOthers } from '../api/slices.ts'
import { joined } from '../api/bytes.ts'
import type { ByteReader } from '../storage/byte-chunks.ts'

type Stream = ReadableStream<Uint8Array>

/** Bytes that a coder is given at a time: packing them takes a millisecond or two. */
const PIECE = 64 * 1024

/** Bytes after which others have their turn, which costs as much as packing a piece. */
const TURN = 256 * 1024

/** The coder gets a piece only where a reader waits. It hands out chunks of 4 KiB, which are joined. */
export function recoded(input: ByteReader, coder: CompressionStream | DecompressionStream): Stream {
  const writer = coder.writable.getWriter()
  const made: Uint8Array[] = []
  const whole = drain(coder.readable, (chunk) => made.push(chunk))
  whole.catch(() => undefined) // its end awaits it
  /** Of what the source gave. */
  let rest: Uint8Array = new Uint8Array()
  let sinceTurn = 0
  return new ReadableStream({
    async pull(controller) {
      let isOver = false
      while (made.length === 0 && !isOver) {
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
      if (made.length > 0) controller.enqueue(joined(made.splice(0)))
      if (isOver) controller.close()
    },
    async cancel(reason) {
      writer.abort(reason).catch(() => undefined)
      await input.cancel()
    },
  })
}

export async function drain(stream: Stream, take: (chunk: Uint8Array) => void): Promise<void> {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    take(value)
  }
}
