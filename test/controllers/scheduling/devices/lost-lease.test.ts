/** Another scheduler takes the Lease while devices are being allocated: from that moment on nothing is allocated here. */
import { expect, test } from 'vitest'
import type { DeviceClass, ResourceSlice } from '../../../../src/api/resource/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../../src/controllers/workloads/resource-claim/templates.ts'
import { ControlPlaneInMemory } from '../../control-plane.ts'
import { plainPod } from '../../plain-pod.ts'

const SLICES = typedResource<ResourceSlice & KubeObject>('resource.k8s.io', 'resourceslices')
const CLASSES = typedResource<DeviceClass & KubeObject>('resource.k8s.io', 'deviceclasses')
const LEASES = typedResource<KubeObject>('coordination.k8s.io', 'leases')
const LEASE = 'lease/kube-scheduler'
const NAMES = ['a', 'b']
const RESOURCES = { apiVersion: 'resource.k8s.io/v1' }

/** A node with a device for each claim, and no pod yet. */
async function prepared(plane: ControlPlaneInMemory): Promise<Clientset> {
  const clients = clientsetFor(await plane.context(), 'somebody')
  const labels = { 'kedge.dev/simulated': 'true' }
  await clients.resource(NODES).create({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', labels } })
  await clients.resource(CLASSES).create({ kind: 'DeviceClass', ...RESOURCES, metadata: { name: 'gpus' }, spec: {} })
  const pool = { name: 'n', generation: 1, resourceSliceCount: 1 }
  await clients.resource(SLICES).create({
    kind: 'ResourceSlice',
    ...RESOURCES,
    metadata: { name: 'n' },
    spec: { driver: 'gpu.example', nodeName: 'n', pool, devices: NAMES.map((name) => ({ name })) },
  })
  for (const name of NAMES)
    await clients.resource(RESOURCE_CLAIMS, 'default').create({
      kind: 'ResourceClaim',
      ...RESOURCES,
      metadata: { name, namespace: 'default' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] } },
    })
  await plane.settle()
  return clients
}

const addPods = (clients: Clientset): Promise<unknown> =>
  Promise.all(
    NAMES.map((name) =>
      clients
        .resource(PODS, 'default')
        .create(plainPod(name, { resourceClaims: [{ name: 'gpu', resourceClaimName: name }] })),
    ),
  )

interface Outcome {
  readonly allocated: number
  readonly protected: number
  readonly bound: number
}

async function outcomeOf(clients: Clientset): Promise<Outcome> {
  const claims = await clients.resource(RESOURCE_CLAIMS, 'default').list()
  const pods = await clients.resource(PODS, 'default').list()
  return {
    allocated: claims.filter(({ status }) => status?.allocation !== undefined).length,
    protected: claims.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).length,
    bound: pods.filter(({ spec }) => spec?.nodeName !== undefined).length,
  }
}

/** @param last how often the scheduler is told that nobody else leads @returns how often it asked */
async function handOver(plane: ControlPlaneInMemory, clients: Clientset, last: number): Promise<number> {
  const { sightings } = plane
  const get = sightings.get.bind(sightings)
  let asked = 0
  sightings.get = (key) => {
    if (key === LEASE && asked++ === last)
      sightings.set(LEASE, { record: 'another', time: plane.now.getTime() + 15_000 })
    return get(key)
  }
  await addPods(clients)
  await plane.settle()
  sightings.get = get
  return asked
}

test('whenever the Lease is lost, no claim is allocated any more, and all are when it is given up', async () => {
  const undisturbed = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  const most = await handOver(undisturbed, await prepared(undisturbed), Infinity)
  const outcomes: Outcome[] = []
  for (let last = 0; last < most; last++) {
    const plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
    const clients = await prepared(plane)
    await handOver(plane, clients, last)
    const outcome = await outcomeOf(clients)
    outcomes.push(outcome)
    // a pod has its node only with its devices
    expect(outcome.bound).toBeLessThanOrEqual(outcome.allocated)
    // the other scheduler gives up without having done anything
    await clients.resource(LEASES, 'kube-system').create({
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
      spec: { holderIdentity: '', leaseDurationSeconds: 1 },
    } as KubeObject)
    await plane.settle()
    expect(await outcomeOf(clients)).toEqual({ allocated: 2, protected: 2, bound: 2 })
  }
  // also between the two writes of a claim
  expect(outcomes).toContainEqual({ allocated: 0, protected: 1, bound: 0 })
  expect(outcomes).toContainEqual({ allocated: 1, protected: 2, bound: 1 })
  expect(outcomes.at(0)).toEqual({ allocated: 0, protected: 0, bound: 0 })
  expect(outcomes.at(-1)).toEqual({ allocated: 2, protected: 2, bound: 2 })
})
