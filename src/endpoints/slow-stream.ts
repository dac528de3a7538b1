import { joined } from '../api/bytes.ts'

/** UTF-16 units after which a chunk is full. */
const CHUNK = 128 * 1024
/** Pieces, each of which may take a good part of a millisecond to make, after which others get their turn. */
const SLICE = 16

/** A text that is made piece by piece, as fast as the client reads it. Between the pieces other requests get their turn. */
export const slowStream = (pieces: Iterable<string>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return slowly(pieces, (texts) => encoder.encode(texts.join('')))
}

/** The same of bytes. */
export const slowByteStream = (pieces: Iterable<Uint8Array>): ReadableStream<Uint8Array> =>
  slowly(pieces, (all) => joined(all))

function slowly<Piece extends { readonly length: number }>(
  pieces: Iterable<Piece>,
  chunkOf: (pieces: readonly Piece[]) => Uint8Array,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { made, done } = slice(iterator)
        if (made.length > 0) controller.enqueue(chunkOf(made))
        if (done) controller.close()
        await othersTurn()
        if (made.length > 0 || done) return
      }
    },
    cancel() {
      iterator.return?.()
    },
  })
}

function slice<Piece extends { readonly length: number }>(pieces: Iterator<Piece>): { made: Piece[]; done: boolean } {
  const made: Piece[] = []
  let length = 0
  for (let count = 0; count < SLICE && length < CHUNK; count++) {
    const { done, value } = pieces.next()
    if (done === true) return { made, done }
    if (value.length > 0) made.push(value)
    length += value.length
  }
  return { made, done: false }
}

const othersTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
