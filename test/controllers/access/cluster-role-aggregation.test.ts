import { beforeEach, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { ClusterRole, PolicyRule } from '../../../src/api/rbac/v1.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { aggregatedRules } from '../../../src/controllers/access/cluster-role-aggregation.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

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

describe('a role that selects no other', () => {
  const ROLES = typedResource<ClusterRole & KubeObject>('rbac.authorization.k8s.io', 'clusterroles')
  const watching = { verbs: ['watch'], apiGroups: [''], resources: ['pods'] }
  const type = { kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1' }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'of-it' } }] }
  let plane: ControlPlaneInMemory
  // the resource has only this kind
  const rules = async () => ((await plane.get(ROLES, '', 'whole')) as ClusterRole | undefined)?.rules

  beforeEach(async () => {
    plane = new ControlPlaneInMemory()
    await plane.create(ROLES, { ...type, metadata: { name: 'whole' }, rules: [watching], aggregationRule })
    await plane.settle()
  })

  test('keeps the rules that somebody wrote', async () => {
    expect(await rules()).toEqual([watching])
  })

  test('loses those that it got from others, and what they replaced', async () => {
    await plane.create(ROLES, { ...type, metadata: { name: 'part', labels: { part: 'of-it' } }, rules: [pods] })
    await plane.settle()
    expect(await rules()).toEqual([pods])
    await plane.delete(ROLES, '', 'part')
    await plane.settle()
    expect(await rules()).toBeUndefined()
  })
})
