import { expect, test } from 'vitest'
import { pathAttributes, resourceAttributes } from '../../src/authorization/attributes.ts'
import type { Action, Authorized } from '../../src/authorization/authorized.ts'
import { assertAuthorized } from '../../src/authorization/authorized.ts'
import { authenticated } from '../../src/request/user-info.ts'

const alice = authenticated({ name: 'alice' })
const pod = { apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource: '', namespace: 'foo', name: 'a' }
const action: Action = { ...pod, user: alice, verb: 'get', namespaced: true }
// as an authorizer would have allowed it
const granted = (more: object = {}): Authorized => ({ ...resourceAttributes(alice, 'get', pod), ...more }) as Authorized
const assert = (authorized: Authorized, about: Action) => () => assertAuthorized(authorized, about)

test.each<[string, Action, Authorized]>([
  ['the same', action, granted()],
  [
    'a list of the one name that its selector lets through',
    { ...action, verb: 'list', name: '' },
    granted({ verb: 'list' }),
  ],
  [
    'a list of all namespaces',
    { ...action, verb: 'list', namespace: '', name: '' },
    granted({ verb: 'list', namespace: '', name: '' }),
  ],
  [
    'a Namespace, within itself',
    { ...action, resource: 'namespaces', namespaced: false, namespace: '' },
    granted({ resource: 'namespaces', namespace: 'a' }),
  ],
])('%s runs', (_, about, authorized) => {
  expect(assert(authorized, about)).not.toThrow()
})

test.each<[string, Partial<Action>, object]>([
  ['another user', { user: { ...alice } }, {}],
  ['another verb', { verb: 'delete' }, {}],
  ['another group or version', { apiGroup: 'apps' }, {}],
  ['another group or version', { apiVersion: 'v2' }, {}],
  ['another resource', { resource: 'secrets' }, {}],
  ['another resource', { subresource: 'token' }, {}],
  ['another namespace', { namespace: 'bar' }, {}],
  ['another namespace', { namespaced: false, namespace: '' }, {}],
  ['another namespace', { namespaced: false, namespace: '', resource: 'namespaces' }, { resource: 'namespaces' }],
  ['another namespace', { namespace: '', verb: 'deletecollection' }, { namespace: '', verb: 'deletecollection' }],
  ['another name', { name: 'b' }, {}],
  ['another name', { name: '' }, {}],
  ['another name', { name: '', verb: 'deletecollection' }, { verb: 'deletecollection' }],
])('%s was authorized: nothing runs', (difference, more, otherwise) => {
  expect(assert(granted(otherwise), { ...action, ...more })).toThrow(`assertion failed: ${difference} was authorized`)
})

test('a path is no resource', () => {
  const authorized = pathAttributes(alice, 'get', '/healthz') as Authorized
  expect(assert(authorized, action)).toThrow('assertion failed: a path was authorized')
})
