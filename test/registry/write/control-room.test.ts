// Every isolate has a copy of all Roles and RoleBindings, and who administers one namespace may write them there.
import { beforeEach, describe, expect, test } from 'vitest'
import { MOST_OF_NAMESPACE } from '../../../src/registry/write/control-room.ts'
import { pluginServer } from '../../admission/plugin-server.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const HALF = MOST_OF_NAMESPACE / 2

let server: ReturnType<typeof pluginServer>
beforeEach(async () => {
  server = pluginServer()
  await server.namespace('a')
  await server.namespace('b')
})

const namesOf = (length: number): string[] => Array.from({ length: length / 100 }, () => 'n'.repeat(97))
const role = (name: string, length: number) => ({
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: namesOf(length) }],
})
const binding = (name: string, length: number) => ({
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: namesOf(length).map((name) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name })),
})
const post = async (where: string, object: object) => (await server.send('POST', `${RBAC}/${where}`, object)).code

describe('what one namespace may write there', () => {
  test('has a bound for all of it together', async () => {
    expect(await post('namespaces/a/roles', role('one', HALF))).toBe(201)
    expect(await post('namespaces/a/rolebindings', binding('two', HALF / 4))).toBe(201)
    const { code, body } = await server.send('POST', `${RBAC}/namespaces/a/roles`, role('three', HALF))
    expect([code, body.message]).toEqual([
      403,
      `roles.rbac.authorization.k8s.io "three" is forbidden: the Roles and RoleBindings of namespace "a" would have more than ${MOST_OF_NAMESPACE} characters`,
    ])
  })

  test('is nothing to other namespaces, or to the cluster', async () => {
    expect(await post('namespaces/a/roles', role('one', HALF))).toBe(201)
    expect(await post('namespaces/b/roles', role('one', HALF))).toBe(201)
    for (const name of ['one', 'two']) expect(await post('clusterroles', role(name, HALF))).toBe(201)
  })

  test('may shrink, and then grow again', async () => {
    expect(await post('namespaces/a/roles', role('one', HALF))).toBe(201)
    const put = async (length: number) =>
      (await server.send('PUT', `${RBAC}/namespaces/a/roles/one`, role('one', length))).code
    expect(await put(MOST_OF_NAMESPACE)).toBe(403)
    expect(await put(100)).toBe(200)
    expect(await post('namespaces/a/roles', role('two', HALF))).toBe(201)
    expect((await server.send('DELETE', `${RBAC}/namespaces/a/roles/two`)).code).toBe(200)
    expect(await put(HALF)).toBe(200)
  })
})
