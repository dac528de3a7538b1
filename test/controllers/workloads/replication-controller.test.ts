import { beforeEach, describe, expect, test } from 'vitest'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { REPLICA_SETS, REPLICATION_CONTROLLERS } from '../../../src/controllers/workloads/replica-set.ts'
import { SimulatedPlane } from './simulated-plane.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

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

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }

describe.each(['ReplicaSet', 'ReplicationController'])('a %s and finished pods', (kind) => {
  let simulated: SimulatedPlane
  const pods = () => simulated.clients.resource(PODS, 'default')

  beforeEach(async () => {
    simulated = await SimulatedPlane.start('node-1')
  })

  async function replicate(replicas: number): Promise<void> {
    const metadata = { name: 'web', namespace: 'default' }
    const spec = { replicas, template }
    if (kind === 'ReplicaSet')
      await simulated.clients
        .resource(REPLICA_SETS, 'default')
        .create({ kind, apiVersion: 'apps/v1', metadata, spec: { ...spec, selector: { matchLabels: labels } } })
    else
      await simulated.clients
        .resource(REPLICATION_CONTROLLERS, 'default')
        .create({ kind, apiVersion: 'v1', metadata, spec: { ...spec, selector: labels } })
    await simulated.settled(3)
  }

  async function relabel(name: string, app: string): Promise<void> {
    await pods().updateWithRetries(named(name), ({ metadata }) => void (metadata.labels = { app }))
    await simulated.settled(3)
  }

  test('it adopts none, neither when it is made nor when they are found later', async () => {
    const metadata = { name: 'done', namespace: 'default', labels, annotations: { 'kedge.dev/duration': '1s' } }
    const spec = { ...template.spec, restartPolicy: 'Never' }
    await pods().create({ kind: 'Pod', apiVersion: 'v1', metadata, spec })
    await simulated.settled(5)
    expect((await pods().get('done'))?.status?.phase).toBe('Succeeded')
    await replicate(0)
    expect((await pods().get('done'))?.metadata.ownerReferences).toBeUndefined()
    await relabel('done', 'other')
    await relabel('done', 'web')
    expect((await pods().get('done'))?.metadata.ownerReferences).toBeUndefined()
  })

  test('it lets go of none', async () => {
    await replicate(1)
    const [pod] = await pods().list()
    const { name = '' } = pod!.metadata
    await pods().updateStatusWithRetries(pod!, (object) => void (object.status = { ...object.status, phase: 'Failed' }))
    await simulated.settled(3)
    await relabel(name, 'other')
    expect((await pods().get(name))?.metadata.ownerReferences).toMatchObject([{ kind }])
  })
})
