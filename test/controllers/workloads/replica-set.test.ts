import { expect, test } from 'vitest'
import { clientsetFor } from '../../../src/controllers/client/clientset.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { DEPLOYMENTS } from '../../../src/controllers/workloads/deployment/deployment.ts'
import { sumOfTerminating } from '../../../src/controllers/workloads/deployment/numbers.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { REPLICA_SETS } from '../../../src/controllers/workloads/replica-set.ts'
import { replicaSetStatus } from '../../../src/controllers/workloads/replicas.ts'
import { ControlPlaneInMemory } from '../control-plane.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
const web = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { replicas: 2, selector: { matchLabels: labels }, template },
}

async function withGates(gates: string) {
  const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers', KEDGE_FEATURE_GATES: gates })
  const clients = clientsetFor(await plane.context(), 'somebody')
  return { plane, clients, pods: clients.resource(PODS, 'default') }
}

test.each([
  ['PodDeletionCost=true', 'dear'],
  ['PodDeletionCost=false', 'calm'],
])('with %s the pod that stays is %s', async (gates, expected) => {
  const { plane, clients, pods } = await withGates(gates)
  const sets = clients.resource(REPLICA_SETS, 'default')
  await sets.create({ kind: 'ReplicaSet', apiVersion: 'apps/v1', ...web })
  await plane.settle()
  const [dear, calm] = await pods.list()
  const change = async (name: string, cost: string, restartCount: number) => {
    await pods.updateWithRetries(named(name), ({ metadata }) => {
      metadata.annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost }
    })
    const containerStatuses = [{ name: 'web', image: '', imageID: '', ready: false, restartCount }]
    const pod = (await pods.get(name))!
    await pods.updateStatus({ ...pod, status: { ...pod.status, containerStatuses } })
  }
  await change(dear!.metadata.name!, '1000', 5)
  await change(calm!.metadata.name!, '100', 0)
  await sets.updateWithRetries(named('web'), ({ spec }) => void (spec!.replicas = 1))
  await plane.settle()
  const stayed = { dear: dear!.metadata.uid, calm: calm!.metadata.uid }
  expect((await pods.list()).map(({ metadata }) => metadata.uid)).toEqual([
    stayed[expected as keyof typeof stayed], // one of both
  ])
})

test('pods that are being deleted are no longer counted when the feature gate is off', () => {
  const set = { ...web, status: { replicas: 0, observedGeneration: 1, terminatingReplicas: 2 } }
  const now = new Date('2026-01-01T00:00:00Z')
  const counted = (leaving: [] | undefined) =>
    replicaSetStatus(set, { active: [], leaving }, undefined, now, '').terminatingReplicas
  expect(counted([])).toBe(0)
  expect(counted(undefined)).toBeUndefined()
})

test.each<[string, object[], number | undefined]>([
  [
    'of all sets',
    [
      { observedGeneration: 1, terminatingReplicas: 1 },
      { observedGeneration: 1, terminatingReplicas: 2 },
    ],
    3,
  ],
  ['without a set that is new', [{ observedGeneration: 1, terminatingReplicas: 1 }, {}], 1],
  [
    'unknown where a set does not say it',
    [{ observedGeneration: 1, terminatingReplicas: 1 }, { observedGeneration: 1 }],
    undefined,
  ],
  ['of no set', [], 0],
])('the sum %s', (_what, statuses, expected) => {
  expect(sumOfTerminating(statuses.map((status) => ({ ...web, status })))).toBe(expected)
})

test.each([true, false])('Recreate goes on when the old pods are gone, counted or not (%s)', async (counted) => {
  const { plane, clients, pods } = await withGates(`DeploymentReplicaSetTerminatingReplicas=${counted}`)
  const deployments = clients.resource(DEPLOYMENTS, 'default')
  const onNode = { ...template, spec: { ...template.spec, nodeName: 'somewhere' } }
  const spec = { ...web.spec, strategy: { type: 'Recreate' }, template: onNode }
  await deployments.create({ kind: 'Deployment', apiVersion: 'apps/v1', ...web, spec })
  await plane.settle()
  const old = await pods.list()
  await deployments.updateWithRetries(
    named('web'),
    ({ spec }) => void (spec!.template!.spec!.containers![0]!.image = 'web:2'),
  )
  await plane.settle()
  expect((await pods.list()).map(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([true, true])
  for (const { metadata } of old) await pods.delete(named(metadata.name!), { gracePeriodSeconds: 0 })
  await plane.settle()
  expect((await pods.list()).map(({ spec }) => spec?.containers?.[0]?.image)).toEqual(['web:2', 'web:2'])
})
