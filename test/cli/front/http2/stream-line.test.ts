import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { StreamLine } from '../../../../src/cli/front/http2/stream-line.ts'

let line: StreamLine
let begun: string[]

beforeEach(() => {
  line = new StreamLine()
  begun = []
})

/** Puts some requests of a connection into the line. */
function join(connection: object, name: string, count: number, length = 100) {
  const streams = Array.from({ length: count }, () => ({ closed: false }))
  const list = begun
  streams.forEach((stream, n) => line.join(connection, stream, length, () => list.push(`${name}${n}`)))
  return streams
}

test('requests begin in a later turn, those of a connection in their order', async () => {
  join({}, 'a', 3)
  expect(begun).toEqual([])
  await turn()
  expect(begun).toEqual(['a0', 'a1', 'a2'])
  join({}, 'b', 1)
  await turn()
  expect(begun).toEqual(['a0', 'a1', 'a2', 'b0'])
})

test('a few begin in a turn, and connections take turns', async () => {
  join({}, 'many', 1_000)
  join({}, 'few', 2)
  await turn()
  expect(begun).toHaveLength(16)
  expect(begun.slice(0, 5)).toEqual(['many0', 'few0', 'many1', 'few1', 'many2'])
  await turn()
  expect(begun).toHaveLength(32)
})

test('those that are cancelled meanwhile take nothing', async () => {
  const streams = join({}, 'a', 5_000)
  for (const stream of streams.slice(0, -1)) stream.closed = true
  await turn()
  expect(begun).toEqual(['a4999'])
})

test('a connection that has ended leaves', async () => {
  const gone = {}
  join(gone, 'gone', 3)
  join({}, 'a', 1)
  line.leave(gone)
  await turn()
  expect(begun).toEqual(['a0'])
})

test('of long heads as many begin in a turn as have room', async () => {
  join({}, 'long', 3, 1 << 20)
  join({}, 'short', 3)
  for (const expected of [['long0'], ['short0', 'long1'], ['short1', 'long2'], ['short2']]) {
    begun.length = 0
    await turn()
    expect(begun).toEqual(expected)
  }
})
