// Writes of the scheduler that the API refuses. A webhook may refuse them with any code.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { PersistentVolumeClaim, Pod, PodSpec } from '../../../src/api/core/v1.ts'
import type { PriorityClass } from '../../../src/api/scheduling/v1.ts'
import { StatusError } from '../../../src/api/status.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { typedResource } from '../../../src/controllers/client/clientset.ts'
import { named, ResourceClient } from '../../../src/controllers/client/resource-client.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { RESOURCE_CLAIMS } from '../../../src/controllers/workloads/resource-claim/templates.ts'
import { StorageError } from '../../../src/storage/errors.ts'
import type { StorageErrorCode } from '../../../src/storage/errors.ts'
import { statusFor } from '../../../src/storage/storage-status.ts'
import type { ControlPlaneInMemory } from '../control-plane.ts'
import { EVENTS, newsIn } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'
import { DeviceCluster } from './devices/device-cluster.ts'

const PRIORITIES = typedResource<KubeObject & PriorityClass>('scheduling.k8s.io', 'priorityclasses')
const CLAIMS = typedResource<KubeObject & PersistentVolumeClaim>('', 'persistentvolumeclaims')
const CODES = [403, 404, 409, 500, 503, 504, 599]

let cluster: DeviceCluster
let plane: ControlPlaneInMemory
let clients: Clientset
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  cluster = await DeviceCluster.start()
  ;({ plane, clients } = cluster)
  await clients.resource(PRIORITIES).create({
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    metadata: { name: 'high' },
    value: 1000,
  })
})
afterEach(() => vi.restoreAllMocks())

type Write = 'add' | 'delete' | 'post' | 'updateWithRetries'

const refusal = (code: number) => new StatusError(code, undefined, `a webhook says ${code}`)

/** Every write of this form to the object fails. */
function refuse(write: Write, name: string, error: Error) {
  const proper = ResourceClient.prototype[write] as (...args: unknown[]) => Promise<unknown>
  let times = 0
  const spy = vi.spyOn(ResourceClient.prototype as unknown as Record<Write, typeof proper>, write)
  spy.mockImplementation(function (this: ResourceClient, ...args) {
    const [target] = args as [string | { metadata?: { name?: string } }]
    const of = typeof target === 'string' ? target : (target.metadata?.name ?? '')
    if (of !== name && !(write === 'add' && of.startsWith(`${name}.`))) return proper.apply(this, args)
    times++
    return Promise.reject(error)
  })
  return { times: () => times, allow: () => spy.mockRestore() }
}

const pods = () => clients.resource(PODS, 'default')
const pod = (name: string) => pods().get(name)
const nodeOf = async (name: string) => (await pod(name))?.spec?.nodeName
const conditionOf = async (name: string) => {
  const found = (await pod(name))?.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return found && `${found.reason}: ${found.message}`
}
const asking = (cpu: string, more: PodSpec = {}): PodSpec => ({
  containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }],
  ...more,
})
/** When it is deleted it ends after twenty seconds. */
const takesTime = ({ metadata }: Pod): void => void (metadata.annotations = { 'kedge.dev/stop-delay': '20s' })
/** One run of the scheduler decides on all of them. */
async function create(all: Readonly<Record<string, PodSpec>>): Promise<void> {
  await Promise.all(Object.entries(all).map(([name, spec]) => pods().create(plainPod(name, spec))))
  await plane.settle()
}
const runs = () => plane.tried.filter((work) => work === 'scheduler').length
const names = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }
const onNode1: PodSpec = {
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [names] } } },
}

describe.each(CODES)('with %i', (code) => {
  test('a binding: the others are bound, and it is tried again after a pause', async () => {
    const refused = refuse('post', 'first', refusal(code))
    await create({ first: {}, second: {} })
    expect(await nodeOf('second')).toBeDefined()
    expect(await conditionOf('first')).toBe(
      `SchedulerError: running Bind plugin "DefaultBinder": a webhook says ${code}`,
    )
    expect(refused.times()).toBe(1)
    refused.allow()
    await plane.pass(1_000)
    expect(await nodeOf('first')).toBeDefined()
  })

  test('a binding and what is said of it, too', async () => {
    const refused = [refuse('post', 'first', refusal(code)), refuse('updateWithRetries', 'first', refusal(code))]
    await create({ first: {}, second: {} })
    expect(await nodeOf('second')).toBeDefined()
    expect(refused.map(({ times }) => times())).toEqual([1, 1])
    for (const { allow } of refused.reverse()) allow()
    await plane.pass(1_000)
    expect(await nodeOf('first')).toBeDefined()
  })

  test('the condition of a pod that fits nowhere: it is told later, with pauses', async () => {
    const refused = refuse('updateWithRetries', 'first', refusal(code))
    await create({ first: asking('50'), second: {} })
    expect(await nodeOf('second')).toBeDefined()
    const before = runs()
    for (let second = 0; second < 35; second++) await plane.pass(1_000)
    expect(refused.times()).toBeGreaterThan(2)
    expect(runs() - before).toBeLessThan(8)
    refused.allow()
    await plane.pass(10_000)
    expect(await conditionOf('first')).toMatch(/^Unschedulable: 0\/2 nodes are available: 2 Insufficient cpu\./)
    expect(plane.waiting.filter((work) => work.startsWith('scheduler'))).toEqual([])
  })

  test('an eviction: the others are bound, and it is tried again after a pause', async () => {
    await create({ low: asking('5', onNode1) })
    const refused = refuse('delete', 'low', refusal(code))
    await create({ high: asking('5', { ...onNode1, priorityClassName: 'high' }), small: {} })
    expect([await nodeOf('low'), await nodeOf('high')]).toEqual(['node-1', undefined])
    expect(await nodeOf('small')).toBeDefined()
    expect(refused.times()).toBe(1)
    const [before, status] = [runs(), refuse('updateWithRetries', 'high', refusal(code))]
    for (let second = 0; second < 35; second++) await plane.pass(1_000)
    expect(refused.times()).toBeGreaterThan(2)
    expect(runs() - before).toBeLessThan(8)
    status.allow()
    refused.allow()
    await plane.pass(10_000)
    expect([await pod('low'), await nodeOf('high')]).toEqual([undefined, 'node-1'])
  })

  test('the nominated node: it is kept for the pod, and told later', async () => {
    await create({ low: asking('5', onNode1), tiny: asking('1', onNode1) })
    await pods().updateWithRetries(named('low'), takesTime)
    await create({ high: asking('5', { ...onNode1, priorityClassName: 'high' }) })
    await pods().delete(named('tiny'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await conditionOf('high')).toContain('not eligible due to a terminating pod on the nominated node')
    // the condition is known, and the place is not
    await pods().updateStatusWithRetries(named('high'), ({ status }) => void delete status?.nominatedNodeName)
    const refused = refuse('updateWithRetries', 'high', refusal(code))
    await create({ small: asking('5', onNode1) })
    expect(refused.times()).toBe(1)
    expect((await pod('high'))?.status?.nominatedNodeName).toBeUndefined()
    refused.allow()
    await plane.pass(10_000)
    expect((await pod('high'))?.status?.nominatedNodeName).toBe('node-1')
  })

  test('the end of the nomination of a less important pod: the more important one goes on', async () => {
    await create({ low: asking('5', onNode1) })
    await pods().updateWithRetries(named('low'), takesTime)
    await clients.resource(PRIORITIES).create({
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { name: 'higher' },
      value: 2000,
    })
    await create({ high: asking('5', { ...onNode1, priorityClassName: 'high' }) })
    expect((await pod('high'))?.status?.nominatedNodeName).toBe('node-1')
    const refused = refuse('updateWithRetries', 'high', refusal(code))
    await create({ higher: asking('5', { ...onNode1, priorityClassName: 'higher' }), small: {} })
    expect(refused.times()).toBeGreaterThan(0)
    expect(await nodeOf('small')).toBeDefined()
    refused.allow()
    await plane.pass(30_000)
    expect(await nodeOf('higher')).toBe('node-1')
  })

  test('an Event: its pod is bound all the same', async () => {
    const refused = refuse('add', 'first', refusal(code))
    await create({ first: {}, second: {} })
    expect([await nodeOf('first'), await nodeOf('second')]).not.toContain(undefined)
    expect(refused.times()).toBeGreaterThan(0)
    refused.allow()
    expect(newsIn(await (await plane.client(EVENTS, 'default')).list())).toMatchObject([
      { involvedObject: { name: 'second' } },
    ])
  })

  test('the node for which a volume is made', async () => {
    const mode = { provisioner: 'disks.example.com', volumeBindingMode: 'WaitForFirstConsumer' }
    const late = { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', metadata: { name: 'late' }, ...mode }
    await plane.create({ group: 'storage.k8s.io', resource: 'storageclasses' }, late)
    await clients.resource(CLAIMS, 'default').create({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'data', namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'late',
        resources: { requests: { storage: '1Gi' } },
      },
    })
    await plane.settle()
    const refused = refuse('updateWithRetries', 'data', refusal(code))
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await create({ first: { volumes }, second: {} })
    expect(await nodeOf('second')).toBeDefined()
    expect(await conditionOf('first')).toBe(
      `SchedulerError: running PreBind plugin "VolumeBinding": a webhook says ${code}`,
    )
    refused.allow()
    await plane.pass(10_000)
    const claim = await clients.resource(CLAIMS, 'default').get('data')
    expect(claim?.metadata.annotations).toHaveProperty(['volume.kubernetes.io/selected-node'])
  })

  describe('a claim of devices', () => {
    const claims = () => clients.resource(RESOURCE_CLAIMS, 'default')
    const results = (pool: string) => [{ request: 'gpu', driver: 'gpu.example', pool, device: 'gpu-0' }]

    beforeEach(async () => {
      await cluster.addClass()
      await cluster.addDevices('node-2', 'gpu-0')
      await claims().create({
        kind: 'ResourceClaim',
        apiVersion: 'resource.k8s.io/v1',
        metadata: { name: 'one', namespace: 'default' },
        spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] } },
      })
      await plane.settle()
    })
    const web = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }] }

    test('that is to be reserved', async () => {
      const refused = refuse('updateWithRetries', 'one', refusal(code))
      await create({ web, second: {} })
      expect(await nodeOf('second')).toBeDefined()
      expect(await conditionOf('web')).toBe(
        `SchedulerError: running PreBind plugin "DynamicResources": a webhook says ${code}`,
      )
      refused.allow()
      await plane.pass(1_000)
      expect(await nodeOf('web')).toBe('node-2')
    })

    test('that is to be given up, because its devices are where the pod cannot go', async () => {
      const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-3'] }] }]
      await claims().updateStatusWithRetries(named('one'), (claim) => {
        claim.status = { allocation: { devices: { results: results('node-3') }, nodeSelector: { nodeSelectorTerms } } }
      })
      const refused = refuse('updateWithRetries', 'one', refusal(code))
      await create({ web, second: {} })
      expect(await nodeOf('second')).toBeDefined()
      expect(refused.times()).toBe(1)
      refused.allow()
      await plane.pass(1_000)
      expect(await nodeOf('web')).toBe('node-2')
    })
  })
})

test.each<StorageErrorCode>(['Unavailable', 'Uncertain', 'Failed', 'Full'])(
  'a binding for which storage is %s ends the run, which reads everything again',
  async (code) => {
    const fault = statusFor(new StorageError(code), { group: '', resource: 'pods' }, 'first')
    const refused = refuse('post', 'first', fault)
    await expect(create({ first: {}, second: {} })).rejects.toBe(fault)
    expect(await conditionOf('first')).toBeUndefined()
    refused.allow()
    await plane.pass(1_000)
    expect([await nodeOf('first'), await nodeOf('second')]).not.toContain(undefined)
  },
)

test('a pod that went meanwhile is not waited for', async () => {
  const proper = ResourceClient.prototype.updateStatusWithRetries
  vi.spyOn(ResourceClient.prototype, 'updateStatusWithRetries').mockImplementationOnce(async function (
    this: ResourceClient,
    target,
    change,
  ) {
    await pods().delete(named('first'), { gracePeriodSeconds: 0 })
    return proper.call(this, target, change)
  })
  await create({ first: asking('50') })
  expect(await pod('first')).toBeUndefined()
  expect(plane.waiting.filter((work) => work.startsWith('scheduler'))).toEqual([])
})
