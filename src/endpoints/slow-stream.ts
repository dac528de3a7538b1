/** UTF-16 units after which a chunk is full. */
const CHUNK = 128 * 1024
/** Pieces, each of which may take a good part of a millisecond to make, after which others get their turn. */
const SLICE = 16

/** A text whose pieces are made while it is read, as fast as the client takes it, and so that nobody waits behind it. */
export function slowStream(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { text, done } = slice(iterator)
        if (text !== '') controller.enqueue(encoder.encode(text))
        if (done) controller.close()
        await othersTurn()
        if (text !== '' || done) return
      }
    },
    cancel() {
      iterator.return?.()
    },
  })
}

function slice(pieces: Iterator<string>): { text: string; done: boolean } {
  let text = ''
  for (let count = 0; count < SLICE && text.length < CHUNK; count++) {
    const { done, value } = pieces.next()
    if (done === true) return { text, done }
    text += value
  }
  return { text, done: false }
}

const othersTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0))
