import { expect, test } from 'vitest'
import type { RuleWithOperations } from '../../../src/api/admissionregistration/v1.ts'
import { ruleMatches } from '../../../src/admission/webhooks/rules.ts'
import type { RuleAttributes } from '../../../src/admission/webhooks/rules.ts'

const everything: RuleWithOperations = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: ['*'],
  resources: ['*/*'],
}
const rule = (more: RuleWithOperations): RuleWithOperations => ({ ...everything, ...more })
const ofPods: RuleAttributes = {
  operation: 'CREATE',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  namespace: 'default',
}
const asked = (more: Partial<RuleAttributes>): RuleAttributes => ({ ...ofPods, ...more })
const resource = (group: string, version: string, name: string) => ({ group, version, resource: name })
const namespaces = asked({ resource: resource('', 'v1', 'namespaces'), namespace: 'default' })
const nodes = asked({ resource: resource('', 'v1', 'nodes'), namespace: '' })
const deployments = asked({ resource: resource('apps', 'v1', 'deployments') })

test.each<[RuleWithOperations, RuleAttributes, boolean]>([
  [everything, ofPods, true],
  [rule({ operations: ['CREATE'] }), ofPods, true],
  [rule({ operations: ['UPDATE', 'DELETE'] }), ofPods, false],
  [rule({ operations: [] }), ofPods, false],
  [rule({ apiGroups: [''] }), ofPods, true],
  [rule({ apiGroups: [''] }), deployments, false],
  [rule({ apiGroups: ['apps'] }), deployments, true],
  [rule({ apiVersions: ['v1beta1'] }), ofPods, false],
  [rule({ apiVersions: ['v1beta1', 'v1'] }), ofPods, true],
  [rule({ resources: ['pods'] }), ofPods, true],
  [rule({ resources: ['pods'] }), asked({ subresource: 'status' }), false],
  [rule({ resources: ['pods/*'] }), ofPods, true],
  [rule({ resources: ['pods/*'] }), asked({ subresource: 'status' }), true],
  [rule({ resources: ['pods/status'] }), ofPods, false],
  [rule({ resources: ['pods/status'] }), asked({ subresource: 'status' }), true],
  [rule({ resources: ['*'] }), ofPods, true],
  [rule({ resources: ['*'] }), asked({ subresource: 'status' }), false],
  [rule({ resources: ['*/status'] }), asked({ subresource: 'status' }), true],
  [rule({ resources: ['*/status'] }), ofPods, false],
  [rule({ resources: [] }), ofPods, false],
  [rule({ scope: '*' }), nodes, true],
  [rule({ scope: 'Cluster' }), nodes, true],
  [rule({ scope: 'Cluster' }), ofPods, false],
  [rule({ scope: 'Cluster' }), namespaces, true],
  [rule({ scope: 'Namespaced' }), ofPods, true],
  [rule({ scope: 'Namespaced' }), nodes, false],
  [rule({ scope: 'Namespaced' }), namespaces, false],
])('%j for %j: %j', (one, attributes, expected) => {
  expect(ruleMatches(one, attributes)).toBe(expected)
})
