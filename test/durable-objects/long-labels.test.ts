// An object may have labels of a megabyte, or name thousands of owners. A turn of the shard reads a few such texts, and
// never as many as it reads keys.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { Log } from '../../durable-objects/log.ts'
import { statements } from '../../durable-objects/statements.ts'
import { migrate } from '../../migrations/index.ts'
import { parseLabelSelector } from '../../src/storage/selectors/label-selector.ts'
import type { Selection } from '../../src/storage/selectors/selection.ts'
import { everything } from '../../src/storage/selectors/selection.ts'
import type { NewValue } from '../../src/storage/storage.ts'
import type { Recorder } from './recorder.ts'

const { RECORDER } = env as unknown as { RECORDER: DurableObjectNamespace<Recorder> }
const START = '{"metadata":{"resourceVersion":"'
const OBJECTS = 60
const LONG = 200_000
/** What a turn may read: 256 Ki characters, and the text that goes beyond it. */
const A_TURN = 256 * 1024 + LONG + 10_000

const keyOf = (n: number) => `things/${String(n).padStart(3, '0')}`

const valueOf = (n: number): NewValue => ({
  text: `${START}"}}`,
  at: START.length,
  uid: `u${n}`,
  labels: { long: 'x'.repeat(LONG), app: n % 2 === 0 ? 'even' : 'odd' },
  owners: [`owner-${n}`],
})

/** A shard's log. It records the most characters of selectable texts that its statements returned in one turn. */
function opened({ sql }: DurableObjectStorage) {
  const turn = { read: 0, most: 0 }
  const recording: Pick<SqlStorage, 'exec'> = {
    exec<Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]) {
      const cursor = sql.exec<Row>(query, ...values)
      const toArray = cursor.toArray.bind(cursor)
      cursor.toArray = () => {
        const rows = toArray()
        if (turn.read === 0) setTimeout(() => (turn.read = 0), 0)
        for (const { l } of rows) turn.read += String(l ?? '').length
        turn.most = Math.max(turn.most, turn.read)
        return rows
      }
      return cursor
    },
  }
  const all = statements(recording as SqlStorage, () => {})
  let now = 1_800_000_000_000
  return { turn, log: new Log(all, () => now++, 60_000, { first: 1, every: 1 }) }
}

const inNewShard = <R>(name: string, work: (shard: ReturnType<typeof opened>) => R) =>
  runInDurableObject(RECORDER.getByName(`long-labels-${name}`), (_, { storage }) => {
    migrate(storage)
    return work(opened(storage))
  })

const odd: Selection = { ...everything, labels: parseLabelSelector('app=odd') }
const notOdd: Selection = { ...everything, labels: parseLabelSelector('app!=odd') }
const owned: Selection = { ...everything, owner: 'owner-7' }

async function listed(log: Log, selection: Selection, revision?: number): Promise<number> {
  const scope = { prefix: 'things', selection }
  const at = revision === undefined ? { kind: 'latest' as const } : { kind: 'exact' as const, revision }
  const { revisions } = await log.select({ ...scope, limit: 0, counted: false, start: '', keep: true, at })
  let count = 0
  for (const batch of revisions) {
    count += batch.length
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  return count
}

it.each<[string, Selection, number]>([
  ['a label', odd, OBJECTS / 2],
  ['no such label', notOdd, OBJECTS / 2],
  ['an owner', owned, 1],
])('a list by %s', async (name, selection, expected) => {
  await inNewShard(name, async ({ log, turn }) => {
    for (let n = 0; n < OBJECTS; n++) log.create(keyOf(n), valueOf(n), 'first')
    const then = log.last
    turn.most = turn.read = 0
    expect(await listed(log, selection)).toBe(expected)
    expect(turn.most).toBeLessThan(A_TURN)
    for (let n = 0; n < OBJECTS; n++) {
      const key = keyOf(n)
      log.update(key, { ...valueOf(n), labels: {}, owners: [] }, log.get(key, 0)!.revision, 'first')
    }
    turn.most = turn.read = 0
    expect(await listed(log, selection, then)).toBe(expected)
    expect(turn.most).toBeLessThan(A_TURN)
  })
})
