/** Extended resources that device classes stand for, on a control plane in memory whose nodes are simulated. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Container, Pod } from '../../../../src/api/core/v1.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { extendedRequests } from '../../../../src/controllers/scheduling/devices/extended-resources.ts'
import { NODES } from '../../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../../src/controllers/workloads/resource-claim/templates.ts'
import { ExtendedResources } from '../../../../src/registry/resource/extended-claims.ts'
import type { ControlPlaneInMemory } from '../../control-plane.ts'
import { plainPod } from '../../plain-pod.ts'
import { DeviceCluster } from './device-cluster.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const deviceClass = (name: string, extendedResourceName?: string, creationTimestamp = '2026-01-01T00:00:00Z') => ({
  kind: 'DeviceClass',
  apiVersion: 'resource.k8s.io/v1',
  metadata: { name, creationTimestamp },
  spec: extendedResourceName === undefined ? {} : { extendedResourceName },
})

describe('which class a resource is of', () => {
  const of = (...classes: ReturnType<typeof deviceClass>[]) => {
    const resources = new ExtendedResources(classes)
    return (resource: string) => resources.classOf(resource)?.metadata.name
  }

  test('by its extendedResourceName, and always by its own name', () => {
    const classOf = of(deviceClass('gpus', 'example.com/gpu'), deviceClass('nics'))
    expect(
      [
        'example.com/gpu',
        'deviceclass.resource.kubernetes.io/gpus',
        'deviceclass.resource.kubernetes.io/nics',
        'example.com/nic',
      ].map(classOf),
    ).toEqual(['gpus', 'gpus', 'nics', undefined])
  })

  test('the newest of several, and the first by name of equally old ones', () => {
    const old = deviceClass('a', 'example.com/gpu')
    const young = deviceClass('c', 'example.com/gpu', '2026-01-02T00:00:00Z')
    const alike = deviceClass('b', 'example.com/gpu', '2026-01-02T00:00:00Z')
    for (const classes of [
      [old, young, alike],
      [alike, young, old],
      [young, old, alike],
    ])
      expect(of(...classes)('example.com/gpu')).toBe('b')
    expect(of(young, old)('deviceclass.resource.kubernetes.io/a')).toBe('a')
  })
})

describe('what is claimed for the containers of a pod', () => {
  const container = (name: string, requests: Record<string, string>, more: Container = {}): Container => ({
    name,
    resources: { requests },
    ...more,
  })
  const sidecar = { restartPolicy: 'Always' }
  const { classOf } = new ExtendedResources([
    deviceClass('gpus', 'example.com/gpu'),
    deviceClass('nics', 'example.com/nic'),
  ])
  const claimed = (init: Container[], regular: Container[], resources = ['example.com/gpu']) => {
    const pod = { metadata: {}, spec: { initContainers: init, containers: regular } }
    const { requests, mappings } = extendedRequests(pod, resources, classOf)
    return {
      requests: requests.map(({ name, exactly }) => `${name}: ${exactly?.count} of ${exactly?.deviceClassName}`),
      mappings: mappings.map(({ containerName, requestName }) => `${containerName}: ${requestName}`),
    }
  }
  const gpu = (count: number) => ({ 'example.com/gpu': String(count) })

  test.each<[string, Parameters<typeof claimed>, string[], string[]]>([
    [
      'requests are numbered by container, and by all that the container asks for',
      [[], [container('a', { cpu: '1', 'example.com/nic': '1', ...gpu(2) })], ['example.com/nic', 'example.com/gpu']],
      ['container-0-request-1: 2 of gpus', 'container-0-request-2: 1 of nics'],
      ['a: container-0-request-1', 'a: container-0-request-2'],
    ],
    [
      'each container has its own',
      [[], [container('a', gpu(1)), container('b', gpu(2))]],
      ['container-0-request-0: 1 of gpus', 'container-1-request-0: 2 of gpus'],
      ['a: container-0-request-0', 'b: container-1-request-0'],
    ],
    [
      'an init container has those of who starts after it',
      [[container('i', gpu(2))], [container('a', gpu(1)), container('b', gpu(2))]],
      ['container-1-request-0: 1 of gpus', 'container-2-request-0: 2 of gpus'],
      ['a: container-1-request-0', 'b: container-2-request-0', 'i: container-1-request-0', 'i: container-2-request-0'],
    ],
    [
      'init containers share what they need more',
      [[container('i', gpu(2)), container('j', gpu(4))], [container('a', gpu(1))]],
      ['container-1-request-0: 3 of gpus', 'container-2-request-0: 1 of gpus'],
      [
        'a: container-2-request-0',
        'i: container-2-request-0',
        'i: container-1-request-0',
        'j: container-2-request-0',
        'j: container-1-request-0',
      ],
    ],
    [
      'a sidecar keeps its own, and lends it to who came before it alone',
      [[container('i', gpu(1)), container('s', gpu(1), sidecar), container('j', gpu(2))], [container('a', gpu(1))]],
      ['container-1-request-0: 1 of gpus', 'container-2-request-0: 1 of gpus', 'container-3-request-0: 1 of gpus'],
      [
        's: container-1-request-0',
        'a: container-3-request-0',
        'i: container-1-request-0',
        'j: container-3-request-0',
        'j: container-2-request-0',
      ],
    ],
    [
      'what no class stands for is not claimed',
      [[], [container('a', { 'example.com/none': '1' })], ['example.com/none']],
      [],
      [],
    ],
  ])('%s', (_, [init, regular, resources], requests, mappings) => {
    expect(claimed(init, regular, resources)).toEqual({ requests, mappings })
  })
})

describe('a pod that asks for such a resource', () => {
  let cluster: DeviceCluster
  let plane: ControlPlaneInMemory
  let clients: Clientset
  const claims = () => clients.resource(RESOURCE_CLAIMS, 'default')
  const pods = () => clients.resource(PODS, 'default')

  beforeEach(async () => {
    cluster = await DeviceCluster.start()
    ;({ plane, clients } = cluster)
  })

  async function addPod(name: string, count = 1, resource = 'example.com/gpu'): Promise<void> {
    await pods().create(
      plainPod(name, { containers: [{ name: 'c', image: 'i', resources: { limits: { [resource]: String(count) } } }] }),
    )
    await plane.settle()
  }

  const phaseOf = ({ spec, status }: Pod) => `${status?.phase} on ${spec?.nodeName}`
  const podNamed = async (name: string) => (await pods().get(name))!
  const nodeOf = async (name: string) => (await podNamed(name)).spec?.nodeName
  const whyNot = async (name: string) =>
    (await podNamed(name)).status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message

  test('gets devices by a claim that is made for it', async () => {
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    await cluster.addDevices('node-2', 'x', 'y')
    await addPod('web', 2)
    const pod = await podNamed('web')
    expect(phaseOf(pod)).toBe('Running on node-2')
    const [claim] = await claims().list()
    expect(pod.status?.extendedResourceClaimStatus).toEqual({
      requestMappings: [{ containerName: 'c', resourceName: 'example.com/gpu', requestName: 'container-0-request-0' }],
      resourceClaimName: claim?.metadata.name,
    })
    expect(claim).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^web-extended-resources-[a-z0-9]{5}$/),
        generateName: 'web-extended-resources-',
        annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
        finalizers: ['resource.kubernetes.io/delete-protection'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: pod.metadata.uid, controller: true }],
      },
      spec: {
        devices: {
          requests: [
            {
              name: 'container-0-request-0',
              exactly: { deviceClassName: 'gpus', allocationMode: 'ExactCount', count: 2 },
            },
          ],
        },
      },
      status: {
        allocation: { devices: { results: [{ device: 'x' }, { device: 'y' }] } },
        reservedFor: [{ resource: 'pods', name: 'web', uid: pod.metadata.uid }],
      },
    })
    expect(claim?.metadata.ownerReferences?.[0]).not.toHaveProperty('blockOwnerDeletion')
  })

  test('by the name of the class alone', async () => {
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    await cluster.addDevices('node-1', 'x')
    await addPod('web', 1, 'deviceclass.resource.kubernetes.io/gpus')
    expect(await nodeOf('web')).toBe('node-1')
  })

  test('waits for the class, then for a device, then for who has it', async () => {
    const helpless = 'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.'
    await addPod('web')
    expect(await whyNot('web')).toBe(
      `0/2 nodes are available: 2 Insufficient example.com/gpu. no new claims to deallocate, ${helpless}`,
    )
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    expect(await whyNot('web')).toBe(
      `0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, ${helpless}`,
    )
    await cluster.addDevices('node-1', 'x')
    expect(await nodeOf('web')).toBe('node-1')
    await addPod('second')
    expect(await nodeOf('second')).toBeUndefined()
    await pods().delete(named('web'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await nodeOf('second')).toBe('node-1')
    expect((await claims().list()).map(({ metadata }) => metadata.ownerReferences?.[0]?.name)).toEqual(['second'])
  })

  test('loses its claim when it is over', async () => {
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    await cluster.addDevices('node-1', 'x')
    await addPod('web')
    await pods().updateStatusWithRetries(named('web'), ({ status = {} }) => void (status.phase = 'Succeeded'))
    await plane.settle()
    expect(await claims().list()).toEqual([])
  })

  test('has it from the node where the node has it', async () => {
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    await cluster.addDevices('node-1', 'x')
    await clients.resource(NODES).updateStatusWithRetries(named('node-2'), ({ status = {} }) => {
      status.capacity = { ...status.capacity, 'example.com/gpu': '4' }
    })
    await plane.settle()
    await addPod('many', 3)
    expect(await nodeOf('many')).toBe('node-2')
    expect(await claims().list()).toEqual([])
  })

  test('a claim of which the pod was not bound is deleted, and the pod tried again', async () => {
    await cluster.addClass({ extendedResourceName: 'example.com/gpu' })
    await addPod('web')
    const { metadata } = await podNamed('web')
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: metadata.uid ?? '', controller: true }
    const stale = await claims().create({
      kind: 'ResourceClaim',
      apiVersion: 'resource.k8s.io/v1',
      metadata: {
        name: 'stale',
        namespace: 'default',
        annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
        finalizers: ['resource.kubernetes.io/delete-protection'],
        ownerReferences: [owner],
      },
      spec: { devices: { requests: [{ name: 'container-0-request-0', exactly: { deviceClassName: 'gpus' } }] } },
    })
    await cluster.addDevices('node-1', 'x')
    const left = await claims().list()
    expect(left.map((claim) => claim.metadata.uid)).not.toContain(stale.metadata.uid)
    expect([await nodeOf('web'), left.length]).toEqual(['node-1', 1])
  })
})
