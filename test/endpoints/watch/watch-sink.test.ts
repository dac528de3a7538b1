import { expect, test } from 'vitest'
import { streamSink } from '../../../src/endpoints/watch/watch-sink.ts'

test('a sink that is given up keeps nothing of what its client has not taken', async () => {
  const sink = streamSink({ 'Content-Type': 'application/json' }, true)
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
