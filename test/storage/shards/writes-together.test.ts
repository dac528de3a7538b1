import { expect, test } from 'vitest'
import type { ShardStub } from '../../../src/storage/shards/shard-client.ts'
import type { Attempt, ShardReply, ShardWrite, Written } from '../../../src/storage/shards/shard-protocol.ts'
import { turnOfOthers } from '../../../src/base/slices.ts'
import { TurnBudget } from '../../../src/storage/shards/turn-budget.ts'
import { WritesTogether } from '../../../src/storage/shards/writes-together.ts'

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

test('writes of one turn go in one call, and each writer gets its own answer', async () => {
  const { calls, stub } = shardWith(({ key }) =>
    key === 'b' ? { error: { code: 'KeyExists', revision: 7, current: 9 } } : written(),
  )
  const writes = new WritesTogether(new TurnBudget(() => 0))
  const replies = await Promise.all(['a', 'b', 'c'].map((key) => writes.send('s', () => stub, write(key), 'first')))
  expect(calls).toEqual([[['a', 'b', 'c'], 'first']])
  expect(replies).toEqual([written(), { error: { code: 'KeyExists', revision: 7, current: 9 } }, written()])
})

test.each<[string, readonly (readonly [string, string, Attempt, string?])[], number]>([
  ['another shard', [['s', 'a', 'first'], ['t', 'b', 'first']], 2], // prettier-ignore
  ['what is sent again', [['s', 'a', 'first'], ['s', 'b', 'again']], 2], // prettier-ignore
  ['many', Array.from({ length: 17 }, (_, n) => ['s', `${n}`, 'first'] as const), 2],
  ['large values', ['a', 'b', 'c'].map((key) => ['s', key, 'first', 'x'.repeat(2_000_000)] as const), 2],
])('%s goes in another call', async (_, all, count) => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether(new TurnBudget(() => 0))
  await Promise.all(all.map(([shard, key, attempt, text]) => writes.send(shard, () => stub, write(key, text), attempt)))
  expect(calls).toHaveLength(count)
  expect(calls.flatMap(([keys]) => keys)).toEqual(all.map(([, key]) => key))
})

test('writers that begin a few a turn go in one call', async () => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether(new TurnBudget(() => 0))
  const writer = async (name: string) => {
    const sent: Promise<unknown>[] = []
    for (let n = 0; n < 20; n++) {
      sent.push(writes.send('s', () => stub, write(`${name}${n}`), 'first'))
      await turnOfOthers()
    }
    await Promise.all(sent)
  }
  await Promise.all([writer('a'), writer('b')])
  expect(calls.map(([keys]) => keys.length)).toEqual([16, 16, 8])
})

test('writes during a call go in one call after it, and delay no other shard', async () => {
  const calls: string[][] = []
  const ends: (() => void)[] = []
  const stub = {
    async writeTogether(writes: readonly ShardWrite[]) {
      calls.push(writes.map(({ key }) => key))
      await new Promise<void>((resolve) => ends.push(resolve))
      return writes.map(written)
    },
  } as unknown as ShardStub // all that is called of it
  const writes = new WritesTogether(new TurnBudget(() => 0))
  const sent: Promise<unknown>[] = []
  const send = async (shard: string, key: string) => {
    sent.push(writes.send(shard, () => stub, write(key), 'first'))
    await turnOfOthers()
  }
  await send('s', 'a')
  for (let turn = 0; turn < 3; turn++) await turnOfOthers()
  await send('s', 'b')
  await send('s', 'c')
  await send('t', 'd')
  for (let turn = 0; turn < 3; turn++) await turnOfOthers()
  expect(calls).toEqual([['a'], ['d']])
  for (const end of ends.splice(0)) end()
  for (let turn = 0; turn < 3; turn++) await turnOfOthers()
  expect(calls).toEqual([['a'], ['d'], ['b', 'c']])
  for (const end of ends.splice(0)) end()
  expect(await Promise.all(sent)).toHaveLength(4)
})

test('later writes go in a call of their own', async () => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether(new TurnBudget(() => 0))
  await writes.send('s', () => stub, write('a'), 'first')
  await writes.send('s', () => stub, write('b'), 'first')
  expect(calls.map(([keys]) => keys)).toEqual([['a'], ['b']])
})

test('a call that fails fails for each', async () => {
  const stub = { writeTogether: async () => Promise.reject(new Error('the object ended')) } as unknown as ShardStub
  const writes = new WritesTogether(new TurnBudget(() => 0))
  const replies = await Promise.allSettled(['a', 'b'].map((key) => writes.send('s', () => stub, write(key), 'first')))
  expect(replies.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('what thousands of writers began in one turn is gone with it', async () => {
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether(new TurnBudget(() => 0))
  // what is kept of calls that may be joined
  const { open } = writes as unknown as { open: ReadonlyMap<string, unknown> }
  const all = Array.from({ length: 20_000 }, (_, n) => writes.send(`s${n % 5_000}`, () => stub, write(`${n}`), 'first'))
  expect(open.size).toBe(5_000)
  await Promise.all(all)
  expect(open.size).toBe(0)
  expect(calls.flatMap(([keys]) => keys)).toHaveLength(20_000)
})

test('two shards commit in turns of their own', async () => {
  const turns: string[][] = [[]]
  let time = 0
  const budget = new TurnBudget(
    () => time,
    async () => {
      await turnOfOthers()
      turns.push([])
    },
  )
  const stubOf = (shard: string) =>
    ({
      async writeTogether(sent: readonly ShardWrite[]) {
        turns.at(-1)!.push(shard)
        time += 5 // the milliseconds of a commit
        return sent.map(written)
      },
    }) as unknown as ShardStub // all that is called of it
  const writes = new WritesTogether(budget)
  await Promise.all(['s', 't'].map((shard) => writes.send(shard, () => stubOf(shard), write('a'), 'first')))
  expect(turns.filter(({ length }) => length > 0)).toEqual([['s'], ['t']])
})

test('after a call that failed, the writes that waited use the stub of that time', async () => {
  const broken = { writeTogether: async () => Promise.reject(new Error('the object ended')) } as unknown as ShardStub
  const { calls, stub } = shardWith(written)
  const writes = new WritesTogether(new TurnBudget(() => 0))
  let kept = broken
  const send = (key: string) => writes.send('s', () => kept, write(key), 'first')
  const replies = await Promise.allSettled([
    ...Array.from({ length: 16 }, (_, n) =>
      send(`${n}`).catch(async (error: unknown) => {
        for (let step = 0; step < 10; step++) await null
        kept = stub
        throw error
      }),
    ),
    send('16'),
  ])
  expect(replies.map(({ status }) => status).lastIndexOf('rejected')).toBe(15)
  expect(calls).toEqual([[['16'], 'first']])
})
