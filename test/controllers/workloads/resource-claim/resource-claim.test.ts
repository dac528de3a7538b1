import { beforeEach, describe, expect, test } from 'vitest'
import type { Pod } from '../../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import type { ResourceClaimTemplate } from '../../../../src/api/resource/v1.ts'
import { clientsetFor, typedResource } from '../../../../src/controllers/client/clientset.ts'
import type { Clientset } from '../../../../src/controllers/client/clientset.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { generateName, RESOURCE_CLAIMS } from '../../../../src/controllers/workloads/resource-claim/templates.ts'
import { ControlPlaneInMemory, EVENTS } from '../../control-plane.ts'
import { plainPod } from '../../plain-pod.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const TEMPLATES = typedResource<ResourceClaimTemplate & KubeObject>('resource.k8s.io', 'resourceclaimtemplates')
const FINALIZER = 'resource.kubernetes.io/delete-protection'
const devices = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] }
const allocation = { devices: { results: [{ request: 'gpu', driver: 'd.example', pool: 'p', device: 'gpu-0' }] } }

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'controllers' })
  clients = clientsetFor(await plane.context(), 'somebody')
})

const claims = () => clients.resource(RESOURCE_CLAIMS, 'default')
const pods = () => clients.resource(PODS, 'default')

async function addTemplate(): Promise<void> {
  await clients.resource(TEMPLATES, 'default').create({
    kind: 'ResourceClaimTemplate',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name: 'one-gpu', namespace: 'default' },
    spec: { metadata: { labels: { app: 'x' }, annotations: { note: 'y' } }, spec: { devices } },
  })
  await plane.settle()
}

async function addPod(name: string, spec: Pod['spec']): Promise<Pod> {
  const pod = await pods().create(plainPod(name, spec))
  await plane.settle()
  return pod
}

const FROM_TEMPLATE = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }] }
const SHARED = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] }

async function addClaim(name: string): Promise<void> {
  await claims().create({
    kind: 'ResourceClaim',
    apiVersion: 'resource.k8s.io/v1',
    metadata: { name, namespace: 'default' },
    spec: { devices },
  })
  await plane.settle()
}

/** As a scheduler does it. */
async function allocate(name: string, ...reserved: readonly Pod[]): Promise<void> {
  await claims().updateWithRetries(named(name), ({ metadata }) => void (metadata.finalizers = [FINALIZER]))
  const reservedFor = reserved.map(({ metadata }) => ({
    resource: 'pods',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
  }))
  await claims().updateStatusWithRetries(named(name), (claim) => void (claim.status = { allocation, reservedFor }))
  await plane.settle()
}

const consumersOf = async (name: string) =>
  (await claims().get(name))?.status?.reservedFor?.map(({ name }) => name) ?? []

async function end(name: string): Promise<void> {
  await pods().updateStatusWithRetries(named(name), (pod) => void (pod.status = { ...pod.status, phase: 'Succeeded' }))
  await plane.settle()
}

describe('claims from templates', () => {
  test('a pod gets a claim of its own, and its name in the status', async () => {
    await addTemplate()
    const { metadata } = await addPod('web', FROM_TEMPLATE)
    const [claim] = await claims().list()
    expect(claim).toMatchObject({
      metadata: {
        generateName: 'web-gpu-',
        labels: { app: 'x' },
        annotations: { note: 'y', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: metadata.uid, controller: true }],
      },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { count: 1, allocationMode: 'ExactCount' } }] } },
    })
    expect((await pods().get('web'))?.status?.resourceClaimStatuses).toEqual([
      { name: 'gpu', resourceClaimName: claim?.metadata.name },
    ])
  })

  test('a pod whose template is missing says so, and gets its claim when the template comes', async () => {
    await addPod('web', FROM_TEMPLATE)
    expect(await clients.resource({ ...EVENTS }, 'default').list()).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedResourceClaimCreation',
        message:
          'PodResourceClaim gpu: resource claim template "one-gpu": resourceclaimtemplate.resource.k8s.io "one-gpu" not found',
        source: { component: 'resource_claim' },
      },
    ])
    expect(plane.waiting).toEqual([])
    await addTemplate()
    expect(await claims().list()).toHaveLength(1)
  })

  test('a claim that was made before the status could be written is used, and no second one is made', async () => {
    await addTemplate()
    await addPod('web', FROM_TEMPLATE)
    const [before] = await claims().list()
    await pods().updateStatusWithRetries(named('web'), ({ status }) => void delete status?.resourceClaimStatuses)
    await plane.settle()
    expect((await pods().get('web'))?.status?.resourceClaimStatuses).toEqual([
      { name: 'gpu', resourceClaimName: before?.metadata.name },
    ])
    expect(await claims().list()).toHaveLength(1)
  })

  test('a claim that somebody deletes is made again, beside those that are there', async () => {
    await addTemplate()
    const two = ['a', 'b'].map((name) => ({ name, resourceClaimTemplateName: 'one-gpu' }))
    await addPod('web', { resourceClaims: two })
    const names = async () => (await pods().get('web'))?.status?.resourceClaimStatuses
    const [a, b] = (await names()) ?? []
    await claims().delete(named(a?.resourceClaimName ?? ''))
    await plane.settle()
    const after = await names()
    expect(after?.find(({ name }) => name === 'b')).toEqual(b)
    expect(after?.find(({ name }) => name === 'a')?.resourceClaimName).not.toBe(a?.resourceClaimName)
    expect(await claims().list()).toHaveLength(2)
  })

  test.each([
    ['web', 'gpu', 'web-gpu-'],
    ['p'.repeat(52), 'gpu', `${'p'.repeat(52)}-gpu-`],
    ['p'.repeat(60), 'c'.repeat(60), `${'p'.repeat(28)}-${'c'.repeat(28)}`],
  ])('the claim %#: %s of pod %s begins with %s', (pod, claim, name) => expect(generateName(pod, claim)).toBe(name))
})

describe('reservations', () => {
  test('a claim stays allocated while one of its pods may run, and is free when the last one is over', async () => {
    await addClaim('shared')
    const [one, two] = [await addPod('one', SHARED), await addPod('two', SHARED)]
    await allocate('shared', one, two)
    await end('one')
    expect(await consumersOf('shared')).toEqual(['two'])
    expect((await claims().get('shared'))?.status?.allocation).toBeDefined()
    await end('two')
    const claim = await claims().get('shared')
    expect(claim?.status ?? {}).toEqual({})
    expect(claim?.metadata.finalizers).toBeUndefined()
  })

  test('a pod that is deleted gives its claim back, and so does one that another of its name follows', async () => {
    await addClaim('shared')
    const pod = await addPod('one', SHARED)
    await allocate('shared', pod)
    await pods().delete(named('one'), { gracePeriodSeconds: 0 })
    await plane.settle()
    expect(await consumersOf('shared')).toEqual([])
    await allocate('shared', await addPod('one', SHARED), pod)
    expect(await consumersOf('shared')).toEqual(['one'])
  })

  test('consumers that are no pods are left alone', async () => {
    await addClaim('shared')
    await allocate('shared', await addPod('one', SHARED))
    await claims().updateStatusWithRetries(named('shared'), ({ status }) =>
      status?.reservedFor?.push({ apiGroup: 'example.com', resource: 'pods', name: 'x', uid: 'x' }),
    )
    await end('one')
    expect(await consumersOf('shared')).toEqual(['x'])
  })

  test('a claim that was made for a pod goes when the pod is over', async () => {
    await addTemplate()
    const pod = await addPod('web', FROM_TEMPLATE)
    const [claim] = await claims().list()
    await allocate(claim?.metadata.name ?? '', pod)
    expect(await claims().list()).toHaveLength(1)
    await end('web')
    expect(await claims().list()).toEqual([])
  })

  test('a claim that is deleted while it is in use goes after its last pod', async () => {
    await addClaim('shared')
    await allocate('shared', await addPod('one', SHARED))
    await claims().delete(named('shared'))
    await plane.settle()
    expect(await consumersOf('shared')).toEqual(['one'])
    await end('one')
    expect(await claims().get('shared')).toBeUndefined()
  })

  test('a claim that is deleted, and is allocated for nobody, goes', async () => {
    await addClaim('shared')
    await allocate('shared')
    await claims().delete(named('shared'))
    await plane.settle()
    expect(await claims().get('shared')).toBeUndefined()
  })

  test('a pod that has its node without a scheduler reserves its claim, whichever comes first', async () => {
    await plane.create({ group: '', resource: 'nodes' }, { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } })
    await addClaim('shared')
    await addPod('early', { ...SHARED, nodeName: 'n' })
    expect(await consumersOf('shared')).toEqual([])
    await allocate('shared')
    expect(await consumersOf('shared')).toEqual(['early'])
    await addPod('late', { ...SHARED, nodeName: 'n' })
    expect(await consumersOf('shared')).toEqual(['early', 'late'])
  })
})
