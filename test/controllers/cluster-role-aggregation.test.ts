import { expect, test } from 'vitest'
import type { PolicyRule } from '../../src/api/rbac/v1.ts'
import { aggregatedRules } from '../../src/controllers/cluster-role-aggregation.ts'

const role = (name: string, labels: Record<string, string>, ...rules: PolicyRule[]) => ({
  metadata: { name, labels },
  rules,
})
const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const nodes = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] }

test('rules of what the selectors choose, each once, not its own', () => {
  const gathering = {
    ...role('all', { a: 'true' }, { verbs: ['*'], nonResourceURLs: ['*'] }),
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { b: 'true' } }, { matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
    },
  }
  const roles = [gathering, role('x', { a: 'true' }, pods), role('y', { b: 'true' }, nodes, pods), role('z', {}, pods)]
  expect(aggregatedRules(gathering, roles)).toEqual([nodes, pods])
})
