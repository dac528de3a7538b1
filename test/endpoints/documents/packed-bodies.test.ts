import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import * as packedBodies from '../../../src/endpoints/documents/packed-bodies.ts'
import { byteReader } from '../../../src/storage/streams/byte-chunks.ts'
import { lentStream } from '../../../src/storage/streams/lent-stream.ts'

const { MAX_KEPT } = packedBodies
const packedBody = (key: string, make: () => Stream): Stream =>
  lentStream(packedBodies.packedBody(key, () => byteReader(make())))
const plainBody = (key: string, make: () => Stream): Stream =>
  lentStream(packedBodies.plainBody(key, () => byteReader(make())))

type Stream = ReadableStream<Uint8Array>

const bytesOf = async (stream: Stream): Promise<Buffer> => Buffer.from(await new Response(stream).arrayBuffer())
const ways: Record<string, (key: string, make: () => Stream) => Promise<Buffer>> = {
  packed: async (key, make) => gunzipSync(await bytesOf(packedBody(key, make))),
  plain: (key, make) => bytesOf(plainBody(key, make)),
}

/** A body of chunks of 100 KB. */
function body(chunk: (n: number) => Buffer, chunks: number) {
  let made = 0
  const whole = Buffer.concat(Array.from({ length: chunks }, (_, n) => chunk(n)))
  const make = (): Stream => {
    made++
    let next = 0
    return new ReadableStream({
      pull(controller) {
        if (next < chunks) controller.enqueue(new Uint8Array(chunk(next++)))
        else controller.close()
      },
    })
  }
  return { whole, make, count: () => made }
}

const text = () => body((n) => Buffer.from(`chunk ${n} says what chunks say. `.repeat(4_000)), 40)
const noise = Array.from({ length: 90 }, () => randomBytes(100_000))

test.each([
  ['packed', 'packed'],
  ['packed', 'plain'],
  ['plain', 'packed'],
  ['plain', 'plain'],
])('who asks %s has it made, who asks %s then has what was kept', async (first, second) => {
  const { whole, make, count } = text()
  const key = `${first} ${second}`
  for (const way of [first, second, second]) expect((await ways[way]!(key, make)).equals(whole), way).toBe(true)
  expect(count()).toBe(1)
})

test.each(Object.keys(ways))('two that ask %s at a time both get all of it, and one is kept', async (way) => {
  const { whole, make, count } = text()
  const got = await Promise.all([ways[way]!(`two ${way}`, make), ways[way]!(`two ${way}`, make)])
  for (const one of got) expect(one.equals(whole)).toBe(true)
  await ways[way]!(`two ${way}`, make)
  expect(count()).toBe(2)
})

test.each(Object.keys(ways))('what is too large is made each time (%s)', async (way) => {
  const { whole, make, count } = body((n) => noise[n]!, noise.length)
  expect(whole.length).toBeGreaterThan(MAX_KEPT)
  for (let time = 1; time <= 3; time++) {
    expect((await ways[way]!(`noise ${way}`, make)).equals(whole)).toBe(true)
    expect(count()).toBe(time)
  }
})

test.each(['packed', 'plain'] as const)(
  'a reader that goes leaves nothing, and holds nobody back (%s)',
  async (way) => {
    const { whole, make, count } = text()
    const read = way === 'packed' ? packedBody : plainBody
    const reader = read(`gone ${way}`, make).getReader()
    await reader.read()
    await reader.cancel()
    expect((await ways[way]!(`gone ${way}`, make)).equals(whole)).toBe(true)
    expect((await ways[way]!(`gone ${way}`, make)).equals(whole)).toBe(true)
    expect(count()).toBe(2)
  },
)

test.each(['packed', 'plain'] as const)('a body that fails is no whole one, and is made again (%s)', async (way) => {
  const { whole, make, count } = text()
  const broken = (): Stream => {
    let chunks = 0
    return new ReadableStream({
      pull(controller) {
        if (chunks++ < 3) controller.enqueue(new Uint8Array(100_000))
        else controller.error(new Error('the schema cannot be read'))
      },
    })
  }
  await expect(ways[way]!(`fails ${way}`, broken)).rejects.toThrow('the schema cannot be read')
  expect((await ways[way]!(`fails ${way}`, make)).equals(whole)).toBe(true)
  expect((await ways[way]!(`fails ${way}`, make)).equals(whole)).toBe(true)
  expect(count()).toBe(1)
})

test.each(['packed', 'plain'] as const)(
  'of many that read slowly only the newest are gathered, and each gets all (%s)',
  async (way) => {
    const read = way === 'packed' ? packedBody : plainBody
    const bodies = ['oldest', 'older', 'newest'].map((name) => ({ key: `${name} ${way}`, ...text() }))
    const readers = bodies.map(({ key, make }) => read(key, make))
    for (const [at, { whole }] of bodies.entries()) {
      const got = await bytesOf(readers[at]!)
      expect((way === 'packed' ? gunzipSync(got) : got).equals(whole)).toBe(true)
    }
    for (const { key, make } of bodies) await ways[way]!(key, make)
    expect(bodies.map(({ count }) => count())).toEqual([2, 1, 1])
  },
)
