import { describe, expect, test } from 'vitest'
import { StorageError } from '../../../src/storage/errors.ts'
import type { ShardCalls } from '../../../src/storage/shards/object-calls.ts'
import { objectStorage } from '../../../src/storage/shards/shard-client.ts'
import { Subrequests } from '../../../src/storage/shards/subrequests.ts'
import { TurnBudget } from '../../../src/storage/shards/turn-budget.ts'

type Call = 'inside' | 'outside'

const make = (subrequests: Subrequests, call: Call): void =>
  call === 'inside' ? subrequests.take() : subrequests.takeOutside()

/** @returns how many calls were made before one was refused, at most `most` */
function madeOf(subrequests: Subrequests, call: Call, most = 100_000): number {
  for (let made = 0; made < most; made++)
    try {
      make(subrequests, call)
    } catch (error) {
      expect(error).toEqual(new StorageError('Spent'))
      return made
    }
  return most
}

describe('an invocation has room for', () => {
  const rows: readonly (readonly [most: number, call: Call, made: number])[] = [
    [100, 'inside', 90],
    [1_000, 'inside', 900],
    [10_000, 'inside', 9_000],
    // the free plan lets fifty leave Cloudflare
    [1_000, 'outside', 45],
    [100, 'outside', 45],
    [10_000, 'outside', 9_000],
    [Infinity, 'inside', 100_000],
    [Infinity, 'outside', 100_000],
  ]
  test.each(rows)('of %d subrequests, calls %s: %d', (most, call, made) => {
    expect(madeOf(new Subrequests(most), call)).toBe(made)
  })
})

test('after the first refusal each call is refused, until the next invocation begins', () => {
  const subrequests = new Subrequests(1_000)
  madeOf(subrequests, 'outside')
  expect([subrequests.isSpent, madeOf(subrequests, 'inside')]).toEqual([true, 0])
  subrequests.begin()
  expect([subrequests.isSpent, subrequests.isLow]).toEqual([false, false])
  expect(madeOf(subrequests, 'inside')).toBe(900)
})

test('new work begins in the first half of the subrequests', () => {
  const subrequests = new Subrequests(100)
  madeOf(subrequests, 'inside', 50)
  expect(subrequests.isLow).toBe(false)
  subrequests.take()
  expect([subrequests.isLow, subrequests.isSpent]).toEqual([true, false])
})

const things = { tenant: 'root', shard: 'things', prefix: 'things' }

/** A shard whose calls fail `failures` times. */
function shardThatFails(failures: number) {
  let left = failures
  const get = () => ({
    async revision() {
      if (left-- > 0) throw Object.assign(new Error('the object moved'), { retryable: true })
      return 1
    },
    writeTogether: async (writes: readonly unknown[]) => writes.map(() => ({ value: { revision: 2 } })),
  })
  return { idFromName: (name: string) => name, get } as unknown as DurableObjectNamespace<ShardCalls>
}

const storageWith = (subrequests: Subrequests, failures = 0) =>
  objectStorage(shardThatFails(failures), () => 0, { turns: new TurnBudget(() => 0), subrequests })

test('a repeated call counts again', async () => {
  const subrequests = new Subrequests(100)
  await storageWith(subrequests, 2).revision(things)
  expect(madeOf(subrequests, 'inside')).toBe(87)
})

test('writes that go in one call count once, and say that the work came further', async () => {
  const subrequests = new Subrequests(100)
  const storage = storageWith(subrequests)
  expect(subrequests.hasWritten).toBe(false)
  const value = { text: '{}', labels: {}, fields: {} } as never
  await Promise.all(['a', 'b', 'c'].map((key) => storage.create(things, key, value)))
  expect(subrequests.hasWritten).toBe(true)
  expect(madeOf(subrequests, 'inside')).toBe(89)
})

test('a refused call is not sent', async () => {
  const subrequests = new Subrequests(100)
  madeOf(subrequests, 'inside')
  await expect(storageWith(subrequests).revision(things)).rejects.toThrow('Spent')
})
