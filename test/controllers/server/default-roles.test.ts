import { expect, test } from 'vitest'
import type { ClusterRole, PolicyRule } from '../../../src/api/rbac/v1.ts'
import { newPlane, reconcile } from '../reconcile.ts'

const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
const NODE = 'system:node'
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'
const own: PolicyRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
const isOfServices = ({ resources }: PolicyRule): boolean => resources?.includes('services') === true

/** A control plane whose role was written without one of its rules, as by a server with other feature gates. */
async function planeWithOldRole(autoupdate = 'true') {
  const plane = await newPlane()
  const rules = (): Promise<PolicyRule[]> =>
    plane.get(ROLES, '', NODE).then((role) => (role as ClusterRole).rules ?? [])
  const client = await plane.client(ROLES, '')
  await client.updateWithRetries({ named: NODE }, (role) => {
    const old = role as ClusterRole
    old.rules = [...(old.rules ?? []).filter((rule) => !isOfServices(rule)), own]
    old.metadata.annotations = { ...old.metadata.annotations, [AUTOUPDATE]: autoupdate }
  })
  return { plane, rules }
}

test('a default role gets the rules that it lacks, in parts, and keeps those of an administrator', async () => {
  const { plane, rules } = await planeWithOldRole()
  const before = await rules()
  await reconcile(plane, 'server-edition', '')
  expect(await rules()).toEqual([
    ...before,
    { verbs: ['get'], apiGroups: [''], resources: ['services'] },
    { verbs: ['list'], apiGroups: [''], resources: ['services'] },
    { verbs: ['watch'], apiGroups: [''], resources: ['services'] },
  ])
  const { metadata } = (await plane.get(ROLES, '', NODE))!
  await reconcile(plane, 'server-edition', '')
  expect((await plane.get(ROLES, '', NODE))?.metadata.resourceVersion).toBe(metadata.resourceVersion)
})

test('not a role whose annotation says so', async () => {
  const { plane, rules } = await planeWithOldRole('false')
  const before = await rules()
  await reconcile(plane, 'server-edition', '')
  expect(await rules()).toEqual(before)
})

test('nor another role than the one of the key', async () => {
  const { plane, rules } = await planeWithOldRole()
  const before = await rules()
  await reconcile(plane, 'server-edition', 'clusterroles.rbac.authorization.k8s.io/system:node-proxier')
  expect(await rules()).toEqual(before)
  await reconcile(plane, 'server-edition', `clusterroles.rbac.authorization.k8s.io/${NODE}`)
  expect(await rules()).toHaveLength(before.length + 3)
})
