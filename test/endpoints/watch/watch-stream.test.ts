import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WatchFramer } from '../../../src/codec/encode/watch-framer.ts'
import { ClientGone } from '../../../src/base/client-gone.ts'
import { streamSink } from '../../../src/endpoints/watch/watch-sink.ts'
import type { WatchSink } from '../../../src/endpoints/watch/watch-sink.ts'
import { pumpWatch } from '../../../src/endpoints/watch/watch-stream.ts'
import type { RequestScope } from '../../../src/registry/resource-scope.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import { everything } from '../../../src/storage/selectors/selection.ts'
import { memoryServer } from '../../request-in-memory.ts'

const logged: string[] = []
beforeEach(() => {
  logged.length = 0
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line))
})
afterEach(() => vi.restoreAllMocks())

/**
 * Runs a watch whose first event throws the error. Returns the text that the client gets, and the log.
 * @param opening the error comes after this many milliseconds, before there is a stream of events
 */
async function watchWith(error: Error, opening?: number) {
  const request = memoryServer().request('/api/v1/namespaces/default/pods?watch=true')
  const sent: Uint8Array[] = []
  let closed = 0
  const sink: WatchSink = {
    response: new Response(),
    takesLines: false,
    send: async (frame) => void sent.push(frame),
    close: () => closed++,
    abort() {},
    onGone() {},
    hasGone: () => false,
  }
  const watch = {
    messages: (async function* () {
      yield* []
      throw error
    })(),
    ping() {},
    cancel() {},
  }
  const scope = {
    request,
    resource: { group: '', version: 'v1', resource: 'pods' },
    strategy: {},
    storage: { watch: async () => (opening === undefined ? watch : lateError(error, opening)) },
  } as unknown as RequestScope // a watch looks at nothing else
  const framer = { error: () => new Uint8Array([1]) } as unknown as WatchFramer
  const plan = {
    isOfNow: false,
    query: {
      selection: everything,
      namespace: undefined,
      ...(opening === undefined ? { from: 1 } : { notOlderThan: 1 }),
    },
    bookmarks: true,
    seconds: opening === undefined ? 60 : 1,
  }
  let left = 0
  await pumpWatch(scope, framer, sink, plan, { leave: () => left++, renew() {} })
  expect(left).toBe(1)
  return { sent: sent.length, closed }
}

const lateError = (error: Error, milliseconds: number): Promise<never> =>
  new Promise((_, reject) => setTimeout(() => reject(error), milliseconds))

it('a watch of a second that waits for a revision tells that it does not come', async () => {
  vi.useFakeTimers()
  try {
    const result = watchWith(new StorageError('FutureRevision', 2, 1), 3_000)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await result).toMatchObject({ sent: 1, closed: 1 })
  } finally {
    vi.useRealTimers()
  }
})

it('a watch without events sends nothing: a client that reads lines takes an empty one for an event', async () => {
  vi.useFakeTimers()
  try {
    const sink = streamSink({ 'Content-Type': 'application/json' })
    const body = sink.response.text()
    let cancelled = () => {}
    const messages = (async function* () {
      yield* []
      await new Promise<void>((resolve) => (cancelled = resolve))
    })()
    const scope = {
      request: memoryServer().request('/api/v1/namespaces/default/pods?watch=true'),
      resource: { group: '', version: 'v1', resource: 'pods', strategy: {} },
      storage: { watch: async () => ({ messages, ping() {}, cancel: () => cancelled() }) },
    } as unknown as RequestScope // a watch looks at nothing else
    const query = { selection: everything, namespace: undefined, from: 1 }
    const plan = { isOfNow: false, query, bookmarks: false, seconds: 300 }
    const watch = pumpWatch(scope, {} as unknown as WatchFramer, sink, plan, { leave() {}, renew() {} })
    await vi.advanceTimersByTimeAsync(300_000)
    await watch
    expect(await body).toBe('')
  } finally {
    vi.useRealTimers()
  }
})

describe('a watch that breaks off', () => {
  it('by a mistake of the server ends, and the log names the request', async () => {
    expect(await watchWith(new TypeError('no such field'))).toEqual({ sent: 0, closed: 1 })
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      {
        message: 'a watch broke off',
        auditID: 'audit',
        method: 'GET',
        path: '/api/v1/namespaces/default/pods',
        user: 'system:anonymous',
        error: 'no such field',
      },
    ])
  })

  it.each([
    ['the client has gone', new ClientGone('the client is gone'), 0],
    ['storage has a code for it, which the client is told', new StorageError('Compacted', 1, 2), 1],
    ['the shard has too much to do', new StorageError('Overloaded'), 0],
  ])('because %s is no mistake', async (_, error, sent) => {
    expect(await watchWith(error)).toEqual({ sent, closed: 1 })
    expect(logged).toEqual([])
  })
})
