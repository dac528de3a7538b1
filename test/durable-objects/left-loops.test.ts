// SQLite cannot begin its log anew while a statement has rows left, and a cursor cannot be closed.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import type { ResourceShard } from '../../durable-objects/resource-shard.ts'
import type { Statements } from '../../durable-objects/statements.ts'
import { ADDED, DELETED, MODIFIED, statements } from '../../durable-objects/statements.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env & { SHARDS: DurableObjectNamespace<ResourceShard> }

const RANGE = { from: 'things/', to: 'things0' }
const COUNT = 200

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>

/** @returns what the statements of `recorded` read: their cursors, and the rows of each that was read at once */
function recording(sql: SqlStorage) {
  const cursors: Cursor[] = []
  const atOnce: Record<string, SqlStorageValue>[][] = []
  const recorded = {
    exec(...call: Parameters<SqlStorage['exec']>) {
      const cursor = sql.exec(...call)
      cursors.push(cursor)
      return new Proxy(cursor, {
        get(_, name) {
          if (name === 'toArray')
            return () => {
              atOnce.push(cursor.toArray())
              return atOnce.at(-1)
            }
          const value: unknown = Reflect.get(cursor, name, cursor)
          return typeof value === 'function' ? (value.bind(cursor) as unknown) : value
        },
      })
    },
  }
  // the statements ask for nothing else
  return { cursors, atOnce, recorded: recorded as unknown as SqlStorage }
}

const loops: Readonly<Record<string, (all: Statements) => Iterable<unknown> | number | undefined>> = {
  'the keys of a selection': ({ now }) => now.rows(RANGE, { needles: [] }, 10),
  'the keys of a selection by label': ({ now }) => now.rows(RANGE, { needles: [['app']] }, 10),
  'the keys of an owner': ({ now }) => now.rows(RANGE, { needles: [], relation: 'owner/a' }, 10),
  'what a past state has besides': (all) => all.replacedSince(0, 100, 50, RANGE),
  'what compaction drops': (all) => all.changesToDrop(0, COUNT),
  'the first change to compact': (all) => all.firstSuperseding(0, 100),
  'the past of a watch': (all) => all.changes(0, RANGE),
  'the changes of a cache': (all) => all.newestChanges(0),
}

test.each(Object.entries(loops))('whoever leaves %s early leaves no rows', (what, loop) =>
  runInDurableObject(SHARDS.getByName(`left-${what}`), (_, { storage }) => {
    const { insertVersion, insertCurrent } = statements(storage.sql, () => {})
    for (let rv = 1; rv <= COUNT; rv++) {
      const k = `things/${String(rv).padStart(4, '0')}`
      const t = rv === 1 ? ADDED : MODIFIED
      insertVersion({ rv, k, t, crv: rv, prv: rv === 1 ? null : rv - 1, at: 0, l: '{"l":{"app":"a"}}', v: '{}' })
      insertCurrent({ k, rv, l: '{"l":{"app":"a"}}' }, ['owner/a'])
    }
    const { cursors, recorded } = recording(storage.sql)
    const found = loop(statements(recorded, () => {}))
    if (typeof found === 'object') for (const _ of found) break
    expect(cursors.length).toBeGreaterThan(0)
    expect(cursors.map((cursor) => cursor.next().done)).toEqual(cursors.map(() => true))
  }),
)

const KIB = 1024
const MAX_AT_ONCE = 512 * KIB

test.each([
  ['nothing', [], 1],
  ['one small value', [100], 1],
  ['a cluster that just began', Array<number>(60).fill(KIB), 1],
  ['many small values', Array<number>(200).fill(KIB), 4],
  ['pages to the row', Array<number>(128).fill(KIB), 3],
  ['one large value', [1.4 * KIB * KIB], 2],
  ['large values between small ones', [100, 20 * KIB, 100, 9 * KIB, 100], 3],
  ['large values only', Array<number>(20).fill(KIB * KIB), 21],
])('%s: the past of a watch and the changes of a cache have all, and read little at once', (what, sizes, most) =>
  runInDurableObject(SHARDS.getByName(`bounded-${what}`), (_, { storage }) => {
    const { insertVersion, insertCurrent } = statements(storage.sql, () => {})
    const expected = sizes.map((size, index) => {
      const rv = index + 1
      const k = `things/${String(rv).padStart(4, '0')}`
      const v = `${rv}:`.padEnd(size, 'x')
      insertVersion({ rv, k, t: ADDED, crv: rv, prv: null, at: 1, l: `l${rv}`, v })
      insertCurrent({ k, rv, l: `l${rv}` }, [])
      return { rv, k, t: ADDED, prv: null, at: 1, l: `l${rv}`, v, was: null }
    })
    const reads: ((all: Statements) => [found: unknown[], expected: unknown[]])[] = [
      (all) => [[...all.changes(0, RANGE)], expected],
      (all) => [
        [...all.newestChanges(0)].map(({ rv, k, t, v }) => ({ rv, k, t, v })),
        expected.map(({ rv, k, t, v }) => ({ rv, k, t, v })),
      ],
    ]
    for (const read of reads) {
      const { cursors, atOnce, recorded } = recording(storage.sql)
      const [found, wanted] = read(statements(recorded, () => {}))
      expect(found).toEqual(wanted)
      expect(cursors.length).toBeLessThanOrEqual(most)
      expect(atOnce).toHaveLength(cursors.length)
      for (const rows of atOnce)
        if (rows.length > 1) expect(JSON.stringify(rows).length).toBeLessThan(MAX_AT_ONCE + rows.length * 200)
    }
  }),
)

test('versions that are not the newest of their key have no value among the changes of a cache, however large', () =>
  runInDurableObject(SHARDS.getByName('passed-over'), (_, { storage }) => {
    const all = statements(storage.sql, () => {})
    const large = 'x'.repeat(MAX_AT_ONCE)
    const version = { k: 'things/a', crv: 1, at: 0, l: '' }
    all.insertVersion({ ...version, rv: 1, t: ADDED, prv: null, v: large })
    all.insertVersion({ ...version, rv: 2, t: MODIFIED, prv: 1, v: large })
    all.insertVersion({ ...version, k: 'things/b', rv: 3, t: ADDED, prv: null, v: large })
    all.insertVersion({ ...version, k: 'things/b', rv: 4, t: DELETED, prv: 3, v: large })
    all.insertCurrent({ k: 'things/a', rv: 2, l: '' }, [])
    expect([...all.newestChanges(0)].map(({ rv, v }) => [rv, v?.length ?? null])).toEqual([
      [1, null],
      [2, large.length],
      // compaction may have dropped any of a deleted key
      [3, null],
      [4, 0],
    ])
  }))

test('labels count as values do', () =>
  runInDurableObject(SHARDS.getByName('large-labels'), (_, { storage }) => {
    const all = statements(storage.sql, () => {})
    const l = 'x'.repeat(200 * KIB)
    for (let rv = 1; rv <= 10; rv++)
      all.insertVersion({ rv, k: 'things/a', t: MODIFIED, crv: 1, prv: rv === 1 ? null : rv - 1, at: 0, l, v: '{}' })
    const { atOnce, recorded } = recording(storage.sql)
    const found = [...statements(recorded, () => {}).changes(0, RANGE)]
    expect(found.map((row) => [row.l.length, row.was?.length])).toEqual(
      found.map((_, index) => [l.length, index === 0 ? undefined : l.length]),
    )
    expect(found).toHaveLength(10)
    expect(atOnce.length).toBeGreaterThan(0)
    for (const rows of atOnce) if (rows.length > 1) expect(JSON.stringify(rows).length).toBeLessThan(MAX_AT_ONCE)
  }))
