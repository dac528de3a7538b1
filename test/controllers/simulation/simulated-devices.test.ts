/** The devices of simulated nodes: what they publish, and pods that start when their claims are theirs. */
import { beforeEach, expect, test } from 'vitest'
import type { Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { DeviceClass, ResourceSlice } from '../../../src/api/resource/v1.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../src/controllers/workloads/resource-claim/templates.ts'
import { EVENTS, newsIn } from '../control-plane.ts'
import { SimulatedPlane } from '../workloads/simulated-plane.ts'
import { plainPod } from '../plain-pod.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const SLICES = typedResource<ResourceSlice & KubeObject>('resource.k8s.io', 'resourceslices')
const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1')
})

async function annotate(text: string | undefined): Promise<void> {
  await simulated.clients.resource(NODES).updateWithRetries(named('node-1'), ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations }
    if (text === undefined) delete metadata.annotations['kedge.dev/devices']
    else metadata.annotations['kedge.dev/devices'] = text
  })
  await simulated.plane.settle()
}

const slices = () => simulated.clients.resource(SLICES).list()
const devices = async () => (await slices()).flatMap(({ spec }) => spec?.devices?.map(({ name }) => name))

test('a node publishes the devices that its annotation lists, and nothing is left to do', async () => {
  await annotate('gpu=2')
  const uid = (await simulated.clients.resource(NODES).get('node-1'))?.metadata.uid
  expect(await slices()).toMatchObject([
    {
      metadata: {
        name: 'node-1-simulated.kedge.dev',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid, controller: true }],
      },
      spec: {
        driver: 'simulated.kedge.dev',
        nodeName: 'node-1',
        pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu-0' }, { name: 'gpu-1' }],
      },
    },
  ])
  expect(simulated.plane.waiting).toEqual([])
})

test('another list is another generation of the pool, none takes the devices away', async () => {
  await annotate('gpu=2')
  await annotate('nic=1')
  expect(await devices()).toEqual(['nic-0'])
  expect((await slices())[0]?.spec?.pool?.generation).toBe(2)
  await annotate(undefined)
  expect(await slices()).toEqual([])
})

test('a slice that somebody deletes is published again', async () => {
  await annotate('gpu=1')
  await simulated.clients.resource(SLICES).delete(named('node-1-simulated.kedge.dev'))
  await simulated.plane.settle()
  expect(await devices()).toEqual(['gpu-0'])
})

test('a node that is not simulated any more has no simulated devices', async () => {
  await annotate('gpu=1')
  await simulated.clients
    .resource(NODES)
    .updateWithRetries(named('node-1'), ({ metadata }) => void delete metadata.labels)
  await simulated.plane.settle()
  expect(await slices()).toEqual([])
})

test('a list that nobody can read is told, and leaves what was published', async () => {
  await annotate('gpu=1')
  await annotate('gpu=many')
  expect(await devices()).toEqual(['gpu-0'])
  const events = await simulated.clients.resource({ ...EVENTS }, 'default').list()
  expect(newsIn(events)).toMatchObject([
    { reason: 'InvalidDevices', message: 'annotation kedge.dev/devices: "gpu=many" is no TYPE=COUNT' },
  ])
})

test('a pod runs with the devices of its claim', async () => {
  await annotate('gpu=1')
  await addClass()
  await addClaim()
  await addPod({})
  expect((await pod())?.status?.phase).toBe('Running')
  const claim = await claims().get('one')
  expect(claim?.status?.allocation?.devices?.results).toMatchObject([
    { driver: 'simulated.kedge.dev', device: 'gpu-0' },
  ])
})

test('a pod that comes to a node without a scheduler starts when its claim is allocated and reserved', async () => {
  await annotate('gpu=1')
  await addClaim()
  await addPod({ nodeName: 'node-1' })
  expect((await pod())?.status?.phase).toBe('Pending')
  const uid = (await pod())?.metadata.uid
  expect(await simulated.said('Pod')).toEqual([
    `Warning simulated-kubelet FailedPrepareDynamicResources: Failed to prepare dynamic resources: pod web (${uid}) is not allowed to use ResourceClaim one (${(await claims().get('one'))?.metadata.uid})`,
  ])
  // nobody asks again and again
  expect(simulated.plane.waiting.filter((work) => work.startsWith('simulated'))).toEqual([])
  const results = [{ request: 'gpu', driver: 'simulated.kedge.dev', pool: 'node-1', device: 'gpu-0' }]
  await claims().updateStatusWithRetries(
    named('one'),
    (claim) => void (claim.status = { allocation: { devices: { results } } }),
  )
  await simulated.plane.settle()
  expect((await pod())?.status?.phase).toBe('Running')
})

const claims = () => simulated.clients.resource(RESOURCE_CLAIMS, 'default')
const pod = () => simulated.clients.resource(PODS, 'default').get('web')

async function addClass(): Promise<void> {
  const kind = { kind: 'DeviceClass', apiVersion: 'resource.k8s.io/v1' }
  await simulated.clients.resource(CLASSES).create({ ...kind, metadata: { name: 'gpus' }, spec: {} })
}

async function addClaim(): Promise<void> {
  await claims().create({
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name: 'one', namespace: 'default' },
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] } },
  })
  await simulated.plane.settle()
}

async function addPod(spec: Pod['spec']): Promise<void> {
  await simulated.clients
    .resource(PODS, 'default')
    .create(plainPod('web', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }], ...spec }))
  await simulated.plane.settle()
}
