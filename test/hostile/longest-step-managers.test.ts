// An apply yields to other requests while it goes through the fields of many managers, and tells their conflicts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { countedServer } from './longest-counted-step.ts'
import type { CountedServer } from './longest-counted-step.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

let server: CountedServer

beforeAll(async () => {
  server = await countedServer()
}, 120_000)
afterAll(() => server.restore())

const times = <Of>(n: number, one: (at: number) => Of): Of[] => Array.from({ length: n }, (_, at) => one(at))
const data = (keys: readonly string[], value: string): JsonObject => Object.fromEntries(keys.map((key) => [key, value]))
const managed = (manager: string, keys: readonly string[]) => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2024-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
})

interface Story {
  readonly what: string
  readonly managers: (n: number) => ReturnType<typeof managed>[]
  readonly keys: (n: number) => string[]
}

const KEYS = times(50, (at) => `k${at}`)
const numbered = (n: number) => times(n, (at) => `k${at}`)
const stories: readonly Story[] = [
  {
    what: 'many managers of the same fields',
    managers: (n) => times(n / 50, (at) => managed(`m${at}`, KEYS)),
    keys: () => KEYS,
  },
  { what: 'a manager of many fields', managers: (n) => [managed('m', numbered(n))], keys: numbered },
]

const FEW = 1_000
/** The most work for each field of the longest step: the parsing of a stored object is not in parts. */
const MOST = 15

let names = 0

test.each(stories)('conflicts with $what', { timeout: 120_000 }, async ({ managers, keys }) => {
  const works: number[] = []
  // the first request fills caches and does not count
  for (const n of [FEW, FEW, 4 * FEW]) {
    const name = `c${++names}`
    const metadata = { name, namespace: 'default', uid: 'u', managedFields: managers(n) }
    await server.put('', 'configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: data(keys(n), 'v') })
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: data(keys(n), 'w') }
    const step = await server.longestStep({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/${name}?fieldManager=me`,
      contentType: 'application/apply-patch+yaml',
      body: JSON.stringify(body),
    })
    expect(step.status, step.text).toBe(409)
    expect(step.lost, 'made anew in each part').toEqual([])
    works.push(step.work)
  }
  const [, few, many] = works as [number, number, number] // one for each size
  expect((many - few) / (3 * FEW), 'for each field').toBeLessThan(MOST)
})

test('kubectl takes over what its annotation tells of, in parts', { timeout: 120_000 }, async () => {
  const works: number[] = []
  for (const n of [FEW, FEW, 4 * FEW]) {
    const name = `c${++names}`
    const keys = numbered(n)
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: data(keys, 'v') }
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(applied) }
    const managedFields = [{ ...managed('kubectl-client-side-apply', keys), operation: 'Update' }]
    const metadata = { name, namespace: 'default', uid: 'u', annotations, managedFields }
    await server.put('', 'configmaps', { ...applied, metadata })
    const step = await server.longestStep({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/${name}?fieldManager=kubectl`,
      body: JSON.stringify({ ...applied, data: data(keys, 'w') }),
      contentType: 'application/apply-patch+yaml',
    })
    expect(step.status, step.text).toBe(200)
    works.push(step.work)
  }
  // the annotation, of 256 KiB at most, is parsed at once
  expect((works[2]! - works[1]!) / (3 * FEW), 'for each field').toBeLessThan(MOST + 8)
})
