import { expect, test } from 'vitest'
import { PODS } from '../../../src/controllers/workloads/pod-control.ts'
import { REPLICATION_CONTROLLERS } from '../../../src/controllers/workloads/replica-set.ts'
import { SimulatedPlane } from './simulated-plane.ts'
import { named } from '../../../src/controllers/resource-client.ts'

test('a ReplicationController keeps as many pods as it asks for', async () => {
  const simulated = await SimulatedPlane.start('node-1')
  const controllers = simulated.clients.resource(REPLICATION_CONTROLLERS, 'default')
  await controllers.create({
    kind: 'ReplicationController',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { app: 'web' },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  })
  await simulated.settled(3)
  expect((await controllers.get('web'))?.status).toEqual({
    observedGeneration: 1,
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
  })
  const [pod] = await simulated.pods()
  expect(pod?.metadata.ownerReferences).toMatchObject([{ apiVersion: 'v1', kind: 'ReplicationController' }])
  await simulated.clients.resource(PODS, 'default').delete(named(pod!.metadata.name!))
  await simulated.settled(3)
  expect(await simulated.pods()).toHaveLength(3)
  await controllers.updateWithRetries(named('web'), ({ spec }) => void (spec!.replicas = 1))
  await simulated.settled(3)
  const [left] = await simulated.pods()
  expect(await simulated.said('ReplicationController')).toContain(
    `Normal replication-controller SuccessfulCreate: Created pod: ${left?.metadata.name}`,
  )
  // let go, its place is taken; come back, one of both goes
  const pods = simulated.clients.resource(PODS, 'default')
  await pods.updateWithRetries(named(left!.metadata.name!), ({ metadata }) => void (metadata.labels = { app: 'other' }))
  await simulated.settled(3)
  expect((await pods.get(left!.metadata.name!))?.metadata.ownerReferences).toBeUndefined()
  await pods.updateWithRetries(named(left!.metadata.name!), ({ metadata }) => void (metadata.labels = { app: 'web' }))
  await simulated.settled(3)
  expect(await simulated.pods()).toHaveLength(1)
})
