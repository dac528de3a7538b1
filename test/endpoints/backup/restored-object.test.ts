/** A line of a backup that no server stored in its section is not restored. */
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Expected } from '../../../src/endpoints/backup/restored-object.ts'
import { problemOf, shapeProblemOf } from '../../../src/endpoints/backup/restored-object.ts'
import { typeOfKind } from '../../../src/schema/built-in.ts'
import type { Revision } from '../../../src/storage/storage.ts'

const ROLES = {
  group: 'rbac.authorization.k8s.io',
  revision: 1_000 as Revision,
  type: { kind: 'Role', namespaced: true },
} satisfies Expected
const CLUSTER_ROLES: Expected = { ...ROLES, type: { kind: 'ClusterRole', namespaced: false } }

const role = (metadata: object = {}, object: object = {}) =>
  // what a line says need not be an object of the API
  ({
    kind: 'Role',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: 'system:a', namespace: 'shop', uid: 'u', resourceVersion: '1000', ...metadata },
    ...object,
  }) as unknown as KubeObject

describe('as it was stored:', () => {
  test.each<[string, KubeObject, Expected]>([
    ['an object', role(), ROLES],
    ['a cluster-scoped one', role({ namespace: undefined }, { kind: 'ClusterRole' }), CLUSTER_ROLES],
    ['in another version', role({}, { apiVersion: 'rbac.authorization.k8s.io/v1beta1' }), ROLES],
    ['of a type that nothing serves', role({ namespace: undefined }, { kind: 'X' }), { ...ROLES, type: undefined }],
    [
      'with all metadata',
      role({
        labels: { a: 'b' },
        annotations: null,
        finalizers: ['a/b'],
        ownerReferences: [{ uid: 'u', name: 'n', kind: 'K', apiVersion: 'v1' }],
        managedFields: [{ manager: 'a' }],
        deletionTimestamp: '2026-01-01T00:00:00Z',
      }),
      ROLES,
    ],
  ])('%s', (_, object, expected) => expect(problemOf(object, expected)).toBeUndefined())
})

describe('refused:', () => {
  test.each<[object, object, string]>([
    [{}, { kind: 'RoleBinding' }, 'is of another kind'],
    [{}, { kind: undefined }, 'is of another kind'],
    [{}, { apiVersion: 'v1' }, 'has the apiVersion of another group'],
    [{}, { apiVersion: 5 }, 'has the apiVersion of another group'],
    [{}, { metadata: [] }, 'has no metadata'],
    ...['', 'a/b', '..', '%2e', 5, { a: 1 }, undefined].map((name): [object, object, string] => [
      { name },
      {},
      'has no name, or one that no path can have',
    ]),
    ...['a/b', 'A', 5, '..'].map((namespace): [object, object, string] => [
      { namespace },
      {},
      'has an invalid namespace',
    ]),
    [{ namespace: undefined }, {}, 'has no namespace'],
    ...[undefined, '', { a: 1 }].map((uid): [object, object, string] => [{ uid }, {}, 'has no uid']),
    ...[undefined, '', '0', '1e3', '-1', '01', ' 1', 7].map((resourceVersion): [object, object, string] => [
      { resourceVersion },
      {},
      'has no resourceVersion',
    ]),
    ...['1001', '9007199254740991', '9999999999999999'].map((resourceVersion): [object, object, string] => [
      { resourceVersion },
      {},
      'is newer than the backup',
    ]),
    [{ labels: ['a'] }, {}, 'has an invalid metadata.labels'],
    [{ labels: { a: 1 } }, {}, 'has an invalid metadata.labels'],
    [{ annotations: 5 }, {}, 'has an invalid metadata.annotations'],
    [{ finalizers: 'a' }, {}, 'has an invalid metadata.finalizers'],
    [{ ownerReferences: 'a' }, {}, 'has an invalid metadata.ownerReferences'],
    [{ ownerReferences: [{ name: 'n' }] }, {}, 'has an invalid metadata.ownerReferences'],
    [{ managedFields: [5] }, {}, 'has an invalid metadata.managedFields'],
    [{ deletionTimestamp: 5 }, {}, 'has an invalid metadata.deletionTimestamp'],
  ])('%j %j %s', (metadata, object, problem) => expect(problemOf(role(metadata, object), ROLES)).toBe(problem))

  test('a cluster-scoped object in a namespace', () => {
    const problem = 'has a namespace, although its type has none'
    expect(problemOf(role({}, { kind: 'ClusterRole' }), CLUSTER_ROLES)).toBe(problem)
  })
})

test('a line that nests deeper than any object is no object of its type', () => {
  const type = typeOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!
  const deep = (levels: number) => `{"data":{},"unknown":${'['.repeat(levels)}${']'.repeat(levels)}}`
  expect(shapeProblemOf(deep(10), type)).toBeUndefined()
  expect(shapeProblemOf(deep(20_000), type)).toContain('exceeded max depth')
})
