/**
 * Lines of UTF-8 streams. Each character is handled once, however long a line is and however it was cut into chunks.
 */
import { turnOfHeavy } from '../../base/slices.ts'
import { byteChunks, ON_DEMAND } from './byte-chunks.ts'
import { Pieces } from './pieces.ts'

/** UTF-16 units of lines after which other requests have their turn: parsing them takes a millisecond. */
const SLICE = 64 * 1024
/** The weight of a line in addition to its length: handling one takes some microseconds. */
const LINE = 256

/**
 * The lines without their newlines, one after the other, for a caller that parses each. Between slices other requests
 * have their turn, even if all lines are there already.
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
  turn: () => Promise<void> = turnOfHeavy,
): AsyncGenerator<string> {
  let length = 0
  for await (const lines of lineBatches(stream))
    for (const line of lines) {
      if (length >= SLICE) {
        await turn()
        length = 0
      }
      length += line.length + LINE
      yield line
    }
}

/** All lines that a chunk completes, together. */
export async function* lineBatches(stream: ReadableStream<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  /** The pieces of a line whose end has not arrived. */
  let pieces: string[] = []
  for await (const chunk of byteChunks(stream)) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    pieces.push(first)
    const last = others.pop()
    if (last === undefined) continue
    yield [pieces.join(''), ...others]
    pieces = [last]
  }
  const rest = pieces.join('')
  if (rest !== '') yield [rest]
}

const NEWLINE = 0x0a

/** Lines as bytes, with their newlines. A chunk is valid until the next one is requested. */
export async function* wholeLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const rest = new Pieces()
  for await (const chunk of byteChunks(stream)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    const lines = chunk.subarray(0, end)
    if (end > 0) yield rest.length === 0 ? lines : rest.take(lines)
    rest.push(chunk.subarray(end))
  }
  if (rest.length > 0) yield rest.take()
}

/**
 * @param values texts, each followed by a newline
 * @param map maps the lines of a chunk, in their order
 */
export function mappedLines(
  values: ReadableStream<Uint8Array>,
  map: (lines: readonly string[]) => readonly string[] | Promise<readonly string[]>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const batches = lineBatches(values)
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value: lines } = await batches.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode((await map(lines)).map((text) => `${text}\n`).join('')))
      },
      async cancel(reason) {
        await batches.return(undefined)
        await values.cancel(reason).catch(() => {})
      },
    },
    ON_DEMAND,
  )
}
