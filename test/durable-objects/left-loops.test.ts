// SQLite cannot begin its log anew while a statement has rows left, and a cursor cannot be closed.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, test } from 'vitest'
import type { ResourceShard } from '../../durable-objects/resource-shard.ts'
import type { Statements } from '../../durable-objects/statements.ts'
import { ADDED, MODIFIED, statements } from '../../durable-objects/statements.ts'
import type { Env } from '../../src/env.ts'

const { SHARDS } = env as unknown as Env & { SHARDS: DurableObjectNamespace<ResourceShard> }

const RANGE = { from: 'things/', to: 'things0' }
const COUNT = 200

const loops: Readonly<Record<string, (all: Statements) => Iterable<unknown> | number | undefined>> = {
  'the keys of a selection': ({ now }) => now.rows(RANGE, { needles: [] }, 10),
  'the keys of a selection by label': ({ now }) => now.rows(RANGE, { needles: [['app']] }, 10),
  'the keys of an owner': ({ now }) => now.rows(RANGE, { needles: [], relation: 'owner/a' }, 10),
  'what a past state has besides': (all) => all.replacedSince(0, 100, 50, RANGE),
  'what compaction drops': (all) => all.changesToDrop(0, COUNT),
  'the first change to compact': (all) => all.firstSuperseding(0, 100),
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
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
    const recorded = {
      exec(...call: Parameters<SqlStorage['exec']>) {
        const cursor = storage.sql.exec(...call)
        cursors.push(cursor)
        return cursor
      },
    }
    const found = loop(statements(recorded as unknown as SqlStorage, () => {}))
    if (typeof found === 'object') for (const _ of found) break
    expect(cursors.length).toBeGreaterThan(0)
    expect(cursors.map((cursor) => cursor.next().done)).toEqual(cursors.map(() => true))
  }),
)
