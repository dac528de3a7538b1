import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../src/api/object.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { SimulatedPlane } from '../simulated-plane.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
const selector = { matchLabels: labels }
const endless = {
  metadata: { annotations: { 'kedge.dev/duration': '100000' } },
  spec: { ...template.spec, restartPolicy: 'Never' },
}

/** A control plane of two nodes on which an owner `web` has its pods. */
async function running(kind: string, apiVersion: string, spec: object): Promise<SimulatedPlane> {
  const simulated = await SimulatedPlane.start('node-1', 'node-2')
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  await simulated.clients
    .resource(typedResource<KubeObject & { spec: object }>(group, `${kind.toLowerCase()}s`), 'default')
    .create({ kind, apiVersion, metadata: { name: 'web', namespace: 'default' }, spec })
  await simulated.settled(5)
  return simulated
}

test.each<[kind: string, apiVersion: string, spec: object]>([
  ['ReplicaSet', 'apps/v1', { replicas: 2, selector, template }],
  ['ReplicationController', 'v1', { replicas: 2, selector: labels, template }],
  ['DaemonSet', 'apps/v1', { selector, template }],
  ['StatefulSet', 'apps/v1', { replicas: 2, serviceName: 'web', selector, template }],
  ['Job', 'batch/v1', { parallelism: 2, completions: 2, template: endless }],
])('a %s takes back a pod that somebody let go, and makes no other', async (kind, apiVersion, spec) => {
  const simulated = await running(kind, apiVersion, spec)
  const before = await simulated.pods()
  expect(before).toHaveLength(2)
  const told = await simulated.said(kind)
  const { name = '' } = before[0]!.metadata
  const pods = simulated.clients.resource(PODS, 'default')
  await pods.updateWithRetries(named(name), ({ metadata }) => void delete metadata.ownerReferences)
  await simulated.settled(5)
  expect((await simulated.pods()).map(({ metadata }) => metadata.uid)).toEqual(
    before.map(({ metadata }) => metadata.uid),
  )
  expect((await pods.get(name))?.metadata.ownerReferences).toMatchObject([{ kind, controller: true }])
  expect(await simulated.said(kind)).toEqual(told)
})

test('a Deployment takes back a ReplicaSet that somebody let go', async () => {
  const simulated = await running('Deployment', 'apps/v1', { replicas: 1, selector, template })
  const sets = simulated.clients.resource(typedResource<KubeObject>('apps', 'replicasets'), 'default')
  const [set] = await sets.list()
  const told = await simulated.said('Deployment')
  await sets.updateWithRetries(named(set!.metadata.name!), ({ metadata }) => void delete metadata.ownerReferences)
  await simulated.settled(5)
  expect((await sets.list()).map(({ metadata }) => metadata.uid)).toEqual([set!.metadata.uid])
  expect((await sets.list())[0]?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment' }])
  expect(await simulated.said('Deployment')).toEqual(told)
})

test('the owner of a pod that no selector matches any more makes another one', async () => {
  const simulated = await running('ReplicaSet', 'apps/v1', { replicas: 1, selector, template })
  const [pod] = await simulated.pods()
  await simulated.clients.resource(PODS, 'default').updateWithRetries(pod!, ({ metadata }) => {
    delete metadata.ownerReferences
    metadata.labels = { app: 'other' }
  })
  await simulated.settled(5)
  expect(await simulated.pods()).toHaveLength(2)
})

test.each(['StatefulSet', 'DaemonSet'])('a %s takes back a revision that somebody let go', async (kind) => {
  const own = kind === 'StatefulSet' ? { serviceName: 'web' } : {}
  const simulated = await running(kind, 'apps/v1', { selector, template, ...own })
  const revisions = simulated.clients.resource(typedResource<KubeObject>('apps', 'controllerrevisions'), 'default')
  const [revision] = await revisions.list()
  await revisions.updateWithRetries(revision!, ({ metadata }) => void delete metadata.ownerReferences)
  await simulated.settled(5)
  const after = await revisions.list()
  expect(after.map(({ metadata }) => metadata.uid)).toEqual([revision!.metadata.uid])
  expect(after[0]?.metadata.ownerReferences).toMatchObject([{ kind }])
})
