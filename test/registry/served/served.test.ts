import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Env } from '../../../src/env.ts'
import { builtInServed } from '../../../src/registry/served/built-in-served.ts'
import { servedAt } from '../../../src/registry/served/served.ts'
import { SnapshotData } from '../../../src/tenancy/control-snapshot.ts'

const env = {} as unknown as Env

/** The CustomResourceDefinition number N: `thingsN` in group g⌊N/10⌋.example.com, Established by default. */
function definition(n: number, revision = n + 1, established = true) {
  const group = `g${Math.floor(n / 10)}.example.com`
  const names = { plural: `things${n}`, singular: `thing${n}`, kind: `Thing${n}`, listKind: `Thing${n}List` }
  const value = {
    metadata: { name: `things${n}.${group}`, uid: `uid-${n}`, generation: 1 },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
    status: { acceptedNames: names, conditions: established ? [{ type: 'Established', status: 'True' }] : [] },
  }
  const key = `customresourcedefinitions.apiextensions.k8s.io/${value.metadata.name}`
  return { key, revision, text: JSON.stringify(value) }
}

const thousand = SnapshotData.empty.with({
  revision: 1_000,
  reset: true,
  more: false,
  changed: Array.from({ length: 1_000 }, (_, n) => definition(n)),
})

afterEach(() => {
  vi.restoreAllMocks()
})

test('a change of one of a thousand definitions parses that one, and leaves the groups of the others as they were', () => {
  const before = servedAt(env, thousand)
  expect(before.groups).toHaveLength(builtInServed(env).resources.groups.length + 100)
  expect(before.find('g7.example.com', 'v1', 'things77')?.kind).toBe('Thing77')
  const next = { revision: 1_001, reset: false, more: false, changed: [definition(77, 1_001, false)] }
  const parse = vi.spyOn(JSON, 'parse')
  const after = servedAt(env, thousand.with(next))
  expect(after.groups).toHaveLength(before.groups.length)
  expect(parse).toHaveBeenCalledTimes(1)
  expect(after.find('g7.example.com', 'v1', 'things77')).toBeUndefined()
  expect(after.find('g7.example.com', 'v1', 'things78')).toBe(before.find('g7.example.com', 'v1', 'things78'))
  const changed = after.groups.filter(({ group }) => after.group(group) !== before.group(group))
  expect(changed.map(({ group }) => group)).toEqual(['g7.example.com'])
})

test('a request for one group parses the definitions of that one, and one for what is built in none', () => {
  const again = SnapshotData.empty.with({
    revision: 1_000,
    reset: true,
    more: false,
    changed: Array.from({ length: 1_000 }, (_, n) => definition(n)),
  })
  const parse = vi.spyOn(JSON, 'parse')
  const served = servedAt(env, again)
  expect(served.find('apps', 'v1', 'deployments')?.kind).toBe('Deployment')
  expect(parse).toHaveBeenCalledTimes(0)
  expect(served.find('g7.example.com', 'v1', 'things77')?.kind).toBe('Thing77')
  expect(served.find('g7.example.com', 'v1', 'things7')).toBeUndefined()
  expect(parse).toHaveBeenCalledTimes(10)
})

test('the served resources are the same value while no definition changes', () => {
  const namespace = { key: 'namespaces/a', revision: 1_001, text: '{"metadata":{"name":"a"}}' }
  const next = thousand.with({ revision: 1_001, reset: false, more: false, changed: [namespace] })
  expect(servedAt(env, next)).toBe(servedAt(env, thousand))
})

test('a group goes with its last definition', () => {
  const gone = Array.from({ length: 10 }, (_, n) => ({ key: definition(n).key, revision: 1_001 + n }))
  const next = thousand.with({ revision: 1_010, reset: false, more: false, changed: gone })
  expect(servedAt(env, next).group('g0.example.com')).toBeUndefined()
  expect(servedAt(env, next).group('g1.example.com')).toBeDefined()
})

describe('a group with long definitions', () => {
  const versions = (n: number) =>
    Array.from({ length: n }, (_, at) => ({
      name: `v${at + 1}`,
      served: true,
      storage: at === 0,
      deprecated: at > 0,
      deprecationWarning: 'x'.repeat(200),
    }))
  const snapshotOf = (...definitions: object[]) =>
    SnapshotData.empty.with({
      revision: 1,
      reset: true,
      more: false,
      changed: definitions.map((value, at) => {
        const { key, text } = definition(at)
        return { key, revision: 1, text: JSON.stringify({ ...(JSON.parse(text) as object), ...value }) }
      }),
    })
  const long = { spec: { group: 'g0.example.com', scope: 'Namespaced', versions: versions(4_000) } }

  test('is read in steps, and is then what a use at once reads', async () => {
    const served = servedAt(env, snapshotOf(long))
    const reading = served.reading('g0.example.com')
    expect(reading).toBeInstanceOf(Promise)
    let isRead = false
    void reading!.then(() => (isRead = true))
    let turns = 0
    for (; !isRead; turns++) await new Promise((resolve) => setTimeout(resolve, 0))
    expect(turns).toBeGreaterThan(2)
    expect(served.reading('g0.example.com')).toBeUndefined()
    const atOnce = servedAt(env, snapshotOf(long))
    const [inSteps, whole] = [served, atOnce].map((one) => one.group('g0.example.com')!.versions)
    expect(inSteps!.map(({ version }) => version)).toEqual(whole!.map(({ version }) => version))
    expect(inSteps![17]).toEqual(whole![17])
    expect(served.version('g0.example.com', 'v4000')?.resources).toHaveLength(1)
  })

  test('is read once by several requests that wait, also if one of them does not go on', async () => {
    const served = servedAt(env, snapshotOf(long))
    const [first, second] = [served.reading('g0.example.com'), served.reading('g0.example.com')]
    await Promise.all([first, second])
    expect(served.reading('g0.example.com')).toBeUndefined()
  })

  test('has many short ones: they are read a few at a time', async () => {
    const served = servedAt(env, snapshotOf(...Array.from({ length: 10 }, () => ({ note: 'x'.repeat(50_000) }))))
    await served.reading('g0.example.com')
    const parse = vi.spyOn(JSON, 'parse')
    expect(served.inGroup('g0.example.com')).toHaveLength(10)
    expect(parse).not.toHaveBeenCalled()
  })

  test('nothing is to be read of a short one, of a built-in group and of none', () => {
    const served = servedAt(env, snapshotOf({}))
    expect(['g0.example.com', 'apps', 'nope.example.com'].map((group) => served.reading(group))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
