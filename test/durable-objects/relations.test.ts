// A search by an owner's uid or by a node finds the same objects as a full scan, and reads only the rows that it finds.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { narrowedTo, rangeOf } from '../../durable-objects/key-range.ts'
import { Log } from '../../durable-objects/log.ts'
import { decodeSelectable } from '../../durable-objects/selectable.ts'
import { statements } from '../../durable-objects/statements.ts'
import { migrate, migrations } from '../../migrations/index.ts'
import type { Selection } from '../../src/storage/selectors/selection.ts'
import { everything, matches } from '../../src/storage/selectors/selection.ts'
import type { NewValue } from '../../src/storage/storage.ts'
import type { Recorder } from './recorder.ts'

const { RECORDER } = env as unknown as { RECORDER: DurableObjectNamespace<Recorder> }
const PREFIX = 'pods'
const START = '{"metadata":{"resourceVersion":"'

interface Wish {
  readonly owners: readonly string[]
  readonly node: string
  readonly label: string
}

const valueOf = ({ owners, node, label }: Wish): NewValue => ({
  text: `${START}"}}`,
  at: START.length,
  uid: 'u',
  labels: { app: label },
  fields: { 'spec.nodeName': node, 'status.phase': 'Running' },
  owners,
})

/** The log and the statements of a shard, without its Durable Object. */
function opened({ sql }: DurableObjectStorage) {
  let read = 0
  const all = statements(sql, (rows) => void (read += rows))
  let now = 1_800_000_000_000
  const log = new Log(all, () => now++, 60_000, { first: 1, every: 1 })
  const find = (selection: Selection, namespace?: string) => {
    const scope = { prefix: PREFIX, namespace, selection } as Parameters<typeof rangeOf>[0]
    const before = read
    const keys = all.now
      .rows(rangeOf(scope), narrowedTo(selection), 100_000)
      .filter(({ k, l, rv }) =>
        matches(selection, k.slice(PREFIX.length + 1), decodeSelectable(l ?? all.selectableOf(rv)!)),
      )
      .map(({ k }) => k)
    return { keys, rows: read - before }
  }
  return { log, find, all }
}

const inNewShard = <R>(name: string, work: (shard: ReturnType<typeof opened>, storage: DurableObjectStorage) => R) =>
  runInDurableObject(RECORDER.getByName(`relations-${name}`), (_, { storage }) => {
    migrate(storage)
    return work(opened(storage), storage)
  })

const ofOwner = (owner: string): Selection => ({ ...everything, owner })
const onNode = (value: string): Selection => ({
  ...everything,
  fields: [{ field: 'spec.nodeName', operator: '=', value }],
})

const uids = ['a', 'b', '*', 'spec.nodeName=n1', 'ü"']
const nodes = ['', 'n1', 'n2']
const many = Array.from({ length: 20 }, (_, n) => `many-${n}`)
const wish = fc.record({
  owners: fc.oneof(fc.uniqueArray(fc.constantFrom(...uids), { maxLength: 3 }), fc.constant([...many, 'a'])),
  node: fc.constantFrom(...nodes),
  label: fc.constantFrom('x', 'y'),
})
const step = fc.record({
  key: fc.constantFrom('one/a', 'one/b', 'one/ü', 'two/a', 'two/😀'),
  act: fc.constantFrom('write', 'write', 'write', 'delete', 'expire', 'clear', 'restore'),
  wish,
})

const searches: readonly Selection[] = [
  ...[...uids, many[3]!, 'nobody'].map(ofOwner),
  ...nodes.map(onNode),
  { ...ofOwner('a'), fields: onNode('n1').fields },
  { ...ofOwner('a'), labels: [{ key: 'app', operator: 'In', values: ['x'] }] },
]

it('a search finds the objects of an owner and of a node after any history', { timeout: 60_000 }, async () => {
  let shards = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) =>
      inNewShard(`history-${shards++}`, ({ log, find }, storage) => {
        const model = new Map<string, { rv: number; wish: Wish }>()
        for (const { key, act, wish } of steps) {
          const k = `${PREFIX}/${key}`
          const known = model.get(k)
          if (act === 'write') {
            const { written } =
              known === undefined ? log.create(k, valueOf(wish)) : log.update(k, valueOf(wish), known.rv)
            model.set(k, { rv: written.revision, wish })
          } else if (act === 'clear') {
            log.clear()
            model.clear()
          } else if (act === 'restore') {
            if (known !== undefined) continue
            const rv = log.last + 1
            log.restore([{ key: k, revision: rv, value: valueOf(wish) }])
            log.last = rv
            model.set(k, { rv, wish })
          } else if (known !== undefined) {
            if (act === 'delete') log.delete(k, valueOf(wish), known.rv)
            else log.expire(k, known.rv)
            model.delete(k)
          }
        }
        for (const selection of searches)
          for (const namespace of [undefined, 'one']) {
            const expected = [...model]
              .filter(([k]) => namespace === undefined || k.startsWith(`${PREFIX}/${namespace}/`))
              .filter(([k, { wish }]) => matches(selection, k.slice(PREFIX.length + 1), valueOf(wish)))
              .map(([k]) => k)
            expect(find(selection, namespace).keys.toSorted()).toEqual(expected.toSorted())
          }
        // No row of a deleted key is left.
        const left = storage.sql.exec('SELECT DISTINCT k FROM related').toArray()
        expect(left.filter(({ k }) => !model.has(String(k)))).toEqual([])
      }),
    ),
    { numRuns: 60 },
  )
})

it('a search among thousands of objects reads only the rows that it finds', async () => {
  await inNewShard('thousands', ({ log, find }) => {
    for (let n = 0; n < 3_000; n++)
      log.create(`${PREFIX}/one/${n}`, valueOf({ owners: [`owner-${n % 1_000}`], node: `node-${n % 3}`, label: 'x' }))
    const few = find(ofOwner('owner-7'), 'one')
    expect(few.keys).toEqual(['pods/one/1007', 'pods/one/2007', 'pods/one/7'])
    expect(few.rows).toBeLessThan(20)
    expect(find(ofOwner('nobody')).rows).toBeLessThan(5)
    // These are more keys than a page has.
    const node = find(onNode('node-1'))
    expect(node.keys).toHaveLength(1_000)
    expect(node.keys).toEqual(node.keys.toSorted())
    expect(node.rows).toBeLessThan(5_000)
  })
})

it('an object of many owners writes a bounded number of rows', async () => {
  await inNewShard('many', ({ log, find }, storage) => {
    const owners = Array.from({ length: 5_000 }, (_, n) => `owner-${n}`)
    log.create('pods/one/a', valueOf({ owners, node: 'n1', label: 'x' }))
    expect(storage.sql.exec('SELECT COUNT(*) AS n FROM related').one()).toEqual({ n: 1 })
    expect(find(ofOwner('owner-4711')).keys).toEqual(['pods/one/a'])
    expect(find(onNode('n1')).keys).toEqual(['pods/one/a'])
  })
})

it('a search finds the objects that an earlier release stored', async () => {
  await runInDurableObject(RECORDER.getByName('relations-earlier'), (_, { storage }) => {
    const before = migrations.findIndex(({ id }) => id === '0003-relations')
    migrate(storage, migrations.slice(0, before))
    const rows: [string, Wish][] = [
      ['pods/one/a', { owners: ['a', 'b'], node: 'n1', label: 'x' }],
      ['pods/one/b', { owners: [], node: 'n2', label: '"o":["a"]' }],
      ['pods/one/c', { owners: ['ü"'], node: '', label: 'x' }],
      ['pods/one/d', { owners: [...many, 'a'], node: 'n1', label: 'x' }],
      ['pods/one/e', { owners: [], node: '', label: '"spec.nodeName":"n1"' }],
      ['pods/one/f', { owners: ['*'], node: 'n2', label: 'x' }],
    ]
    for (const [n, [k, { owners, node, label }]] of rows.entries()) {
      const l = JSON.stringify({
        l: { app: label, 'spec.nodeName': 'n2' },
        ...(node === '' ? {} : { f: { 'spec.nodeName': node } }),
        ...(owners.length === 0 ? {} : { o: owners }),
      })
      storage.sql.exec('INSERT INTO cur (k, rv, l) VALUES (?, ?, ?)', k, n + 1, l)
    }
    migrate(storage)
    const { find } = opened(storage)
    for (const selection of searches) {
      const expected = rows.filter(([k, wish]) => matches(selection, k.slice(5), valueOf(wish))).map(([k]) => k)
      expect(find(selection).keys).toEqual(expected)
    }
    expect(storage.sql.exec("SELECT r FROM related WHERE k = 'pods/one/d'").toArray()).toEqual([{ r: '*' }])
  })
})
