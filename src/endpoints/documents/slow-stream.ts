import type { ByteReader } from '../../storage/streams/byte-chunks.ts'
import { LentBytes } from '../../storage/streams/lent-stream.ts'

/** UTF-16 units or bytes that fill a chunk. */
const CHUNK = 128 * 1024
/** Pieces after which other requests have their turn. Each may take a good part of a millisecond. */
const SLICE = 16
/** The most bytes of UTF-8 for a UTF-16 unit. */
const MAX_UTF8 = 3

/**
 * A text that is made piece by piece, as fast as the client reads. Other requests have their turn between the pieces.
 */
export function slowText(pieces: Iterable<string>): ByteReader {
  const encoder = new TextEncoder()
  return slowly(pieces, (made, text) => {
    const { read, written } = encoder.encodeInto(text, made.room(text.length))
    made.took(written)
    if (read === text.length) return
    const rest = text.slice(read)
    made.took(encoder.encodeInto(rest, made.room(rest.length * MAX_UTF8)).written)
  })
}

/** Like `slowText`, for bytes. */
export const slowBytes = (pieces: Iterable<Uint8Array>): ByteReader => slowly(pieces, (made, piece) => made.add(piece))

function slowly<Piece extends { readonly length: number }>(
  pieces: Iterable<Piece>,
  write: (made: LentBytes, piece: Piece) => void,
): ByteReader {
  const iterator = pieces[Symbol.iterator]()
  const made = new LentBytes(2 * CHUNK)
  let isOver = false
  const slice = (): void => {
    let length = 0
    for (let count = 0; count < SLICE && length < CHUNK; count++) {
      const { done, value } = iterator.next()
      isOver = done === true
      if (done === true) return
      if (value.length > 0) write(made, value)
      length += value.length
    }
  }
  return {
    async read() {
      made.free()
      while (made.isEmpty && !isOver) {
        slice()
        await othersTurn()
      }
      return made.isEmpty ? undefined : made.lend()
    },
    async cancel() {
      iterator.return?.()
    },
  }
}

const othersTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
