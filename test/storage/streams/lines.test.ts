import { describe, expect, it } from 'vitest'
import fc from '../../chance.ts'
import { lineBatches, linesOf, wholeLines } from '../../../src/storage/streams/lines.ts'
import { Pieces } from '../../../src/storage/streams/pieces.ts'
import { encodeFrame, readFrames } from '../../../src/storage/watch/watch-batch.ts'

/** The bytes in chunks of these lengths, again and again. */
function cut(bytes: Uint8Array, lengths: readonly number[]): ReadableStream<Uint8Array> {
  let [at, n] = [0, 0]
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      const end = at + lengths[n++ % lengths.length]!
      controller.enqueue(bytes.slice(at, end))
      at = end
    },
  })
}

const encode = (text: string) => new TextEncoder().encode(text)
const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 })
const line = fc.stringMatching(/^[a-zé€😀]{1,12}$/u)

describe('lines', () => {
  it('are the same however the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.boolean(), lengths, async (lines, ended, sizes) => {
        const bytes = encode(lines.join('\n') + (ended && lines.length > 0 ? '\n' : ''))
        expect(await Array.fromAsync(linesOf(cut(bytes, sizes)))).toEqual(lines)
        expect((await Array.fromAsync(lineBatches(cut(bytes, sizes)))).flat()).toEqual(lines)
        const parts = await Array.fromAsync(wholeLines(cut(bytes, sizes)), (part) => part.slice())
        expect(Buffer.concat(parts)).toEqual(Buffer.from(bytes))
        for (const part of parts.slice(0, -1)) expect(part.at(-1)).toBe(10)
      }),
    )
  })
})

describe('frames', () => {
  const frame = (text: string, n = 1) => encodeFrame({ revisions: [n], after: `key-${n}` }, text)

  it('are the same however the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), lengths, async (texts, sizes) => {
        const bytes = Buffer.concat(texts.map((text, n) => frame(text, n)))
        const reader = cut(new Uint8Array(bytes), sizes).getReader()
        const read = { read: async () => (await reader.read()).value }
        const found = await Array.fromAsync(readFrames(read), ({ header, lines }) => [
          header.after,
          new TextDecoder().decode(lines),
        ])
        expect(found).toEqual(texts.map((text, n) => [`key-${n}`, text]))
      }),
    )
  })

  it('each byte of a value of a megabyte is copied twice, though it comes in hundreds of chunks', async () => {
    const bytes = frame('x'.repeat(1024 * 1024))
    const reader = cut(bytes, [4096]).getReader()
    let copied = 0
    const pieces = new Pieces((count) => (copied += count))
    const read = { read: async () => (await reader.read()).value }
    expect(await Array.fromAsync(readFrames(read, pieces))).toHaveLength(1)
    expect(copied).toBeLessThanOrEqual(2 * bytes.length)
  })
})
