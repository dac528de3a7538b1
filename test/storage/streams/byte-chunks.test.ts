import { expect, test } from 'vitest'
import { byteChunks } from '../../../src/storage/streams/byte-chunks.ts'

const KIB = 1024

/** A body as the engine has them: it fills buffers that are lent to it. `lent` has their sizes. */
function body(length: number) {
  const lent: number[] = []
  let at = 0
  const reader = {
    async readAtLeast(least: number, view: Uint8Array<ArrayBuffer>) {
      lent.push(view.buffer.byteLength)
      const count = Math.min(view.length, length - at, least + 1)
      const buffer = view.buffer.transfer() // as the engine takes it
      const value = new Uint8Array(buffer, 0, count)
      for (let n = 0; n < count; n++) value[n] = at++ & 255
      return { value, done: count === 0 }
    },
    cancel: async () => {},
  }
  return { lent, stream: { getReader: () => reader } as unknown as ReadableStream<Uint8Array> }
}

test.each([
  ['nothing', 0, [16]],
  ['a short list', 5 * KIB, [16, 16]],
  ['a list that fills the first buffer', 20 * KIB, [16, 256, 256]],
  ['a long list', 600 * KIB, [16, 256, 256, 256, 256, 256, 256]],
])('reads %s whole, into buffers of its size', async (_, length, sizes) => {
  const { lent, stream } = body(length)
  let at = 0
  for await (const piece of byteChunks(stream))
    for (const byte of piece) if (byte !== (at++ & 255)) throw new Error(`the byte at ${at - 1} differs`)
  expect(at).toBe(length)
  expect(lent).toEqual(sizes.map((size) => size * KIB))
})
