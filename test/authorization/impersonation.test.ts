import { describe, expect, test } from 'vitest'
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

describe('constrained', () => {
  const rule = (verbs: string[], resources: string[], names: string[] = []) => ({
    verbs,
    apiGroups: ['authentication.k8s.io'],
    resources,
    resourceNames: names,
  })
  const MODE = ['impersonate:user-info']
  const listing = { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['pods'] }

  async function acting(rules: object[], headers: [string, string][], gates?: string): Promise<unknown> {
    const own = memoryServer(gates === undefined ? {} : { KEDGE_FEATURE_GATES: gates })
    const bob = { kind: 'User', name: 'bob' }
    const group = 'rbac.authorization.k8s.io'
    await own.put(group, 'clusterroles', { metadata: { name: 'r' }, rules } as never)
    const roleRef = { kind: 'ClusterRole', name: 'r' }
    await own.put(group, 'clusterrolebindings', { metadata: { name: 'r' }, subjects: [bob], roleRef } as never)
    const request = own.request('/api/v1/namespaces/a/pods', { headers: [['Impersonate-User', 'eve'], ...headers] })
    try {
      return (await impersonate({ ...request, user: authenticated({ name: 'bob' }) })).user
    } catch (error) {
      return (error as Error).message
    }
  }

  const groups = (...names: string[]) => names.map((name): [string, string] => ['Impersonate-Group', name])
  const users = rule(MODE, ['users'])

  test('groups are asked about one by one', async () => {
    const rules = [listing, users, rule(MODE, ['groups'], ['a', 'b'])]
    expect(await acting(rules, groups('a', 'b'))).toMatchObject({ groups: ['a', 'b', 'system:authenticated'] })
    expect(await acting(rules, groups('a', 'c'))).toMatch('cannot impersonate:user-info resource "groups"')
  })

  test('four and more may be granted as a whole', async () => {
    const rules = [listing, users, rule(MODE, ['groups', 'userextras/*'], ['*'])]
    expect(await acting(rules, groups('a', 'b', 'c'))).toMatch('cannot impersonate:user-info resource "groups"')
    expect(await acting(rules, groups('a', 'b', 'c', 'd'))).toMatchObject({ name: 'eve' })
    const extra = ['1', '2', '3', '4'].map((value): [string, string] => ['Impersonate-Extra-a.io%2fk', value])
    expect(await acting(rules, extra.slice(1))).toMatch('cannot impersonate:user-info resource "userextras/a.io/k"')
    expect(await acting(rules, extra)).toMatchObject({ extra: { 'a.io/k': ['1', '2', '3', '4'] } })
  })

  test.each([
    [groups('a', 'system:masters'), 'impersonating the system:masters group is not allowed'],
    [groups('a', 'b', 'c', 'system:masters'), 'impersonating the system:masters group is not allowed'],
    [groups('a', ''), 'impersonating the empty string group is not allowed'],
  ])('never %j, whatever is granted of the others', async (headers, expected) => {
    expect(await acting([listing, users], headers)).toMatch(expected)
    expect(await acting([listing, users, rule(MODE, ['*'])], headers)).toMatch(expected)
  })

  test.each([
    ['acme.io%2ffoo%2fbar', { extra: { 'acme.io/foo/bar': ['v'] } }],
    ['acme.io%2fa%28b%29', { extra: { 'acme.io/a(b)': ['v'] } }],
    ['plain', expect.stringContaining('extra.key: Invalid value: "plain": must be a domain-prefixed path')],
    ['acme.io%2fa%20b', expect.stringContaining('extra.key: Invalid value: "a b": Invalid path')],
    ['%41cme.io%2fa', expect.stringContaining('extra.key: Invalid value: "Acme.io": a lowercase RFC 1123 subdomain')],
    ['acme.io%2f%41', expect.stringContaining('a non-lowercase key in extra is not allowed: "acme.io/A"')],
  ])('the key %s of extra', async (key, expected) => {
    const said = await acting([listing, users, rule(MODE, ['*'])], [[`Impersonate-Extra-${key}`, 'v']])
    if (typeof said === 'string') expect(said).toEqual(expected)
    else expect(said).toMatchObject(expected)
  })

  test('not at all while the feature gate is off', async () => {
    const said = await acting([listing, rule(['*'], ['*'])], [], 'ConstrainedImpersonation=false')
    expect(said).toBe(
      'users "eve" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope',
    )
  })
})
