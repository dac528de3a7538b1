// These tests run in workerd: its CompressionStream has no backpressure.
import { expect, test } from 'vitest'
import { compressible, compressibleStream } from '../../src/codec/negotiation/compression.ts'

const CHUNK = 64 * 1024
const CHUNKS = 200

/** Random bytes, which gzip cannot compress. */
function noise(): { readonly stream: ReadableStream<Uint8Array>; readonly taken: () => number } {
  let taken = 0
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (taken === CHUNKS) return controller.close()
      taken++
      controller.enqueue(crypto.getRandomValues(new Uint8Array(CHUNK)))
    },
  })
  return { stream, taken: () => taken }
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
}

test('a list whose reader takes nothing is read only until its size is known to be large', async () => {
  const { stream, taken } = noise()
  const { body } = await compressibleStream(200, {}, stream, true)
  await turns(2 * CHUNKS)
  expect(taken()).toBeLessThan(8)
  const reader = body!.getReader()
  await reader.read()
  await turns(2 * CHUNKS)
  expect(taken()).toBeLessThan(12)
  await reader.cancel()
})

test('a reader that takes all of it gets all of it', async () => {
  const { stream } = noise()
  const { body, headers } = await compressibleStream(200, {}, stream, true)
  expect(headers.get('Content-Encoding')).toBe('gzip')
  let length = 0
  for await (const chunk of body!.pipeThrough(new DecompressionStream('gzip'))) length += chunk.length
  expect(length).toBe(CHUNKS * CHUNK)
})

test('a body in memory is compressed as its reader takes it', async () => {
  const bytes = new Uint8Array(4 * 1024 * 1024).map((_, at) => at % 251)
  const { body } = compressible(200, {}, bytes, true)
  const plain = await new Response(body!.pipeThrough(new DecompressionStream('gzip'))).bytes()
  expect(plain.length).toBe(bytes.length)
  expect(plain.every((byte, at) => byte === at % 251)).toBe(true)
})
