import { describe, expect, test } from 'vitest'
import type { Event } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { DeviceTaint, DeviceToleration, ResourceSliceSpec } from '../../../src/api/resource/v1.ts'
import type { Rule } from '../../../src/controllers/device-taints/device-taints.ts'
import { RULES } from '../../../src/controllers/device-taints/device-taints.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../src/controllers/workloads/resource-claim/templates.ts'
import { EVENTS } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'
import { DeviceCluster, SLICES } from '../scheduling/devices/device-cluster.ts'

const BROKEN: DeviceTaint = { key: 'example.com/broken', effect: 'NoExecute' }
const WITH_RULES = {
  KEDGE_FEATURE_GATES: 'DRADeviceTaintRules=true',
  KEDGE_RUNTIME_CONFIG: 'resource.k8s.io/v1beta2=true',
}

let cluster: DeviceCluster

/** The node `node-1` has the devices `gpu-0` and `gpu-1`. */
async function start(settings: Parameters<typeof DeviceCluster.start>[0] = {}): Promise<void> {
  cluster = await DeviceCluster.start(settings)
  await cluster.addClass()
  await cluster.addDevices('node-1', 'gpu-0', 'gpu-1')
}

const pods = () => cluster.clients.resource(PODS, 'default')
const claims = () => cluster.clients.resource(RESOURCE_CLAIMS, 'default')

async function claim(name: string, tolerations: DeviceToleration[] = []): Promise<void> {
  const exactly = { deviceClassName: 'gpus', tolerations }
  await claims().create({
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name, namespace: 'default' },
    spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
  })
  await cluster.plane.settle()
}

const user = (name: string) => plainPod(name, { resourceClaims: [{ name: 'gpu', resourceClaimName: name }] })

/** A running pod with a device of its own. */
async function pod(name: string, tolerations: DeviceToleration[] = [], finalizers: string[] = []): Promise<void> {
  await claim(name, tolerations)
  const { metadata, ...rest } = user(name)
  await pods().create({ ...rest, metadata: { ...metadata, finalizers } })
  await cluster.plane.settle()
}

async function setSlice(change: (spec: ResourceSliceSpec) => void): Promise<void> {
  await cluster.clients.resource(SLICES).updateWithRetries(named('node-1'), ({ spec = {} }) => change(spec))
  await cluster.plane.settle()
}

const taint = (...taints: DeviceTaint[]) =>
  setSlice(({ devices = [] }) => devices.forEach((device) => (device.taints = taints)))

const tolerating = (tolerationSeconds?: number): DeviceToleration[] => [
  {
    key: BROKEN.key!,
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
  },
]
const names = () => cluster.plane.names(PODS, 'default')
const told = async (): Promise<Event[]> =>
  (await (await cluster.plane.client(EVENTS, 'default')).list())
    .map((event) => event as KubeObject & Event)
    .filter(({ reason }) => reason === 'DeviceTaintManagerEviction')

test('a pod leaves a tainted device, and its claim is deallocated', async () => {
  await start()
  await pod('web', [], ['example.com/held'])
  await taint(BROKEN)
  const web = await pods().get('web')
  expect(web?.metadata.deletionTimestamp).toBeDefined()
  expect(web?.status?.conditions).toContainEqual({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByDeviceTaintManager',
    message: 'Device Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  expect(await told()).toMatchObject([
    {
      type: 'Normal',
      message: 'Marking for deletion',
      count: 1,
      source: { component: 'device-taint-eviction-controller' },
      involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name: 'web', uid: web?.metadata.uid },
    },
  ])
  expect((await told()).map(({ involvedObject }) => involvedObject?.resourceVersion)).toEqual([undefined])
  await pods().updateWithRetries(named('web'), ({ metadata }) => void (metadata.finalizers = []))
  await cluster.plane.pass(60_000)
  expect(await names()).toEqual([])
  expect((await claims().get('web'))?.status?.allocation).toBeUndefined()
  expect(cluster.plane.waiting).toEqual([])
})

test('the time of a toleration counts from when the taint was added', async () => {
  await start()
  await pod('later', [...tolerating(600), ...tolerating(90)])
  await pod('ever', tolerating())
  await taint({ ...BROKEN, timeAdded: '2025-12-31T23:59:40Z' })
  await cluster.plane.pass(69_000)
  expect(await names()).toEqual(['ever', 'later'])
  await cluster.plane.pass(1_000)
  expect(await names()).toEqual(['ever'])
})

test.each([
  ['of every effect', [{ key: 'example.com/broken', operator: 'Exists' }]],
  ['of another effect', [{ key: 'example.com/broken', operator: 'Exists', effect: 'NoSchedule' }]],
  ['of another key', [{ key: 'example.com/other', operator: 'Exists', effect: 'NoExecute' }]],
  ['for a negative time', tolerating(-1)],
])('a toleration %s keeps no pod', async (_, tolerations) => {
  await start()
  await pod('web', tolerations)
  await taint(BROKEN)
  expect(await names()).toEqual([])
})

test('a taint that goes takes the eviction back', async () => {
  await start()
  await pod('web', tolerating(60))
  await taint(BROKEN)
  await cluster.plane.pass(50_000)
  await taint()
  expect((await told()).map(({ message }) => message)).toEqual(['Cancelling deletion'])
  await cluster.plane.pass(600_000)
  expect([await names(), cluster.plane.sightings.get('device-eviction/default/web')]).toEqual([['web'], undefined])
  expect(cluster.plane.waiting).toEqual([])
})

test('a pod that goes by itself leaves nothing behind', async () => {
  await start()
  await pod('web', tolerating(60))
  await taint(BROKEN)
  expect(cluster.plane.sightings.get('device-eviction/default/web')).toBeDefined()
  await pods().delete(named('web'), { gracePeriodSeconds: 0 })
  await cluster.plane.settle()
  expect(cluster.plane.sightings.get('device-eviction/default/web')).toBeUndefined()
  expect(await told()).toEqual([])
})

test.each(['NoSchedule', 'None'])('a taint of the effect %s evicts nobody', async (effect) => {
  await start()
  await pod('web')
  await taint({ ...BROKEN, effect })
  expect([await names(), cluster.plane.waiting]).toEqual([['web'], []])
})

test('pods of other devices stay', async () => {
  await start()
  await pod('a')
  await pod('b')
  const [first] = (await claims().get('a'))?.status?.allocation?.devices?.results ?? []
  await setSlice(({ devices = [] }) => {
    for (const device of devices) if (device.name === first?.device) device.taints = [BROKEN]
  })
  expect(await names()).toEqual(['b'])
})

describe('generations of a pool', () => {
  const addSlice = async (name: string, generation: number, taints: DeviceTaint[]) => {
    await cluster.clients.resource(SLICES).create({
      kind: 'ResourceSlice',
      apiVersion: 'resource.k8s.io/v1',
      metadata: { name },
      spec: {
        driver: 'gpu.example',
        nodeName: 'node-1',
        pool: { name: 'node-1', generation, resourceSliceCount: 1 },
        devices: [
          { name: 'gpu-0', taints },
          { name: 'gpu-1', taints },
        ],
      },
    })
    await cluster.plane.settle()
  }

  test('a newer one without taints takes the eviction back, and its end brings it again', async () => {
    await start()
    await pod('web', tolerating(60))
    await taint(BROKEN)
    await addSlice('newer', 2, [])
    expect((await told()).map(({ message }) => message)).toEqual(['Cancelling deletion'])
    await cluster.clients.resource(SLICES).delete(named('newer'))
    await cluster.plane.pass(60_000)
    expect(await names()).toEqual([])
  })

  test('taints of an older one do not count', async () => {
    await start()
    await pod('web')
    await setSlice(({ pool = {} }) => void (pool.generation = 5))
    await addSlice('older', 4, [BROKEN])
    expect(await names()).toEqual(['web'])
  })
})

test('a pod that was bound by hand is evicted from a claim that is allocated later', async () => {
  await start()
  await claim('web', tolerating(60))
  const { spec, ...rest } = user('web')
  await pods().create({ ...rest, spec: { ...spec!, nodeName: 'node-1' } })
  await taint(BROKEN)
  const device = { request: 'gpu', driver: 'gpu.example', pool: 'node-1', device: 'gpu-0' }
  const allocation = { devices: { results: [{ ...device, tolerations: tolerating(60) }] } }
  await claims().updateStatusWithRetries(named('web'), (one) => void (one.status = { allocation }))
  await cluster.plane.settle()
  expect(await names()).toEqual(['web'])
  await cluster.plane.pass(60_000)
  expect(await names()).toEqual([])
})

test('a pod stays while the feature is off', async () => {
  await start({ KEDGE_FEATURE_GATES: 'DRADeviceTaints=false' })
  await pod('web')
  await taint(BROKEN)
  expect(await names()).toEqual(['web'])
})

describe('DeviceTaintRules', () => {
  async function rule(spec: Rule['spec']): Promise<void> {
    const kind = { kind: 'DeviceTaintRule', apiVersion: 'resource.k8s.io/v1beta2' }
    await cluster.clients.resource(RULES).create({ ...kind, metadata: { name: 'bad' }, spec: spec! })
    await cluster.plane.settle()
  }
  const condition = async () => {
    const [one] = (await cluster.clients.resource(RULES).get('bad'))?.status?.conditions ?? []
    return one && `${one.type}=${one.status} ${one.reason}: ${one.message}`
  }

  test('a rule evicts the pods of the devices that it selects, and says so', async () => {
    await start(WITH_RULES)
    await pod('later', tolerating(60))
    await pod('ever', tolerating())
    await rule({ deviceSelector: { driver: 'gpu.example' }, taint: BROKEN })
    expect(await condition()).toBe(
      'EvictionInProgress=True PodsPendingEviction: 1 pod needs to be evicted in 1 namespace.',
    )
    await cluster.plane.pass(60_000)
    expect(await names()).toEqual(['ever'])
    await cluster.plane.pass(10_000)
    expect(await condition()).toBe('EvictionInProgress=False Completed: 1 pod evicted since starting the controller.')
    expect((await cluster.clients.resource(RULES).get('bad'))?.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'device-taint-eviction-controller',
        operation: 'Apply',
        subresource: 'status',
      }),
    )
    await cluster.plane.pass(60_000)
    expect(cluster.plane.waiting).toEqual([])
    await cluster.clients.resource(RULES).delete(named('bad'))
    await cluster.plane.settle()
    expect(cluster.plane.sightings.get('device-taint-rule/bad')).toBeUndefined()
  })

  test('a rule that goes takes the eviction back', async () => {
    await start(WITH_RULES)
    await pod('web', tolerating(60))
    await rule({ deviceSelector: { device: 'gpu-0' }, taint: BROKEN })
    await cluster.clients.resource(RULES).delete(named('bad'))
    await cluster.plane.pass(600_000)
    expect((await told()).map(({ message }) => message)).toEqual(['Cancelling deletion'])
    expect([await names(), cluster.plane.waiting]).toEqual([['web'], []])
  })

  test('a rule without an effect says what it would do', async () => {
    await start(WITH_RULES)
    await pod('web')
    await rule({ deviceSelector: { pool: 'node-1' }, taint: { ...BROKEN, effect: 'None' } })
    expect(await condition()).toBe(
      'EvictionInProgress=False NoEffect: 2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
    )
    expect(await names()).toEqual(['web'])
  })

  test('a rule that keeps pods away evicts none, and the scheduler heeds it until it goes', async () => {
    await start(WITH_RULES)
    await pod('old')
    await rule({ taint: { ...BROKEN, effect: 'NoSchedule' } })
    expect(await condition()).toBe(
      'EvictionInProgress=False OtherEffect: Eviction only happens for the NoExecute effect.',
    )
    await pod('new')
    expect((await pods().get('new'))?.spec?.nodeName).toBeUndefined()
    await cluster.clients.resource(RULES).delete(named('bad'))
    await cluster.plane.settle()
    expect((await pods().get('new'))?.spec?.nodeName).toBe('node-1')
    expect(await names()).toEqual(['new', 'old'])
  })

  test('a rule does nothing while the feature is off', async () => {
    await start({ KEDGE_RUNTIME_CONFIG: WITH_RULES.KEDGE_RUNTIME_CONFIG })
    await pod('web')
    await rule({ deviceSelector: { driver: 'gpu.example' }, taint: BROKEN })
    expect([await names(), await condition()]).toEqual([['web'], undefined])
  })
})
