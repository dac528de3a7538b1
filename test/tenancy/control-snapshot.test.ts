import { expect, test } from 'vitest'
import { SnapshotData } from '../../src/tenancy/control-snapshot.ts'

const NAMESPACES = { group: '', resource: 'namespaces' }
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'roles' }
const text = (name: string, namespace?: string) => JSON.stringify({ metadata: { name, namespace } })

const first = SnapshotData.empty.with({
  revision: 10,
  reset: true,
  more: false,
  changed: [
    { key: 'namespaces/b', revision: 1, text: text('b') },
    { key: 'namespaces/a', revision: 2, text: text('a') },
    { key: 'roles.rbac.authorization.k8s.io/a/r', revision: 3, text: text('r', 'a') },
  ],
})

test('types apart, in the order of their keys', () => {
  expect(first.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
  expect(first.inNamespace(ROLES, 'a')).toHaveLength(1)
  expect(first.inNamespace(ROLES, 'b')).toEqual([])
  expect(first.get(ROLES, 'a/r')?.metadata.name).toBe('r')
  expect(first.get(ROLES, 'a/x')).toBeUndefined()
})

test('what did not change stays the same value, for whoever keeps things beside it', () => {
  const roles = first.list(ROLES)
  const a = first.get(NAMESPACES, 'a')
  const second = first.with({
    revision: 12,
    reset: false,
    more: false,
    changed: [
      { key: 'namespaces/b', revision: 11 },
      { key: 'namespaces/c', revision: 12, text: text('c') },
    ],
  })
  expect(second.revision).toBe(12)
  expect(second.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'c'])
  expect(second.list(ROLES)).toBe(roles)
  expect(second.get(NAMESPACES, 'a')).toBe(a)
  expect(first.list(NAMESPACES).map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
})

test('a reset forgets what was there', () => {
  const second = first.with({ revision: 20, reset: true, more: false, changed: [] })
  expect(second.list(NAMESPACES)).toEqual([])
})
