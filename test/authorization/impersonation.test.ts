import { expect, test } from 'vitest'
import { impersonate } from '../../src/authorization/impersonation.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { prototypeNames } from '../prototype-names.ts'
import { memoryServer } from '../request-in-memory.ts'

const server = memoryServer()
const masters = authenticated({ name: 'root', groups: ['system:masters'] })

const as = (headers: [string, string][], user = masters) =>
  impersonate({ ...server.request('/api/v1/namespaces/a/pods', { headers }), user })

test.each<[string, [string, string][], object]>([
  ['a user', [['Impersonate-User', 'alice']], { name: 'alice', groups: ['system:authenticated'] }],
  [
    'groups in order',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', 'b'],
      ['Impersonate-Group', 'a'],
    ],
    { groups: ['b', 'a', 'system:authenticated'] },
  ],
  [
    'a service account',
    [['Impersonate-User', 'system:serviceaccount:ns:n']],
    { groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'] },
  ],
  ['anonymous', [['Impersonate-User', 'system:anonymous']], { groups: ['system:unauthenticated'] }],
  [
    'somebody unauthenticated',
    [
      ['Impersonate-User', 'x'],
      ['Impersonate-Group', 'system:unauthenticated'],
    ],
    { groups: ['system:unauthenticated'] },
  ],
  [
    'extra, in lower case and decoded',
    [
      ['Impersonate-User', 'x'],
      ['Impersonate-Extra-A%2fB', 'v'],
      ['Impersonate-Extra-c%zz', 'w'],
    ],
    { extra: { 'a/b': ['v'], 'c%zz': ['w'] } },
  ],
])('%s', async (_, headers, expected) => {
  expect((await as(headers)).user).toMatchObject(expected)
})

test('an empty user is no wish', async () => {
  expect((await as([['Impersonate-User', '']])).user).toBe(masters)
})

test.each<[[string, string][], string]>([
  [
    [['Impersonate-Group', 'g']],
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)} without impersonating a user name',
  ],
  [
    [['Impersonate-Uid', 'u']],
    'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name',
  ],
  [
    [['Impersonate-Extra-k', 'v']],
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"k":[]string{"v"}}} without impersonating a user name',
  ],
])('%j: 400', async (headers, message) => {
  await expect(as(headers)).rejects.toMatchObject({
    code: 400,
    message,
    headers: { 'X-Content-Type-Options': 'nosniff' },
  })
})

test('a user without the right gets the error of the constrained mode', async () => {
  await expect(as([['Impersonate-User', 'dave']], authenticated({ name: 'bob' }))).rejects.toMatchObject({
    code: 403,
    message:
      'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "a"',
  })
})

test.each(prototypeNames)('extra named %s', async (name) => {
  const { user } = await as([
    ['Impersonate-User', 'x'],
    [`Impersonate-Extra-${name}`, 'a'],
  ])
  expect(Object.entries(user.extra)).toEqual([[name.toLowerCase(), ['a']]])
})
