// What is kept beside an object of a list that is stored goes with it: nothing else holds it.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { CustomResourceDefinition } from '../../src/api/apiextensions/v1.ts'
import type { KubeObject } from '../../src/api/object.ts'
import type { RoleBinding } from '../../src/api/rbac/v1.ts'
import { bindingsFor } from '../../src/authorization/subject-index.ts'
import { openApiDocuments } from '../../src/openapi/documents.ts'
import { customGroup, entryOf } from '../../src/registry/custom-resources/entries.ts'
import { builtInResources } from '../../src/registry/served/resources.ts'
import { withDynamic } from '../../src/registry/served/served-groups.ts'
import { SnapshotData } from '../../src/tenancy/snapshot-data.ts'

setFlagsFromString('--expose-gc')
// of the flag above
const collectGarbage = runInNewContext('gc') as () => void

/** Makes a hundred, one after the other. @returns how many of them are still held */
async function heldOf(make: (n: number) => object | Promise<object>): Promise<number> {
  const made: WeakRef<object>[] = []
  for (let n = 0; n < 100; n++) made.push(new WeakRef(await make(n)))
  // a WeakRef holds its object until the turn is over
  await new Promise((resolve) => setTimeout(resolve, 10))
  collectGarbage()
  return made.filter((one) => one.deref() !== undefined).length
}
/** The engine may still have one in its hands. */
const FEW = 3

const definition = (n: number): CustomResourceDefinition =>
  ({
    metadata: { name: `things.g${n}.e.com`, uid: `u${n}`, generation: 1 },
    spec: {
      group: `g${n}.e.com`,
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: Array.from({ length: 20 }, (_, at) => ({
        name: `v${at + 1}`,
        served: true,
        storage: at === 0,
        schema: { openAPIV3Schema: { type: 'object', description: 'x'.repeat(1_000) } },
      })),
    },
    status: {
      acceptedNames: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      conditions: [{ type: 'Established', status: 'True' }],
      storedVersions: ['v1'],
    },
  }) as unknown as CustomResourceDefinition // what else it has is not looked at

test('what is served of a definition', async () => {
  const held = await heldOf((n) => {
    const one = definition(n)
    for (const version of one.spec?.versions ?? []) entryOf(one, version)
    const served = withDynamic(builtInResources(), [customGroup(`g${n}.e.com`, [one])!])
    for (let version = 1; version <= 40; version++)
      expect(served.find(`g${n}.e.com`, `v${version}`, 'things') !== undefined).toBe(version <= 20)
    return one
  })
  expect(held).toBeLessThanOrEqual(FEW)
})

test('the OpenAPI documents of a definition', async () => {
  const held = await heldOf(async (n) => {
    const one = definition(n)
    const served = withDynamic(builtInResources(), [customGroup(`g${n}.e.com`, [one])!])
    for (const version of ['v1', 'v2'])
      await openApiDocuments(served, { cbor: false }).v3(`apis/g${n}.e.com/${version}`)
    return one
  })
  expect(held).toBeLessThanOrEqual(FEW)
})

test('the index of a list of bindings', async () => {
  const user = { name: 'alice', groups: ['g'] }
  const held = await heldOf((n) => {
    const bindings: RoleBinding[] = Array.from({ length: 100 }, (_, at) => ({
      metadata: { name: `b${at}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: Array.from({ length: 50 }, (_, of) => ({ kind: 'User', name: `user-${n}-${at}-${of}` })),
    }))
    expect(bindingsFor(bindings, user as never, 'a')).toEqual([])
    return bindings
  })
  expect(held).toBeLessThanOrEqual(FEW)
})

const namespaced = (n: number): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: `r${n}`, namespace: `n${n}`, resourceVersion: `${n + 1}` },
})
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'roles' }
const keyOf = (n: number): string => `roles.rbac.authorization.k8s.io/n${n}/r${n}`

test('a snapshot has what is stored, and nothing for namespaces that somebody made up', async () => {
  const COUNT = 2_000
  const all = Array.from({ length: COUNT }, (_, n) => ({
    key: keyOf(n),
    revision: n + 1,
    text: JSON.stringify(namespaced(n)),
  }))
  const full = SnapshotData.empty.with({ revision: COUNT, reset: true, more: false, changed: all })
  expect(full.size).toBe(all.reduce((sum, { text }) => sum + text.length, 0))
  for (let n = 0; n < 2 * COUNT; n++) full.inNamespace(ROLES, `n${n}`)
  // what a type keeps to itself
  const { byGroup } = full as unknown as {
    byGroup: ReadonlyMap<string, ReadonlyMap<string, { byNamespace: ReadonlyMap<string, unknown> }>>
  }
  expect(byGroup.get(ROLES.group)?.get(ROLES.resource)?.byNamespace.size).toBe(COUNT)
  const gone = all.map(({ key, revision }) => ({ key, revision: revision + COUNT, text: undefined }))
  const empty = full.with({ revision: 2 * COUNT, reset: false, more: false, changed: gone })
  expect([empty.size, empty.list(ROLES)]).toEqual([0, []])
})
