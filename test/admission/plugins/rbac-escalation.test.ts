import { describe, expect, test } from 'vitest'
import { rbacEscalation } from '../../../src/admission/plugins/rbac-escalation.ts'
import type { Asked } from '../plugin-outcome.ts'
import { outcomeOf, serverWith } from '../plugin-outcome.ts'

const RBAC = 'rbac.authorization.k8s.io'
const reads = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
const user = (name: string) => ({ apiGroup: RBAC, kind: 'User', name })
const bound = (role: string, name: string) =>
  ({
    metadata: { name: `${name}-${role}` },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [user(name)],
  }) as never
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules }) as never

const server = await serverWith({
  [`clusterroles.${RBAC}`]: [
    role('reader', reads),
    role('all', everything),
    role('escalator', { verbs: ['escalate'], apiGroups: [RBAC], resources: ['clusterroles'] }),
    role('binder', { verbs: ['bind'], apiGroups: [RBAC], resources: ['clusterroles'], resourceNames: ['all'] }),
  ],
  [`clusterrolebindings.${RBAC}`]: [
    bound('reader', 'eve'),
    bound('escalator', 'esc'),
    bound('binder', 'bin'),
    bound('gone', 'dan'),
    bound('gone-too', 'dan'),
  ],
})

const MISSING = `is attempting to grant RBAC permissions not currently held:`
const brief = (outcome: unknown) => (typeof outcome === 'string' ? outcome.split('\n')[0] : 'taken')

describe('a role has no rules that its writer lacks', () => {
  const write = (rules: object[], more: Partial<Asked> = {}, whole: object = {}): Asked => ({
    at: `clusterroles.${RBAC}`,
    namespace: '',
    object: { metadata: { name: 'new' }, rules, ...whole } as never,
    ...more,
  })
  const aggregated = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
  test.each<[string, Asked, string]>([
    ['rules that eve has', write([reads]), 'taken'],
    [
      'rules that eve lacks',
      write([everything]),
      `403 clusterroles.${RBAC} "new" is forbidden: user "eve" (groups=[]) ${MISSING}`,
    ],
    ['rules by somebody who may escalate', write([everything], { user: 'esc' }), 'taken'],
    ['rules by an administrator', write([everything], { groups: ['system:masters'] }), 'taken'],
    [
      'rules to be gathered by labels',
      write([], {}, aggregated),
      `403 clusterroles.${RBAC} "new" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    ],
    [
      'an update that only takes a finalizer off',
      write([everything], {
        operation: 'UPDATE',
        oldObject: { metadata: { name: 'new', finalizers: ['x'] }, rules: [everything] } as never,
      }),
      'taken',
    ],
    [
      'an update that changes more',
      write([everything], { operation: 'UPDATE', oldObject: { metadata: { name: 'new' }, rules: [reads] } as never }),
      `403 clusterroles.${RBAC} "new" is forbidden: user "eve" (groups=[]) ${MISSING}`,
    ],
  ])('%s', async (_what, asked, expected) => {
    expect(brief(await outcomeOf(rbacEscalation, server, asked))).toBe(expected)
  })

  test('the error lists the missing rules', async () => {
    const outcome = await outcomeOf(rbacEscalation, server, write([reads, { ...reads, verbs: ['list'] }]))
    expect(String(outcome).split('\n').slice(1)).toEqual(['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'])
  })
})

test('roles of the writer that are gone are said to be of the kind that is written', async () => {
  const object = { metadata: { name: 'new' }, rules: [reads] } as never
  const outcome = await outcomeOf(rbacEscalation, server, { at: `roles.${RBAC}`, user: 'dan', object })
  const gone = [`roles.${RBAC} "gone" not found`, `roles.${RBAC} "gone-too" not found`]
  expect(outcome).toMatch(`; resolution errors: [[${gone.join(', ')}]]`)
})

describe('a binding gives no rules that its writer lacks', () => {
  const bind = (kind: string, name: string, more: Partial<Asked> = {}): Asked => ({
    at: `clusterrolebindings.${RBAC}`,
    namespace: '',
    object: {
      metadata: { name: 'new' },
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [user('mallory')],
    } as never,
    ...more,
  })
  test.each<[string, Asked, string]>([
    ['a role that eve has', bind('ClusterRole', 'reader'), 'taken'],
    [
      'a role that eve lacks',
      bind('ClusterRole', 'all'),
      `403 clusterrolebindings.${RBAC} "new" is forbidden: user "eve" (groups=[]) ${MISSING}`,
    ],
    ['a role by somebody who may bind it', bind('ClusterRole', 'all', { user: 'bin' }), 'taken'],
    ['a role that is not there', bind('ClusterRole', 'gone'), `404 clusterrolebindings.${RBAC} "gone" not found`],
    ['a Role in a ClusterRoleBinding', bind('Role', 'x'), '400 Namespace parameter required.'],
    ['a role without a name', bind('ClusterRole', ''), '400 Name parameter required.'],
    [
      'a name that no role can have',
      bind('ClusterRole', 'a/b'),
      `400 Name parameter invalid: "a/b": may not contain '/'`,
    ],
  ])('%s', async (_what, asked, expected) => {
    expect(brief(await outcomeOf(rbacEscalation, server, asked))).toBe(expected)
  })
})

test.each([
  ['DELETE', `clusterroles.${RBAC}`],
  ['CREATE', 'pods'],
] as const)('the plugin ignores %s of %s', async (operation, at) => {
  expect(await outcomeOf(rbacEscalation, server, { operation, at })).toBe('not asked')
})
