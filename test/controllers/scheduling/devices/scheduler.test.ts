/** Pods and the devices that they claim, on a control plane in memory whose nodes are simulated. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import type { DeviceRequest } from '../../../../src/api/resource/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../../src/controllers/workloads/resource-claim/templates.ts'
import type { ControlPlaneInMemory } from '../../control-plane.ts'
import { plainPod } from '../../plain-pod.ts'
import { DeviceCluster, SLICES } from './device-cluster.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

let cluster: DeviceCluster
let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  cluster = await DeviceCluster.start()
  ;({ plane, clients } = cluster)
})

async function addClaim(name: string, exactly: DeviceRequest['exactly'] = {}): Promise<void> {
  await claims().create({
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name, namespace: 'default' },
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus', ...exactly } }] } },
  })
  await plane.settle()
}

async function addPod(name: string, claim: string, spec: Pod['spec'] = {}): Promise<void> {
  await pods().create(plainPod(name, { resourceClaims: [{ name: 'gpu', resourceClaimName: claim }], ...spec }))
  await plane.settle()
}

const claims = () => clients.resource(RESOURCE_CLAIMS, 'default')
const pods = () => clients.resource(PODS, 'default')
const nodeOf = async (name: string) => (await pods().get(name))?.spec?.nodeName

async function whyNot(name: string) {
  const condition = (await pods().get(name))?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return condition && `${condition.reason}: ${condition.message}`
}

/** `POOL/DEVICE for PODS` of each claim. */
async function allocations(): Promise<string[]> {
  return (await claims().list()).map(({ metadata, status = {} }) => {
    const devices = status.allocation?.devices?.results?.map(({ pool, device }) => `${pool}/${device}`) ?? ['nothing']
    return `${metadata.name}: ${devices.join(' ')} for ${status.reservedFor?.map(({ name }) => name).join(' ') ?? 'nobody'}`
  })
}

test('a pod goes where its devices are, which are its own from then on', async () => {
  await cluster.addClass()
  await cluster.addDevices('node-2', 'gpu-0')
  await addClaim('one')
  await addPod('web', 'one')
  expect(await nodeOf('web')).toBe('node-2')
  expect(await claims().get('one')).toMatchObject({
    metadata: { finalizers: ['resource.kubernetes.io/delete-protection'] },
    status: {
      allocation: {
        devices: { results: [{ request: 'gpu', driver: 'gpu.example', pool: 'node-2', device: 'gpu-0' }] },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }],
        },
        allocationTimestamp: '2026-01-01T00:00:00Z',
      },
      reservedFor: [{ resource: 'pods', name: 'web' }],
    },
  })
})

describe('a pod waits', () => {
  const NOT_HELPFUL = 'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.'

  test('for its claim, its class and its devices, and goes on when each of them comes', async () => {
    await addPod('web', 'one')
    expect(await whyNot('web')).toBeUndefined()
    await addClaim('one')
    expect(await whyNot('web')).toBe(
      `Unschedulable: 0/2 nodes are available: request gpu: device class gpus does not exist. no new claims to deallocate, ${NOT_HELPFUL}`,
    )
    await cluster.addClass()
    expect(await whyNot('web')).toBe(
      `Unschedulable: 0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, ${NOT_HELPFUL}`,
    )
    expect(plane.waiting).toEqual([])
    await cluster.addDevices('node-1', 'gpu-0')
    expect(await nodeOf('web')).toBe('node-1')
  })

  test('while another one has its device', async () => {
    await cluster.addClass()
    await cluster.addDevices('node-1', 'gpu-0')
    await addClaim('one')
    await addClaim('two')
    await addPod('first', 'one')
    await addPod('second', 'two')
    expect(await nodeOf('second')).toBeUndefined()
    await pods().delete(named('first'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await nodeOf('second')).toBe('node-1')
    expect(await allocations()).toEqual(['one: nothing for nobody', 'two: node-1/gpu-0 for second'])
  })

  test('where the search fails, which its condition says, until something changes', async () => {
    await cluster.addClass()
    await cluster.addDevices('node-1', 'gpu-0')
    await addClaim('one', { selectors: [{ cel: { expression: 'device.attributes["gpu.example"].none' } }] })
    await addPod('web', 'one')
    expect(await nodeOf('web')).toBeUndefined()
    expect(await whyNot('web')).toBe(
      'SchedulerError: running "DynamicResources" filter plugin: claim default/one: selector #0: CEL runtime error: no such key: none',
    )
    expect(plane.waiting).toEqual([])
  })
})

describe('a device whose driver is to be waited for', () => {
  const said = async () =>
    (await clients.resource(typedResource<KubeObject & { reason?: string }>('', 'events'), 'default').list())
      .map(({ reason }) => reason)
      .filter((reason) => reason === 'BindingConditionsPending' || reason === 'FailedScheduling')

  beforeEach(async () => {
    await cluster.addClass()
    await cluster.addDevices('node-1', 'gpu-0')
    await clients.resource(SLICES).updateWithRetries(named('node-1'), ({ spec }) => {
      for (const device of spec?.devices ?? []) {
        device.bindingConditions = ['attached']
        device.bindingFailureConditions = ['broken']
      }
    })
    await addClaim('one')
    await addPod('web', 'one')
  })

  async function tell(type: string): Promise<void> {
    await claims().updateStatusWithRetries(named('one'), (claim) => {
      const conditions = [
        { type, status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ]
      claim.status = {
        ...claim.status,
        devices: [{ driver: 'gpu.example', pool: 'node-1', device: 'gpu-0', conditions }],
      }
    })
    await plane.settle()
  }

  test('is reserved, and its pod is bound when the conditions hold', async () => {
    expect(await allocations()).toEqual(['one: node-1/gpu-0 for web'])
    expect([await nodeOf('web'), (await pods().get('web'))?.status?.nominatedNodeName]).toEqual([undefined, 'node-1'])
    expect(await said()).toEqual(['BindingConditionsPending'])
    await tell('other')
    expect(await nodeOf('web')).toBeUndefined()
    await tell('attached')
    expect(await nodeOf('web')).toBe('node-1')
    await plane.pass(3_600_000)
    expect(await allocations()).toEqual(['one: node-1/gpu-0 for web'])
  })

  test('is given up when its driver fails, and tried again', async () => {
    await cluster.addDevices('node-2', 'gpu-1')
    await clients.resource(SLICES).delete(named('node-1'))
    await tell('broken')
    expect(await allocations()).toEqual(['one: node-2/gpu-1 for web'])
    expect(await nodeOf('web')).toBe('node-2')
  })

  test('is given up when nothing is said of it for ten minutes', async () => {
    await plane.pass(599_000)
    await cluster.addDevices('node-2', 'gpu-1')
    await clients.resource(SLICES).delete(named('node-1'))
    await plane.settle()
    expect(await allocations()).toEqual(['one: node-1/gpu-0 for web'])
    await plane.pass(2_000)
    expect(await nodeOf('web')).toBe('node-2')
    expect(plane.waiting).toEqual([])
  })

  test("is anybody's again when its pod goes", async () => {
    await pods().delete(named('web'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await allocations()).toEqual(['one: nothing for nobody'])
    await plane.pass(600_000)
    expect(plane.waiting).toEqual([])
  })
})

test('pods share a claim, on the node that has its devices', async () => {
  await cluster.addClass()
  await cluster.addDevices('node-2', 'gpu-0')
  await addPod('first', 'one')
  await addPod('second', 'one')
  await addClaim('one')
  expect([await nodeOf('first'), await nodeOf('second')]).toEqual(['node-2', 'node-2'])
  expect(await allocations()).toEqual(['one: node-2/gpu-0 for first second'])
})

test('an allocated claim that nobody uses is given up where it keeps a pod from its node', async () => {
  await cluster.addClass()
  await cluster.addDevices('node-1', 'gpu-0')
  await cluster.addDevices('node-2', 'gpu-0')
  await addClaim('one')
  const onNode = { key: 'metadata.name', operator: 'In', values: ['node-1'] }
  await claims().updateStatusWithRetries(named('one'), (claim) => {
    const results = [{ request: 'gpu', driver: 'gpu.example', pool: 'node-1', device: 'gpu-0' }]
    const nodeSelector = { nodeSelectorTerms: [{ matchFields: [onNode] }] }
    claim.status = { allocation: { devices: { results }, nodeSelector } }
  })
  await clients.resource(NODES).updateWithRetries(named('node-1'), ({ spec = {} }) => {
    spec.unschedulable = true
    spec.taints = [{ key: 'example.com/full', effect: 'NoSchedule' }]
  })
  await addPod('web', 'one', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] })
  expect(await nodeOf('web')).toBe('node-2')
  expect(await allocations()).toEqual(['one: node-2/gpu-0 for web'])
})

test('a pod waits for a claim that has as many users as a claim may have', async () => {
  await cluster.addClass()
  await addClaim('one')
  const others = Array.from({ length: 256 }, (_, at) => ({
    apiGroup: 'example.com',
    resource: 'others',
    name: `other-${at}`,
    uid: `${at}`,
  }))
  const results = [{ request: 'gpu', driver: 'gpu.example', pool: 'pool', device: 'gpu-0' }]
  await claims().updateStatusWithRetries(named('one'), (claim) => {
    claim.metadata.finalizers = ['resource.kubernetes.io/delete-protection']
    claim.status = { allocation: { devices: { results } }, reservedFor: others }
  })
  await addPod('web', 'one')
  expect(await whyNot('web')).toBe(
    'Unschedulable: 0/2 nodes are available: resourceclaim in use. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  )
})

test('an allocated claim is kept where the pod finds no devices for its other claims', async () => {
  await cluster.addClass()
  await cluster.addDevices('node-1', 'gpu-0')
  await addClaim('one')
  await addClaim('two', { count: 2 })
  const results = [{ request: 'gpu', driver: 'gpu.example', pool: 'node-3', device: 'gpu-0' }]
  const onNode = { key: 'metadata.name', operator: 'In', values: ['node-3'] }
  await claims().updateStatusWithRetries(named('one'), (claim) => {
    const nodeSelector = { nodeSelectorTerms: [{ matchFields: [onNode] }] }
    claim.status = { allocation: { devices: { results }, nodeSelector } }
  })
  await addPod('web', 'one', {
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'one' },
      { name: 'more', resourceClaimName: 'two' },
    ],
  })
  expect(await whyNot('web')).toContain('2 cannot allocate all claims. still not schedulable')
  expect(await allocations()).toEqual(['one: node-3/gpu-0 for nobody', 'two: nothing for nobody'])
})

test('many pods at once: no device is given to two of them, and what is left over waits', async () => {
  await cluster.addClass()
  await cluster.addDevices('node-1', 'a', 'b', 'c')
  await cluster.addDevices('node-2', 'd', 'e')
  const names = Array.from({ length: 8 }, (_, at) => `claim-${at}`)
  // none of them can be decided about before all are there
  for (const name of names) await addPod(name, name, { schedulingGates: [{ name: 'example.com/wait' }] })
  for (const name of names) await addClaim(name)
  for (const name of names) await pods().updateWithRetries(named(name), ({ spec }) => void delete spec?.schedulingGates)
  await plane.settle()
  const given = (await allocations()).filter((text) => !text.includes('nothing')).map((text) => text.split(' ')[1])
  expect(given.sort()).toEqual(['node-1/a', 'node-1/b', 'node-1/c', 'node-2/d', 'node-2/e'])
  const bound = await Promise.all(names.map(nodeOf))
  expect(bound.filter((node) => node !== undefined)).toHaveLength(5)
})
