import { expect, test } from 'vitest'
import type { ShardStub } from '../../src/storage/shard-client.ts'
import type { Attempt, ShardReply, ShardWrite, Written } from '../../src/storage/shard-protocol.ts'
import { WritesTogether } from '../../src/storage/writes-together.ts'

/** A shard that keeps what it is called with: keys and attempt. */
function shardWith(answer: (write: ShardWrite) => ShardReply<Written>) {
  const calls: (readonly [readonly string[], Attempt])[] = []
  const stub = {
    async writeTogether(writes: readonly ShardWrite[], attempt: Attempt) {
      calls.push([writes.map(({ key }) => key), attempt])
      return writes.map(answer)
    },
  }
  return { calls, stub: stub as unknown as ShardStub } // all that is called of it
}

const written = (): ShardReply<Written> => ({ value: { revision: 1 } })
const write = (key: string, text = ''): ShardWrite => ({ verb: 'create', key, value: { text, at: 0, uid: key } })

test('what is written in one turn goes in one call, and each writer gets its own answer', async () => {
  const { calls, stub } = shardWith(({ key }) =>
    key === 'b' ? { error: { code: 'KeyExists', revision: 7, current: 9 } } : written(),
  )
  const writes = new WritesTogether()
  const replies = await Promise.all(['a', 'b', 'c'].map((key) => writes.send('s', stub, write(key), 'first')))
  expect(calls).toEqual([[['a', 'b', 'c'], 'first']])
  expect(replies).toEqual([written(), { error: { code: 'KeyExists', revision: 7, current: 9 } }, written()])
})

test.each<[string, readonly (readonly [string, string, Attempt, string?])[], number]>([
  ['another shard', [['s', 'a', 'first'], ['t', 'b', 'first']], 2], // prettier-ignore
  ['what is sent again', [['s', 'a', 'first'], ['s', 'b', 'again']], 2], // prettier-ignore
  ['many', Array.from({ length: 65 }, (_, n) => ['s', `${n}`, 'first'] as const), 2],
  ['large values', ['a', 'b', 'c'].map((key) => ['s', key, 'first', 'x'.repeat(2_000_000)] as const), 2],
])('%s goes in another call', async (_, all, count) => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether()
  await Promise.all(all.map(([shard, key, attempt, text]) => writes.send(shard, stub, write(key, text), attempt)))
  expect(calls).toHaveLength(count)
  expect(calls.flatMap(([keys]) => keys)).toEqual(all.map(([, key]) => key))
})

test('what is written later goes in a call of its own', async () => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether()
  await writes.send('s', stub, write('a'), 'first')
  await writes.send('s', stub, write('b'), 'first')
  expect(calls.map(([keys]) => keys)).toEqual([['a'], ['b']])
})

test('a call that fails fails for each', async () => {
  const stub = { writeTogether: async () => Promise.reject(new Error('the object ended')) } as unknown as ShardStub
  const writes = new WritesTogether()
  const replies = await Promise.allSettled(['a', 'b'].map((key) => writes.send('s', stub, write(key), 'first')))
  expect(replies.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('a few writers go on in one turn', async () => {
  const order: string[] = []
  const { stub } = shardWith(({ key }) => {
    if (key === '0') setTimeout(() => order.push('request'), 0)
    return written()
  })
  const writes = new WritesTogether()
  const all = Array.from({ length: 6 }, async (_, n) => {
    await writes.send('s', stub, write(`${n}`), 'first')
    order.push(`${n}`)
  })
  await Promise.all(all)
  expect(order).toEqual(['0', '1', '2', '3', 'request', '4', '5'])
})

test('what thousands of writers began in one turn is gone with it', async () => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether()
  // what is kept of calls that may be joined
  const { open } = writes as unknown as { open: ReadonlyMap<string, unknown> }
  const all = Array.from({ length: 20_000 }, (_, n) => writes.send(`s${n % 5_000}`, stub, write(`${n}`), 'first'))
  expect(open.size).toBe(5_000)
  await Promise.all(all)
  expect(open.size).toBe(0)
  expect(calls.flatMap(([keys]) => keys)).toHaveLength(20_000)
})
