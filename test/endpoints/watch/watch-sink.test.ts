import { expect, test } from 'vitest'
import { streamSink } from '../../../src/endpoints/watch/watch-sink.ts'

const sinkOf = () => streamSink({ 'Content-Type': 'application/json' })

test('a sink that is given up keeps nothing of what its client has not taken', async () => {
  const sink = sinkOf()
  const reader = sink.response.body!.getReader()
  let isGone = false
  sink.onGone(() => (isGone = true))
  await sink.send(new Uint8Array([1]))
  expect((await reader.read()).value).toEqual(new Uint8Array([1]))
  const stalled = sink.send(new Uint8Array(1_000_000))
  sink.abort()
  await stalled
  await expect(reader.read()).rejects.toThrow('the client is too slow')
  expect([isGone, sink.hasGone()]).toEqual([true, true])
  await expect(sink.send(new Uint8Array([2]))).rejects.toThrow('the client is gone')
  sink.close()
})

test('what a client has not taken is short, however long the event is', async () => {
  const sink = sinkOf()
  const reader = sink.response.body!.getReader()
  let isSent = false
  let parts = 0
  const sending = sink.send(new Uint8Array(1_000_000), () => parts++).then(() => (isSent = true))
  let taken = 0
  while (taken < 1_000_000) {
    await new Promise((resolve) => setTimeout(resolve))
    expect(isSent).toBe(false)
    const { value } = await reader.read()
    expect(value!.length).toBeLessThanOrEqual(16 * 1024)
    taken += value!.length
    // a chunk is taken when the next one is asked for
    expect(parts * 64 * 1024).toBeLessThan(taken)
  }
  const end = reader.read()
  await sending
  expect(parts).toBe(15)
  sink.close()
  expect((await end).done).toBe(true)
})

test('small events do not wait for the client', async () => {
  const sink = sinkOf()
  for (let n = 0; n < 60; n++) await sink.send(new Uint8Array(1_000))
  sink.abort()
})

test('a watch that ends while it sends an event sends the whole event', async () => {
  const sink = sinkOf()
  const reader = sink.response.body!.getReader()
  const sending = sink.send(new Uint8Array(200_000))
  sink.close()
  expect(sink.hasGone()).toBe(true)
  await expect(sink.send(new Uint8Array([2]))).rejects.toThrow('the client is gone')
  let taken = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) taken += next.value.length
  await sending
  expect(taken).toBe(200_000)
})
