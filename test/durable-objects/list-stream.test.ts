// What a list holds whose reader takes nothing.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Env } from '../../src/env.ts'
import { listAnswer } from '../../durable-objects/list-stream.ts'
import { ADDED, statements } from '../../durable-objects/statements.ts'
import type { Statements } from '../../durable-objects/statements.ts'

// The binding is in vitest.config.ts.
const { SHARDS } = env as unknown as Pick<Env, 'SHARDS'>
const MIB = 1024 * 1024

/** Values of these lengths, and how many of them were read so far. */
function storedValues(lengths: readonly number[]) {
  const read = { values: 0 }
  const values: Statements['values'] = (revisions, most) => {
    const found: { rv: number; k: string; v: string }[] = []
    for (let length = 0; length < most && found.length < revisions.length; read.values++) {
      const rv = revisions[found.length]!
      found.push({ rv, k: `things/${rv}`, v: 'x'.repeat(lengths[rv]!) })
      length += lengths[rv]!
    }
    return found
  }
  // a list asks for nothing else
  return { read, statements: { values } as unknown as Statements }
}

function answer(lengths: readonly number[]) {
  const { read, statements } = storedValues(lengths)
  const revisions = [lengths.map((_, rv) => rv)]
  const call = {
    prefix: 'things',
    selection: [],
    at: { kind: 'latest' },
    limit: 0,
    counted: false,
    start: '',
    shape: { as: 'lines' },
    keep: true,
  } as unknown as Parameters<typeof listAnswer>[1] // only its shape and its prefix count here
  return { read, body: listAnswer({ revision: 1, revisions, isEmpty: false }, call, statements).body! }
}

test('chunks of large values end with the value that fills them, whatever came before', async () => {
  const lengths = [...Array<number>(136).fill(10), ...Array<number>(40).fill(1.5 * MIB)]
  const { body } = answer(lengths)
  const reader = body.getReader()
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    expect(value.length).toBeLessThan(1.8 * MIB)
    bytes += value.length
  }
  expect(bytes).toBe(lengths.reduce((sum, length) => sum + length + 1, 0))
})

test('the first chunk has a limit too', async () => {
  const { read, body } = answer(Array<number>(8).fill(1.5 * MIB))
  const { value } = await body.getReader().read()
  expect(value!.length).toBe(1.5 * MIB + 1)
  expect(read.values).toBe(1)
})

test('nothing is read before somebody wants it', async () => {
  const { read, body } = answer(Array<number>(300).fill(10))
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(read.values).toBe(0)
  const reader = body.getReader()
  await reader.read()
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(read.values).toBe(8)
  await reader.cancel()
})

/** Runs in a shard with three values of ten octets, whose revisions are 1, 2 and 3. */
const withValues = (name: string, work: (sql: SqlStorage) => void | Promise<void>): Promise<void> =>
  runInDurableObject(SHARDS.getByName(`list-stream-${name}`), async (_, { storage }) => {
    const { insertVersion } = statements(storage.sql, () => {})
    for (const rv of [1, 2, 3])
      insertVersion({ rv, k: `things/${rv}`, t: ADDED, crv: rv, prv: null, at: 0, l: '', v: 'x'.repeat(10) })
    await work(storage.sql)
  })

test('a value that is gone breaks the list off', () =>
  withValues('gone', async (sql) => {
    sql.exec('DELETE FROM rev WHERE rv = 2')
    // its shape and its prefix are all that counts here
    const call = { prefix: 'things', shape: { as: 'lines' } } as unknown as Parameters<typeof listAnswer>[1]
    const page = { revision: 3, revisions: [[1, 2, 3]], isEmpty: false }
    const { body } = listAnswer(
      page,
      call,
      statements(sql, () => {}),
    )
    await expect(body!.getReader().read()).rejects.toThrow('versions of a list at 2 were compacted')
  }))

test.each([
  [1, 1],
  [10, 1],
  [11, 2],
  [100, 3],
])('of values that may have %i octets, %i are read, and no statement has rows left', (most, read) =>
  withValues(`most-${most}`, (sql) => {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
    const recorded = {
      exec(...call: Parameters<SqlStorage['exec']>) {
        const cursor = sql.exec(...call)
        cursors.push(cursor)
        return cursor
      },
    }
    // the statement asks for nothing else
    const rows = statements(recorded as unknown as SqlStorage, () => {}).values([1, 2, 3], most)
    expect(rows.map(({ rv }) => rv)).toEqual([1, 2, 3].slice(0, read))
    expect(cursors.map((cursor) => cursor.next().done)).toEqual(cursors.map(() => true))
    expect(cursors.length).toBeGreaterThan(0)
  }),
)
