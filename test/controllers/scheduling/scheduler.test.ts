import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../../src/api/core/v1.ts'
import type { PriorityClass } from '../../../src/api/scheduling/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { Filters } from '../../../src/controllers/scheduling/schedule.ts'
import { schedulerController } from '../../../src/controllers/scheduling/scheduler.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory, EVENTS, newsIn } from '../control-plane.ts'
import { keepingFromDeletion } from '../keep-from-deletion.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { StatusError } from '../../../src/api/status.ts'

const PRIORITIES = typedResource<KubeObject & PriorityClass>('scheduling.k8s.io', 'priorityclasses')

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
  await addNode('node-1')
})

async function addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  await clients.resource(NODES).create({
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, labels: { 'kedge.dev/simulated': 'true', ...labels } },
  })
  await plane.settle()
}

const wanting = (name: string, spec: Pod['spec'] = {}, annotations?: Record<string, string>) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default', ...(annotations && { annotations }) },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '5' } } }],
    ...spec,
  },
})

async function create(name: string, spec: Pod['spec'] = {}, annotations?: Record<string, string>): Promise<void> {
  await clients.resource(PODS, 'default').create(wanting(name, spec, annotations))
  await plane.settle()
}

const pod = (name: string) => clients.resource(PODS, 'default').get(name)
const nodeOf = async (name: string) => (await pod(name))?.spec?.nodeName
const reasons = async () =>
  newsIn(await clients.resource({ ...EVENTS }, 'default').list()).map((event) => (event as { reason?: string }).reason)

test('admission has its say in a binding: the pod gets the zone of its node', async () => {
  await addNode('node-2', { 'topology.kubernetes.io/zone': 'a', other: 'b' })
  await create('zoned', { nodeSelector: { other: 'b' } })
  expect(await nodeOf('zoned')).toBe('node-2')
  expect((await pod('zoned'))?.metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'a' })
})

test('a node that says it has more than any number keeps no pod from the others', async () => {
  const status = { capacity: { cpu: '1e4000', memory: '1e4000', pods: '1e4000' } }
  await clients.resource(NODES).create({
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name: 'node-2', labels: { 'kedge.dev/simulated': 'true' } },
    status,
  } as never)
  await plane.settle()
  await create('a')
  await create('endless', { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1e3000' } } }] })
  await create('b')
  expect([await nodeOf('a'), await nodeOf('endless'), await nodeOf('b')]).toEqual([
    'node-2',
    undefined,
    expect.any(String),
  ])
})

test('a pod that this code fails at waits, and others are scheduled', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const begin = Filters.begin.bind(Filters)
  const spy = vi.spyOn(Filters, 'begin').mockImplementation(function* (profile, cycle) {
    if (cycle.pod.metadata.name === 'a-bad') throw new TypeError('no such member')
    return yield* begin(profile, cycle)
  })
  await create('a-bad', { containers: [{ name: 'c', image: 'i' }] })
  await create('b')
  expect([await nodeOf('a-bad'), await nodeOf('b')]).toEqual([undefined, 'node-1'])
  expect((await pod('a-bad'))?.status?.conditions).toEqual([
    expect.objectContaining({
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulerError',
      message: 'no such member',
    }),
  ])
  spy.mockRestore()
  await plane.pass(600_000)
  expect(await nodeOf('a-bad')).toBe('node-1')
})

const ADMISSION = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }
const POLICY_BINDINGS = { ...ADMISSION, resource: 'validatingadmissionpolicybindings' }

/** Refuses bindings for which the expression is false. */
const refuseBindings = (expression: string) => refuseWrites(expression, 'CREATE', 'pods/binding')

async function refuseWrites(expression: string, operation: string, resource: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }
  await plane.create(ADMISSION, {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion,
    metadata: { name: 'closed' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression, message: 'the nodes are closed' }],
    },
  })
  await plane.create(POLICY_BINDINGS, {
    kind: 'ValidatingAdmissionPolicyBinding',
    apiVersion,
    metadata: { name: 'closed' },
    spec: { policyName: 'closed', validationActions: ['Deny'] },
  })
}

test('a pod whose binding is refused says so, and is tried again less and less often until it is let through', async () => {
  await refuseBindings('false')
  await create('waits')
  const message = /^running Bind plugin "DefaultBinder": .*the nodes are closed$/
  expect((await pod('waits'))?.status?.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'SchedulerError', message: expect.stringMatching(message) },
  ])
  // after 1, 2, 4, 8 and then each 10 seconds, however much happens beside
  await create('other', { schedulerName: 'another' })
  const tries = () => plane.tried.filter((work) => work.startsWith('scheduler')).length
  const before = tries()
  for (let second = 0; second < 35; second++) await plane.pass(1_000)
  expect(tries() - before).toBe(6)
  expect(await reasons()).toEqual(['FailedScheduling'])
  // and after some minutes every five minutes
  for (let second = 35; second < 200; second++) await plane.pass(1_000)
  const late = tries()
  for (let minute = 0; minute < 20; minute++) await plane.pass(60_000)
  expect(tries() - late).toBe(4)
  await plane.delete(POLICY_BINDINGS, '', 'closed')
  for (let minute = 0; minute < 5; minute++) await plane.pass(60_000)
  expect(await nodeOf('waits')).toBe('node-1')
})

test.each([404, 409])(
  'a binding that a webhook refuses with %i says so, too, and is not tried again and again',
  async (code) => {
    const refusal = new StatusError(code, undefined, `a webhook says ${code}`)
    const post = vi.spyOn(ResourceClient.prototype, 'post').mockRejectedValue(refusal)
    await create('waits')
    expect(post).toHaveBeenCalledTimes(1)
    expect((await pod('waits'))?.status?.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', message: `running Bind plugin "DefaultBinder": a webhook says ${code}` },
    ])
    post.mockRestore()
    await plane.pass(1_000)
    expect(await nodeOf('waits')).toBe('node-1')
  },
)

describe('a node has as many volumes of a CSI driver as it may', () => {
  const driver = 'disks.example.com'
  const at = (resource: string) => ({ group: resource.startsWith('p') ? '' : 'storage.k8s.io', resource })
  const limit = (count: number) => ({ drivers: [{ name: driver, nodeID: 'n', allocatable: { count } }] })
  const using = (claimName: string) => ({
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  })
  const spec = { accessModes: ['ReadWriteMany'], storageClassName: '' }
  const volume = (name: string, claim: string) => {
    const handle = { csi: { driver, volumeHandle: name }, capacity: { storage: '1Gi' } }
    const whole = { ...spec, ...handle, claimRef: { namespace: 'default', name: claim } }
    return plane.create(at('persistentvolumes'), { kind: 'PersistentVolume', apiVersion: 'v1', metadata: { name }, spec: whole }) // prettier-ignore
  }
  const claim = (name: string, more: object) => {
    const whole = { ...spec, ...more, resources: { requests: { storage: '1Gi' } } }
    return plane.create(at('persistentvolumeclaims'), { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name, namespace: 'default' }, spec: whole }) // prettier-ignore
  }
  const attach = (name: string) => {
    const attachment = { attacher: driver, nodeName: 'node-1', source: { persistentVolumeName: name } }
    return plane.create(at('volumeattachments'), { kind: 'VolumeAttachment', apiVersion: 'storage.k8s.io/v1', metadata: { name }, spec: attachment }) // prettier-ignore
  }
  const message = async (name: string) => (await pod(name))?.status?.conditions?.[0]?.message
  const TOO_MANY = /^0\/1 nodes are available: 1 node\(s\) exceed max volume count\./

  beforeEach(async () => {
    const csiNode = { kind: 'CSINode', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'node-1' }, spec: limit(1) }
    await plane.create(at('csinodes'), csiNode)
    for (const name of ['first', 'second']) {
      await volume(name, name)
      await claim(name, { volumeName: name })
    }
    await plane.settle()
  })

  test('a volume of several pods counts once, until they are gone', async () => {
    await create('a', using('first'))
    await create('same', using('first'))
    await create('b', using('second'))
    expect([await nodeOf('a'), await nodeOf('same'), await nodeOf('b')]).toEqual(['node-1', 'node-1', undefined])
    expect(await message('b')).toMatch(TOO_MANY)
    for (const name of ['a', 'same']) await clients.resource(PODS, 'default').delete(named(name))
    await plane.settle()
    expect(await nodeOf('b')).toBe('node-1')
  })

  test('an attached volume counts once beside the pods that use it, and beside a pod that only wants it, too', async () => {
    await create('a', using('first'))
    await attach('first')
    await create('same', using('first'))
    expect(await nodeOf('same')).toBe('node-1')
    for (const name of ['a', 'same']) await clients.resource(PODS, 'default').delete(named(name))
    await plane.settle()
    await create('again', using('first'))
    expect(await nodeOf('again')).toBeUndefined()
    expect(await message('again')).toMatch(TOO_MANY)
    await plane.delete(at('volumeattachments'), '', 'first')
    await plane.settle()
    expect(await nodeOf('again')).toBe('node-1')
  })

  test('the volume of an earlier claim of the same name does not count', async () => {
    await volume('former', 'first')
    await plane.settle()
    await create('a', using('first'))
    await attach('first')
    await create('same', using('first'))
    expect(await nodeOf('same')).toBe('node-1')
  })

  async function setLimit(name: string, count: number): Promise<void> {
    const drivers = [{ name, nodeID: 'n', allocatable: { count } }]
    const client = await plane.client(at('csinodes'), '')
    await client.updateWithRetries(named('node-1'), (live) => void Object.assign(live, { spec: { drivers } }))
  }

  describe.each<[driver: string, plugin: string, source: (id: string) => object]>([
    ['ebs.csi.aws.com', 'aws-ebs', (volumeID) => ({ awsElasticBlockStore: { volumeID } })],
    ['ebs.csi.aws.com', 'aws-ebs', (id) => ({ awsElasticBlockStore: { volumeID: `aws://zone-1/vol-${id}` } })],
    ['pd.csi.storage.gke.io', 'gce-pd', (pdName) => ({ gcePersistentDisk: { pdName } })],
    ['disk.csi.azure.com', 'azure-disk', (diskName) => ({ azureDisk: { diskName, diskURI: `/subscriptions/${diskName}`, kind: 'Managed' } })], // prettier-ignore
    ['cinder.csi.openstack.org', 'cinder', (volumeID) => ({ cinder: { volumeID } })],
    ['pxd.portworx.com', 'portworx-volume', (volumeID) => ({ portworxVolume: { volumeID } })],
  ])('a volume of a plugin that is a driver now counts for it: %s for %s', (migrated, plugin, source) => {
    const inline = (id: string) => ({
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'data', ...source(id) }],
    })
    beforeEach(() => setLimit(migrated, 1))

    test('in the pod itself', async () => {
      await create('a', inline('1'))
      await create('b', inline('2'))
      expect([await nodeOf('a'), await nodeOf('b')]).toEqual(['node-1', undefined])
      expect(await message('b')).toMatch(TOO_MANY)
      await clients.resource(PODS, 'default').delete(named('a'))
      await plane.settle()
      expect(await nodeOf('b')).toBe('node-1')
    })

    test('in the volume of a claim, and in a claim that waits for one', async () => {
      const claimRef = { namespace: 'default', name: 'third' }
      const former = { ...spec, capacity: { storage: '1Gi' }, ...source('1'), claimRef }
      await plane.create(at('persistentvolumes'), { kind: 'PersistentVolume', apiVersion: 'v1', metadata: { name: 'third' }, spec: former }) // prettier-ignore
      await claim('third', { volumeName: 'third' })
      const mode = { provisioner: `kubernetes.io/${plugin}`, volumeBindingMode: 'WaitForFirstConsumer' }
      await plane.create(at('storageclasses'), { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'late' }, ...mode }) // prettier-ignore
      await claim('fourth', { storageClassName: 'late' })
      await plane.settle()
      await create('a', using('third'))
      for (const [name, wish] of [
        ['b', using('fourth')],
        ['c', inline('2')],
      ] as const) {
        await create(name, wish)
        expect(await message(name)).toMatch(TOO_MANY)
      }
      expect([await nodeOf('a'), await nodeOf('b'), await nodeOf('c')]).toEqual(['node-1', undefined, undefined])
    })
  })

  test('a volume of two pods, and of the claim of a third one, counts once', async () => {
    await setLimit('cinder.csi.openstack.org', 1)
    const former = { ...spec, capacity: { storage: '1Gi' }, cinder: { volumeID: '1' }, claimRef: { namespace: 'default', name: 'third' } } // prettier-ignore
    await plane.create(at('persistentvolumes'), { kind: 'PersistentVolume', apiVersion: 'v1', metadata: { name: 'third' }, spec: former }) // prettier-ignore
    await claim('third', { volumeName: 'third' })
    await plane.settle()
    const volumes = [{ name: 'data', cinder: { volumeID: '1' } }]
    await create('a', { ...using('third'), volumes })
    await create('b', { ...using('third'), volumes })
    await create('c', using('third'))
    expect([await nodeOf('a'), await nodeOf('b'), await nodeOf('c')]).toEqual(['node-1', 'node-1', 'node-1'])
  })

  test.each<[driver: string, source: object]>([
    ['file.csi.azure.com', { azureFile: { secretName: 's', shareName: 'share' } }],
    ['csi.vsphere.vmware.com', { vsphereVolume: { volumePath: 'path' } }],
    ['disk.csi.azure.com', { azureDisk: { diskName: 'd', diskURI: 'https://d', kind: 'Dedicated' } }],
  ])('kube-scheduler does not count for %s %j', async (migrated, source) => {
    await setLimit(migrated, 0)
    await create('a', { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'data', ...source }] })
    expect(await nodeOf('a')).toBe('node-1')
  })

  test('a volume that is being made for a pod counts', async () => {
    const mode = { provisioner: driver, volumeBindingMode: 'WaitForFirstConsumer' }
    await plane.create(at('storageclasses'), { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'late' }, ...mode }) // prettier-ignore
    for (const name of ['a', 'b']) await claim(name, { storageClassName: 'late' })
    for (const name of ['a', 'b']) await create(name, using(name))
    expect((await pod('a'))?.status?.nominatedNodeName).toBe('node-1')
    expect((await pod('b'))?.status?.nominatedNodeName).toBeUndefined()
    expect(await message('b')).toMatch(TOO_MANY)
  })
})

describe('while a provisioner makes the volume of a pod', () => {
  const CLAIMS = typedResource<PersistentVolumeClaim>('', 'persistentvolumeclaims')
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  const nodeOfVolume = async () =>
    (await clients.resource(CLAIMS, 'default').get('data'))?.metadata.annotations?.[
      'volume.kubernetes.io/selected-node'
    ]

  beforeEach(async () => {
    await addNode('node-2')
    const storage = { group: 'storage.k8s.io', resource: 'storageclasses' }
    const mode = { provisioner: 'disks.example.com', volumeBindingMode: 'WaitForFirstConsumer' }
    await plane.create(storage, { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'late' }, ...mode }) // prettier-ignore
    const resources = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'late', resources }
    await plane.create(CLAIMS, { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'data', namespace: 'default' }, spec }) // prettier-ignore
  })

  test('the room on its node is kept for it', async () => {
    await create('first', { volumes })
    expect(await nodeOfVolume()).toBe('node-1')
    expect((await pod('first'))?.status?.nominatedNodeName).toBe('node-1')
    await create('second')
    expect(await nodeOf('second')).toBe('node-2')
  })

  test('a claim that may not be changed is told, and tried again', async () => {
    await refuseWrites('false', 'UPDATE', 'persistentvolumeclaims')
    await create('first', { volumes })
    expect((await pod('first'))?.status?.conditions).toMatchObject([
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'SchedulerError',
        message: expect.stringMatching(/^running PreBind plugin "VolumeBinding": .*the nodes are closed$/) as string,
      },
    ])
    expect(await nodeOfVolume()).toBeUndefined()
    await plane.delete(POLICY_BINDINGS, '', 'closed')
    await plane.pass(10_000)
    expect(await nodeOfVolume()).toBe('node-1')
    expect((await pod('first'))?.status?.nominatedNodeName).toBe('node-1')
  })

  test('the room of a pod whose claim may not be changed is given to one that waits', async () => {
    await refuseWrites('false', 'UPDATE', 'persistentvolumeclaims')
    const names = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [names] } },
    }
    // one run decides on both
    const pods = [wanting('first', { volumes, affinity }), wanting('second', { affinity })]
    await Promise.all(pods.map((one) => clients.resource(PODS, 'default').create(one)))
    await plane.settle()
    expect(await nodeOf('second')).toBe('node-1')
  })

  test('another pod with the same claim takes it to no other node', async () => {
    await Promise.all(
      ['first', 'second'].map((name) => clients.resource(PODS, 'default').create(wanting(name, { volumes }))),
    )
    await plane.settle()
    expect(await nodeOfVolume()).toBe('node-1')
    const nominated = await Promise.all(['first', 'second'].map(pod))
    expect(nominated.map((one) => one?.status?.nominatedNodeName)).toEqual(['node-1', undefined])
    expect(nominated[1]?.status?.conditions?.[0]?.message).toMatch(
      /^0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) didn't find available persistent volumes to bind\./,
    )
  })
})

test('the room of a pod whose binding is refused is given to one that waits', async () => {
  await refuseBindings("object.metadata.name != 'first'")
  // one run decides on both
  await Promise.all(['first', 'second'].map((name) => clients.resource(PODS, 'default').create(wanting(name))))
  await plane.settle()
  expect(await Promise.all(['first', 'second'].map(nodeOf))).toEqual([undefined, 'node-1'])
  // the next try finds no room, and waits for it
  await plane.pass(1_000)
  expect((await pod('first'))?.status?.conditions?.[0]?.message).toMatch(
    /^0\/1 nodes are available: 1 Insufficient cpu\./,
  )
  expect(plane.waiting).toEqual([])
})

test('what fits nowhere says so once, and goes to a node that comes later', async () => {
  await create('first')
  await create('second')
  expect([await nodeOf('first'), await nodeOf('second')]).toEqual(['node-1', undefined])
  expect((await pod('second'))?.status?.conditions).toMatchObject([
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
  ])
  await create('third')
  expect((await reasons()).sort()).toEqual(['FailedScheduling', 'FailedScheduling', 'Scheduled'])
  expect(plane.waiting).toEqual([])
  await addNode('node-2')
  expect([await nodeOf('second'), await nodeOf('third')]).toEqual(['node-2', undefined])
})

test('the room of a pod that goes is given to one that waits', async () => {
  await create('first')
  await create('second')
  await clients.resource(PODS, 'default').delete(named('first'))
  await plane.settle()
  expect(await nodeOf('second')).toBe('node-1')
})

test('the pods of a node that is being deleted are still there', async () => {
  const zone = { 'topology.kubernetes.io/zone': 'a' }
  await addNode('node-2', zone)
  const nodes = clients.resource(NODES)
  await nodes.updateWithRetries(named('node-2'), ({ metadata }) => {
    metadata.finalizers = ['example.com/last']
  })
  const apart = { topologyKey: 'topology.kubernetes.io/zone', labelSelector: {} }
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } }
  await create('first', { affinity, nodeSelector: zone })
  await nodes.delete(named('node-2'))
  await addNode('node-3', zone)
  await create('second', { affinity, nodeSelector: zone })
  expect([await nodeOf('first'), await nodeOf('second')]).toEqual(['node-2', undefined])
})

test('a pod whose preferences cannot be read waits, where it has a choice', async () => {
  const preference = { matchExpressions: [{ key: 'rank', operator: 'Gt', values: ['high'] }] }
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] } }
  await create('first', { affinity, containers: [{ name: 'c', image: 'i' }] })
  await addNode('node-2')
  await create('second', { affinity, containers: [{ name: 'c', image: 'i' }] })
  expect([await nodeOf('first'), await nodeOf('second')]).toEqual(['node-1', undefined])
  const [condition] = (await pod('second'))?.status?.conditions ?? []
  expect(`${condition?.reason}: ${condition?.message}`).toBe(
    `SchedulerError: running PreScore plugin "NodeAffinity": [0].matchExpressions[0].values[0]: Invalid value: "high": for 'Gt', 'Lt' operators, the value must be an integer`,
  )
  await clients.resource(NODES).delete(named('node-2'))
  await plane.pass(10_000)
  expect(await nodeOf('second')).toBe('node-1')
})

test('gated pods, and those of other schedulers, are left alone', async () => {
  await create('gated', { schedulingGates: [{ name: 'wait' }] })
  await create('other', { schedulerName: 'other' })
  expect([await nodeOf('gated'), await nodeOf('other')]).toEqual([undefined, undefined])
})

describe('a pod of higher priority', () => {
  const events = async () =>
    newsIn(await clients.resource({ ...EVENTS }, 'default').list()).map(
      (event) => event as unknown as { reason: string; action: string; message: string; related?: { name: string } },
    )

  test('gets the place of a less important one, once that is gone', async () => {
    await clients
      .resource(PRIORITIES)
      .create({ kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name: 'high' }, value: 1000 })
    await create('low')
    await create('high', { priorityClassName: 'high' })
    expect(await pod('low')).toBeUndefined()
    expect(await nodeOf('high')).toBe('node-1')
    const told = await events()
    expect(told.map(({ reason }) => reason).sort()).toEqual(['FailedScheduling', 'Preempted', 'Scheduled', 'Scheduled'])
    expect(told.find(({ reason }) => reason === 'FailedScheduling')?.message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu.',
    )
    expect(told.find(({ reason }) => reason === 'Preempted')).toMatchObject({
      action: 'Preempting',
      message: expect.stringMatching(/^Preempted by pod [0-9a-f-]{36} on node node-1$/) as string,
      related: { name: 'high' },
    })
    expect(plane.waiting).toEqual([])
  })

  test('waits on its nominated node while the victim takes its time', async () => {
    await clients
      .resource(PRIORITIES)
      .create({ kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name: 'high' }, value: 1000 })
    await create('low', {}, { 'kedge.dev/stop-delay': '20' })
    await create('high', { priorityClassName: 'high' })
    const [victim, waiting] = [await pod('low'), await pod('high')]
    expect(victim?.metadata.deletionTimestamp).toBeDefined()
    expect(victim?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: 'default-scheduler: preempting to accommodate a higher priority pod',
      }),
    )
    expect(waiting?.status?.nominatedNodeName).toBe('node-1')
    expect(waiting?.spec?.nodeName).toBeUndefined()
    await plane.pass(20_000)
    expect(await nodeOf('high')).toBe('node-1')
    expect((await pod('high'))?.status?.nominatedNodeName).toBeUndefined()
  })

  test('tries again to make room where the victim may not be deleted, and tells of no preemption', async () => {
    await clients
      .resource(PRIORITIES)
      .create({ kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', metadata: { name: 'high' }, value: 1000 })
    await create('low')
    const kept = keepingFromDeletion(plane)
    await kept.keep(PODS, 'false')
    await create('high', { priorityClassName: 'high' })
    expect((await pod('high'))?.status?.nominatedNodeName).toBe('node-1')
    await kept.letGo()
    expect(await reasons()).not.toContain('Preempted')
    await plane.pass(10_000)
    expect(await nodeOf('high')).toBe('node-1')
    expect(await reasons()).toContain('Preempted')
  })

  test('may not want the place of others', async () => {
    await create('low')
    await clients.resource(PRIORITIES).create({
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { name: 'meek' },
      value: 1000,
      preemptionPolicy: 'Never',
    })
    await create('meek', { priorityClassName: 'meek' })
    expect(await nodeOf('low')).toBe('node-1')
    expect((await pod('meek'))?.status?.conditions?.[0]?.message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    )
  })
})

test('a pod without its gates is scheduled', async () => {
  await create('gated', { schedulingGates: [{ name: 'wait' }] })
  await clients
    .resource(PODS, 'default')
    .updateWithRetries(named('gated'), (live) => void delete live.spec?.schedulingGates)
  await plane.settle()
  expect(await nodeOf('gated')).toBe('node-1')
})

test('a pod that wants others of namespaces with a label goes to them when a namespace gets it', async () => {
  const namespaces = { group: '', resource: 'namespaces' }
  await plane.create(namespaces, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop' } })
  await plane.settle()
  const small = { containers: [{ name: 'c', image: 'i' }] }
  await clients.resource(PODS, 'shop').create({
    ...wanting('other', small),
    metadata: { name: 'other', namespace: 'shop', labels: { app: 'other' } },
  })
  const term = {
    topologyKey: 'kedge.dev/simulated',
    labelSelector: { matchLabels: { app: 'other' } },
    namespaceSelector: { matchLabels: { team: 'a' } },
  }
  await create('beside', {
    ...small,
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  })
  expect(await nodeOf('beside')).toBeUndefined()
  const client = await plane.client(namespaces, '')
  await client.updateWithRetries(named('shop'), ({ metadata }) => void (metadata.labels = { team: 'a' }))
  await plane.settle()
  expect(await nodeOf('beside')).toBe('node-1')
  expect(plane.waiting).toEqual([])
})

test('what cannot help a pod is no reason to try it again', async () => {
  await create('first')
  await create('second')
  const before = (await pod('second'))?.metadata.resourceVersion
  await create('small', { containers: [{ name: 'c', image: 'i' }] })
  expect((await pod('second'))?.metadata.resourceVersion).toBe(before)
  expect(plane.waiting).toEqual([])
})

test('a run that takes long leaves pods to the next', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `waiting-${at}`)
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '1m' } } }
  for (const name of names) await clients.resource(PODS, 'default').create(wanting(name, { containers: [container] }))
  const { context } = plane
  let time = plane.now.getTime()
  vi.spyOn(plane, 'context').mockImplementation(async (controller) => ({
    ...(await context.call(plane, controller)),
    now: () => new Date((time += 500)),
  }))
  const run = async () => schedulerController.reconcile('', await plane.context('scheduler'))
  const bound = async () => (await Promise.all(names.map(nodeOf))).filter((node) => node !== undefined).length
  expect(await run()).toBe(0)
  const first = await bound()
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(names.length)
  while ((await run()) === 0);
  expect(await bound()).toBe(names.length)
})
