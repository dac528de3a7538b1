// kube-apiserver 1.36.3 gave these answers.
import { beforeAll, expect, test } from 'vitest'
import { lineOf, pluginServer } from '../plugin-server.ts'

const { send, namespace } = pluginServer({ KEDGE_ENABLE_ADMISSION_PLUGINS: 'OwnerReferencesPermissionEnforcement' })

const CONFIG_MAPS = '/api/v1/namespaces/blue/configmaps'
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/blue'

beforeAll(async () => {
  await namespace('blue')
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update', 'patch', 'get'] }
  await send('POST', `${RBAC}/roles`, { metadata: { name: 'edit' }, rules: [rule] })
  const finalizers = { apiGroups: [''], resources: ['configmaps/finalizers'], verbs: ['update'] }
  const deletion = { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }
  await send('POST', `${RBAC}/roles`, { metadata: { name: 'own' }, rules: [finalizers, deletion] })
  const bind = (role: string, ...users: string[]) =>
    send('POST', `${RBAC}/rolebindings`, {
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
      subjects: users.map((name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })),
    })
  await bind('edit', 'ann', 'bob')
  await bind('own', 'bob')
  await send('POST', CONFIG_MAPS, { metadata: { name: 'free' } })
})

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u1' }
const blocking = { ...owner, blockOwnerDeletion: true }
const NOT_FINALIZER = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`
const noMapping = (version: string, kind: string) =>
  `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${version} Kind ${kind}: no matches for kind "${kind}" in version "${version}"`

test.each<[what: string, reference: object, user: string, why: string | undefined]>([
  ['without a block', owner, 'ann', undefined],
  ['that blocks', blocking, 'ann', NOT_FINALIZER],
  ['that blocks a node', { ...blocking, kind: 'Node' }, 'ann', NOT_FINALIZER],
  ['of no kind', { ...blocking, kind: 'Nope' }, 'ann', noMapping('v1', 'Nope')],
  ['of no group', { ...blocking, apiVersion: 'x.io/v1', kind: 'Nope' }, 'ann', noMapping('x.io/v1', 'Nope')],
  [
    'of another version',
    { ...blocking, apiVersion: 'apps/v9', kind: 'Deployment' },
    'ann',
    noMapping('apps/v9', 'Deployment'),
  ],
  ['that blocks what the user finalizes', blocking, 'bob', undefined],
])('a create with an owner %s', async (_, reference, user, why) => {
  const wanted = { metadata: { name: 'b', ownerReferences: [reference] } }
  const line = lineOf(await send('POST', `${CONFIG_MAPS}?dryRun=All`, wanted, user))
  expect(line).toBe(why === undefined ? '201' : `403 configmaps "b" is forbidden: ${why}`)
})

test.each<[what: string, change: object, user: string, expected: string]>([
  [
    'an owner, by who may not delete it',
    { ownerReferences: [owner] },
    'ann',
    `403 configmaps "free" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`,
  ],
  ['an owner, by who may', { ownerReferences: [owner] }, 'bob', '200'],
  ['other metadata', { labels: { a: 'b' } }, 'ann', '200'],
])('an update that changes %s', async (_, metadata, user, expected) => {
  expect(lineOf(await send('PATCH', `${CONFIG_MAPS}/free?dryRun=All`, { metadata }, user))).toBe(expected)
})
