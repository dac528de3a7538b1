import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import type { Role } from '../../src/api/rbac/v1.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { attributesOf, pathAttributes, resourceAttributes } from '../../src/authorization/attributes.ts'
import { authorize } from '../../src/authorization/authorize.ts'
import { forbiddenBy } from '../../src/authorization/forbidden.ts'
import { rbac, rulesFor } from '../../src/authorization/rbac.ts'
import { SnapshotData } from '../../src/tenancy/control-snapshot.ts'
import { memoryServer } from '../request-in-memory.ts'

const GROUP = 'rbac.authorization.k8s.io'
let revision = 1

const stored = (resource: string, key: string, object: object) => ({
  key: `${resource}.${GROUP}/${key}`,
  revision: revision++,
  text: JSON.stringify(object),
})

const role = (key: string, rules: object[]) => {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key]
  return stored(namespace === undefined ? 'clusterroles' : 'roles', key, { metadata: { name, namespace }, rules })
}

const binding = (key: string, roleRef: [kind: string, name: string], ...subjects: object[]) => {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key]
  return stored(namespace === undefined ? 'clusterrolebindings' : 'rolebindings', key, {
    metadata: { name, namespace },
    roleRef: { kind: roleRef[0], name: roleRef[1] },
    subjects,
  })
}

const snapshot = SnapshotData.empty.with({
  revision: 100,
  reset: true,
  more: false,
  changed: [
    role('reader', [{ verbs: ['get'], apiGroups: [''], resources: ['pods', '*/scale'] }]),
    role('paths', [{ verbs: ['get'], nonResourceURLs: ['/logs', '/logs/*'] }]),
    role('ns/named', [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', '*'] }]),
    binding('everywhere', ['ClusterRole', 'reader'], { kind: 'Group', name: 'readers' }),
    binding('paths', ['ClusterRole', 'paths'], { kind: 'User', name: 'alice' }),
    binding('ns/b', ['Role', 'named'], { kind: 'ServiceAccount', name: 'robot' }, { kind: 'User', name: 'alice' }),
    binding('ns/local', ['ClusterRole', 'reader'], { kind: 'User', name: 'bob' }),
    binding('ns/broken', ['Role', 'nope'], { kind: 'User', name: 'eve' }),
    binding('ns/broken2', ['ClusterRole', 'nope'], { kind: 'User', name: 'eve' }),
  ],
})

const alice = authenticated({ name: 'alice' })
const bob = authenticated({ name: 'bob' })
const reader = authenticated({ name: 'r', groups: ['readers'] })
const robot = authenticated({ name: 'system:serviceaccount:ns:robot' })
const eve = authenticated({ name: 'eve' })

test.each([
  [
    'a group everywhere',
    reader,
    'get',
    { resource: 'pods', namespace: 'x' },
    'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "readers"',
  ],
  [
    'at the cluster scope',
    reader,
    'get',
    { resource: 'pods' },
    'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "readers"',
  ],
  [
    'a subresource of anything',
    reader,
    'get',
    { resource: 'replicationcontrollers', subresource: 'scale' },
    'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "reader" to Group "readers"',
  ],
  [
    'a ClusterRole in one namespace',
    bob,
    'get',
    { resource: 'pods', namespace: 'ns' },
    'RBAC: allowed by RoleBinding "local/ns" of ClusterRole "reader" to User "bob"',
  ],
  [
    "an account of the binding's namespace",
    robot,
    'get',
    { resource: 'secrets', namespace: 'ns', name: 'a' },
    'RBAC: allowed by RoleBinding "b/ns" of Role "named" to ServiceAccount "robot/ns"',
  ],
  [
    'a name that is a star',
    alice,
    'get',
    { resource: 'secrets', namespace: 'ns', name: '*' },
    'RBAC: allowed by RoleBinding "b/ns" of Role "named" to User "alice"',
  ],
])('%s', (_, user, verb, resource, reason) => {
  expect(rbac(snapshot, resourceAttributes(user, verb, resource))).toEqual({ allowed: true, reason })
})

test.each([
  ['another verb', reader, 'list', { resource: 'pods' }, ''],
  ['another group', reader, 'get', { resource: 'pods', apiGroup: 'apps' }, ''],
  ['another subresource', reader, 'get', { resource: 'pods', subresource: 'log' }, ''],
  ['another namespace', bob, 'get', { resource: 'pods', namespace: 'x' }, ''],
  ['no namespace', bob, 'get', { resource: 'pods' }, ''],
  ['a star is no other name', alice, 'get', { resource: 'secrets', namespace: 'ns', name: 'b' }, ''],
  ['all names', alice, 'list', { resource: 'secrets', namespace: 'ns' }, ''],
  [
    'missing roles',
    eve,
    'get',
    { resource: 'pods', namespace: 'ns' },
    'RBAC: [role.rbac.authorization.k8s.io "nope" not found, clusterrole.rbac.authorization.k8s.io "nope" not found]',
  ],
])('not %s', (_, user, verb, resource, reason) => {
  expect(rbac(snapshot, resourceAttributes(user, verb, resource))).toEqual({ allowed: false, reason })
})

test.each([
  ['/logs', true],
  ['/logs/a/b', true],
  ['/logsx', false],
])('path %s: %s', (path, allowed) => {
  expect(rbac(snapshot, pathAttributes(alice, 'get', path)).allowed).toBe(allowed)
})

test.each([
  [
    resourceAttributes(alice, 'list', { resource: 'pods', namespace: 'ns' }),
    'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "ns"',
    { kind: 'pods' },
  ],
  [
    resourceAttributes(alice, 'get', { resource: 'deployments', subresource: 'scale', apiGroup: 'apps', name: 'x' }),
    'deployments.apps "x" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" at the cluster scope',
    { name: 'x', group: 'apps', kind: 'deployments' },
  ],
  [
    resourceAttributes(alice, 'get', { resource: '', name: 'pods' }),
    'forbidden: User "alice" cannot get resource "" in API group "" at the cluster scope',
    { name: 'pods' },
  ],
  [
    resourceAttributes(alice, 'get', { resource: '', apiGroup: 'apps', name: 'x' }),
    '.apps "x" is forbidden: User "alice" cannot get resource "" in API group "apps" at the cluster scope',
    { name: 'x', group: 'apps' },
  ],
  [pathAttributes({ ...alice, name: '<b>' }, 'get', '/x'), 'forbidden: User "&lt;b&gt;" cannot get path "/x"', {}],
])('%#: the text of a 403', (asked, message, details) => {
  expect(forbiddenBy(asked, '').status).toMatchObject({ code: 403, reason: 'Forbidden', message, details })
})

test('a fresh server: what anybody may see, and what was granted a moment ago', async () => {
  const server = memoryServer()
  const ask = (target: string, user = alice) => {
    const { info, query } = server.request(target)
    return authorize(server, attributesOf(user, info, query))
  }
  await expect(ask('/version')).resolves.toMatchObject({ user: alice })
  await expect(ask('/apis/apps')).resolves.toMatchObject({ user: alice })
  await expect(ask('/metrics')).rejects.toMatchObject({ code: 403 })
  await expect(ask('/api/v1/nodes')).rejects.toMatchObject({ code: 403 })
  await server.put(GROUP, 'clusterrolebindings', {
    metadata: { name: 'now' },
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'alice' }],
  })
  await expect(ask('/api/v1/nodes')).resolves.toMatchObject({ user: alice })
})

describe('many bindings of one role with many rules', () => {
  const rules = Array.from({ length: 300 }, (_, at) => ({ verbs: ['get'], apiGroups: [''], resources: [`r${at}`] }))
  const bindings = Array.from({ length: 300 }, (_, at) =>
    binding(`many/b${at}`, ['Role', 'long'], { kind: 'User', name: 'alice' }),
  )
  const many = SnapshotData.empty.with({
    revision: 100,
    reset: true,
    more: false,
    changed: [role('many/long', rules), ...bindings],
  })

  test('each rule is looked at once', () => {
    let looked = 0
    for (const rule of many.get<KubeObject & Role>({ group: GROUP, resource: 'roles' }, 'many/long')!.rules ?? []) {
      const { verbs } = rule
      Object.defineProperty(rule, 'verbs', { get: () => (looked++, verbs) })
    }
    const asked = { apiGroup: '', apiVersion: 'v1', resource: 'other', namespace: 'many' }
    expect(rbac(many, resourceAttributes(alice, 'get', asked)).allowed).toBe(false)
    expect(looked).toBe(rules.length)
  })

  test('the rules of a user come again for each binding up to a bound', () => {
    expect(rulesFor(many, alice, 'many').rules).toHaveLength(300)
    const few = rulesFor(many, alice, 'many', { repeated: 1_800 }).rules
    // each rule has three values
    expect(few).toHaveLength(300 + 600)
  })
})
