import { describe, expect, test } from 'vitest'
import type { AuditedAttributes } from '../../src/audit/policy.ts'
import { decide } from '../../src/audit/policy.ts'
import { parsePolicy } from '../../src/configuration/audit-policy.ts'
import { pathAttributes, resourceAttributes } from '../../src/authorization/attributes.ts'

const user = { name: 'alice', uid: '', groups: ['devs', 'system:authenticated'], extra: {} }
const policyOf = (...rules: object[]) =>
  parsePolicy(JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }))

const get = (resource: string, more: Partial<AuditedAttributes> = {}): AuditedAttributes => {
  const [whole = '', subresource = ''] = resource.split('/')
  return { ...resourceAttributes(user, 'get', { apiVersion: 'v1', resource: whole, subresource }), ...more }
}
const path = (text: string): AuditedAttributes => pathAttributes(user, 'get', text)
const of = (group: string, ...resources: string[]) => ({ resources: [{ group, resources }] })

describe('which rule matches', () => {
  test.each<[rule: object, asked: AuditedAttributes, matches: boolean]>([
    [{}, get('pods'), true],
    [{}, path('/version'), true],
    [{ users: ['alice'] }, get('pods'), true],
    [{ users: ['bob'] }, get('pods'), false],
    [{ users: ['alice'] }, get('pods', { user: undefined }), false],
    [{ userGroups: ['x', 'devs'] }, get('pods'), true],
    [{ userGroups: ['x'] }, get('pods'), false],
    [{ userGroups: ['devs'] }, get('pods', { user: undefined }), false],
    [{ verbs: ['get'] }, get('pods'), true],
    [{ verbs: ['list'] }, get('pods'), false],
    [of('', 'pods'), get('pods'), true],
    [of('', 'pods'), get('pods/log'), false],
    [of('', 'pods/log'), get('pods/log'), true],
    [of('', 'pods/*'), get('pods/log'), true],
    [of('', 'pods/*'), get('pods'), true],
    [of('', '*/log'), get('pods/log'), true],
    [of('', '*/log'), get('pods'), false],
    [of('', '*'), get('pods/log'), true],
    [of('*', '*/scale'), get('deployments/scale', { apiGroup: 'apps' }), true],
    [of('apps'), get('deployments', { apiGroup: 'apps' }), true],
    [of('apps'), get('pods'), false],
    [of('', 'pods'), path('/api'), false],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['a'] }] }, get('pods', { name: 'a' }), true],
    [{ resources: [{ group: '', resources: ['pods'], resourceNames: ['a'] }] }, get('pods', { name: 'b' }), false],
    [{ namespaces: ['n'] }, get('pods', { namespace: 'n' }), true],
    [{ namespaces: ['n'] }, get('pods', { namespace: 'm' }), false],
    [{ namespaces: [''] }, get('nodes'), true],
    [{ namespaces: [''] }, path('/version'), false],
    [{ nonResourceURLs: ['/version'] }, path('/version'), true],
    [{ nonResourceURLs: ['/healthz*'] }, path('/healthz/ping'), true],
    [{ nonResourceURLs: ['*'] }, path('/anything'), true],
    [{ nonResourceURLs: ['*'] }, get('pods'), false],
    [{ nonResourceURLs: ['/version'] }, path('/version/x'), false],
  ])('%j and %j: %j', (rule, asked, matches) => {
    expect(decide(policyOf({ level: 'Request', ...rule }), asked).level).toBe(matches ? 'Request' : 'None')
  })

  test('the first one decides', () => {
    const policy = policyOf({ level: 'None', verbs: ['get'] }, { level: 'Metadata' })
    expect(decide(policy, get('pods')).level).toBe('None')
    expect(decide(policy, get('pods', { verb: 'list' })).level).toBe('Metadata')
  })

  test('stages of policy and rule are left out, and a rule has the last word on managed fields', () => {
    const policy = parsePolicy(
      JSON.stringify({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        omitStages: ['RequestReceived'],
        omitManagedFields: true,
        rules: [{ level: 'Request', omitStages: ['Panic'], omitManagedFields: false }],
      }),
    )
    expect(decide(policy, get('pods'))).toEqual({
      level: 'Request',
      omitStages: ['RequestReceived', 'Panic'],
      omitManagedFields: false,
    })
  })
})

test.each<[AuditedAttributes, string]>([
  [get('secrets'), 'Metadata'],
  [get('secrets/status'), 'Metadata'],
  [get('serviceaccounts/token'), 'Metadata'],
  [get('serviceaccounts'), 'RequestResponse'],
  [get('tokenreviews', { apiGroup: 'authentication.k8s.io' }), 'Metadata'],
  [get('tokenreviews', { apiGroup: 'other.example' }), 'RequestResponse'],
  [get('secrets', { apiGroup: 'other.example' }), 'RequestResponse'],
])('no policy shows credentials: %j has the level %s', (asked, level) => {
  expect(decide(policyOf({ level: 'RequestResponse' }), asked).level).toBe(level)
})

describe('a policy that cannot be obeyed is refused', () => {
  test.each<[rule: object, why: string]>([
    [{}, 'rules.0.level'],
    [{ level: 'All' }, 'rules.0.level'],
    [{ level: 'None', omitStages: ['Never'] }, 'rules.0.omitStages.0'],
    [{ level: 'None', nonResourceURLs: ['version'] }, "must begin with a '/' character"],
    [{ level: 'None', nonResourceURLs: ['/a*b'] }, 'must be the final character of the rule'],
    [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['n'] }, 'both regular resources and non-resource URLs'],
    [{ level: 'None', resources: [{ group: '', resourceNames: ['a'] }] }, 'requires at least one resource'],
    [{ level: 'None', resources: [{ group: 'apps/v1' }] }, 'rules.0.resources.0.group'],
    [{ level: 'None', resouces: [] }, 'resouces'],
  ])('%j', (rule, why) => expect(() => policyOf(rule)).toThrow(why))

  test('as one without rules', () => expect(() => policyOf()).toThrow('rules'))
})
