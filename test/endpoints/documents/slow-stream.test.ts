import { expect, test } from 'vitest'
import { slowText } from '../../../src/endpoints/documents/slow-stream.ts'
import { lentStream } from '../../../src/storage/streams/lent-stream.ts'

const slowStream = (pieces: Iterable<string>): ReadableStream<Uint8Array> => lentStream(slowText(pieces))

test('the pieces come whole and in order, empty ones too', async () => {
  const pieces = Array.from({ length: 500 }, (_, n) => (n % 3 === 0 ? '' : `piece ${n} `.repeat(n)))
  expect(await new Response(slowStream(pieces)).text()).toBe(pieces.join(''))
  expect(await new Response(slowStream([])).text()).toBe('')
})

test('characters of every length come whole, in pieces that are larger than a buffer', async () => {
  const pieces = ['a', 'é', '€', '😀'].map((character) => character.repeat(150_000))
  expect(await new Response(slowStream(pieces)).text()).toBe(pieces.join(''))
})

test('the stream yields to other requests between slices, also if pieces arrive slowly', async () => {
  let turns = 0
  const timer = setInterval(() => turns++)
  await new Response(slowStream(Array.from({ length: 1_600 }, (_, n) => (n === 1_599 ? 'end' : '')))).text()
  clearInterval(timer)
  expect(turns).toBeGreaterThan(10)
})

test('the stream makes no more pieces than the reader takes, and none after the reader cancels', async () => {
  let made = 0
  let isOver = false
  function* pieces() {
    try {
      for (;;) {
        made++
        yield 'x'.repeat(200_000)
      }
    } finally {
      isOver = true
    }
  }
  const reader = slowStream(pieces()).getReader()
  for (let chunk = 0; chunk < 3; chunk++) await reader.read()
  await reader.cancel()
  expect(made).toBeLessThanOrEqual(5)
  expect(isOver).toBe(true)
})
