// A selective list over many keys reads a bounded number of them in each turn: other calls of the shard run in between.
import { expect, it } from 'vitest'
import { listAnswer } from '../../durable-objects/list-stream.ts'
import { pick } from '../../durable-objects/selected-keys.ts'
import type { States } from '../../durable-objects/selected-keys.ts'
import type { KeyRow, StateStatements, Statements } from '../../durable-objects/statements.ts'
import { parseFieldSelector } from '../../src/storage/selectors/field-selector.ts'

const KEYS = 4_000
const VALUE = JSON.stringify({ spec: { text: 'x'.repeat(100_000) } })
const keyOf = (n: number) => `things/${String(n).padStart(6, '0')}`

/** A state whose keys are numbers. It records the most keys that one turn read. */
function counted() {
  let looked = 0
  const most = { inATurn: 0 }
  const newTurn = (): void => {
    looked = 0
    timer = setTimeout(newTurn, 0)
  }
  let timer = setTimeout(newTurn, 0)
  const state: StateStatements = {
    rows({ from, to }, _, limit) {
      const rows: KeyRow[] = []
      for (let n = 0; n < KEYS && rows.length < limit; n++) {
        const k = keyOf(n)
        if (k >= from && k < to) rows.push({ k, rv: n + 1, l: '{}' })
      }
      looked += rows.length
      most.inATurn = Math.max(most.inATurn, looked)
      return rows
    },
    revisions: () => ({ found: [], last: null }),
    count: () => KEYS,
  }
  return { state, most, stop: () => clearTimeout(timer) }
}

/** The state for a list without concurrent writes. */
const latest = (state: StateStatements): States => ({
  now: () => state,
  past() {
    throw new Error('there is no past')
  },
  text: () => VALUE,
  selectable: () => '{}',
})

it.each<[which: string, selector: string, expected: readonly number[]]>([
  ['the last', `metadata.name=${keyOf(KEYS - 1).slice(7)}`, [KEYS]],
  ['none', 'metadata.name=other', []],
  ['the first', `metadata.name=${keyOf(0).slice(7)}`, [1]],
])('%s of many', async (_, selector, expected) => {
  const { state, most, stop } = counted()
  const selection = { labels: [], fields: parseFieldSelector(selector) }
  const scope = { prefix: 'things', selection, limit: 0, counted: false }
  const picked = await pick(latest(state), scope, { from: 'things/', to: 'things0' }, scope)
  expect(picked.isEmpty).toBe(expected.length === 0)
  // The statements of a shard that has every version.
  const statements = {
    values: (revisions: readonly number[]) => revisions.map((rv) => ({ rv, k: keyOf(rv - 1), v: String(rv) })),
  } as unknown as Statements
  const call = { ...scope, shape: { as: 'lines' as const }, at: { kind: 'latest' as const }, start: '', keep: true }
  const text = await listAnswer({ revision: KEYS, ...picked }, call, statements).text()
  stop()
  expect(text).toBe(expected.map((rv) => `${rv}\n`).join(''))
  // A turn of the list may end before the turn counted here.
  expect(most.inATurn).toBeLessThanOrEqual(1_000)
})

const none = { labels: [], fields: parseFieldSelector('metadata.name=other') }
const many = {
  labels: Array.from({ length: 5_000 }, (_, n) => ({ key: `k${n}`, operator: 'DoesNotExist' as const, values: [] })),
  fields: none.fields,
}

/** By a field that no row has, so that each value is read. */
const read = {
  labels: [],
  fields: [{ field: 'spec.a', operator: '=' as const, value: 'x', place: { names: ['spec', 'a'] } }],
}

it.each([
  ['all, by values of 100 KB', read, 0, false, 6],
  ['a page of none, by values of 100 KB', read, 1, false, 6],
  ['a page of none', none, 3, false, 1_000],
  ['how many they are', none, 0, true, 1_000],
  ['all, by five thousand requirements', many, 0, false, 10],
  ['a page of none, by five thousand requirements', many, 1, false, 10],
])('%s', async (_, selection, limit, isCounted, mostInATurn) => {
  const { state, most, stop } = counted()
  const scope = { prefix: 'things', selection, limit, counted: isCounted }
  const picked = await pick(latest(state), scope, { from: 'things/', to: 'things0' }, scope)
  stop()
  expect(picked.isEmpty).toBe(true)
  expect(most.inATurn).toBeLessThanOrEqual(mostInATurn)
})

it('a requirement with many values is searched a few times', async () => {
  let searched = 0
  const values = Object.assign(
    Array.from({ length: 10_000 }, (_, n) => `v${n}`),
    {
      includes(this: readonly string[], value: string) {
        searched++
        return this.indexOf(value) >= 0
      },
    },
  )
  const { state, stop } = counted()
  const selection = { labels: [{ key: 'k', operator: 'NotIn' as const, values }], fields: none.fields }
  const labelled: StateStatements = {
    ...state,
    rows: (...call) => state.rows(...call).map((row) => ({ ...row, l: '{"l":{"k":"x"}}' })),
  }
  const scope = { prefix: 'things', selection, limit: 1, counted: false }
  await pick(latest(labelled), scope, { from: 'things/', to: 'things0' }, scope)
  stop()
  expect(searched).toBeLessThan(100)
})
