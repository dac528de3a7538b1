import { expect, test, vi } from 'vitest'
import { recoded } from '../../../src/codec/negotiation/coded-stream.ts'
import { lentStream } from '../../../src/storage/streams/lent-stream.ts'

const PIECE = 16 * 1024
const PIECES = 128

/** Bytes that do not compress well. */
const piece = (n: number): Uint8Array => Uint8Array.from({ length: PIECE }, (_, at) => (at * at * 31 + n * 7) % 251)

test('other work has a turn after every 256 KiB, and not after each piece', async () => {
  let read = 0
  const input = {
    read: async () => (read < PIECES ? piece(read++) : undefined),
    cancel: async () => {},
  }
  const turns = vi.spyOn(globalThis, 'setTimeout')
  const packed = lentStream(recoded(input, new CompressionStream('gzip')))
  const unpacked = packed.pipeThrough(new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>)
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer())
  const taken = turns.mock.calls.filter(([, milliseconds]) => milliseconds === 0).length
  turns.mockRestore()
  expect(taken).toBe((PIECES * PIECE) / (256 * 1024))
  expect(bytes.length).toBe(PIECES * PIECE)
  expect(bytes.subarray(-PIECE)).toEqual(piece(PIECES - 1))
})

test('a piece is not touched when the next was asked for, the last one neither', async () => {
  let lent: Uint8Array | undefined
  let read = 0
  const gone = () => {
    throw new TypeError('the buffer of this piece is detached')
  }
  const input = {
    async read() {
      if (lent !== undefined) lent.subarray = gone
      lent = read < 3 ? piece(read++) : undefined
      return lent
    },
    cancel: async () => {},
  }
  const packed = lentStream(recoded(input, new CompressionStream('gzip')))
  const unpacked = packed.pipeThrough(new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>)
  expect((await new Response(unpacked).arrayBuffer()).byteLength).toBe(3 * PIECE)
})
