import { beforeEach, describe, expect, test } from 'vitest'
import type { StatefulSet } from '../../../../src/api/apps/v1.ts'
import type { PersistentVolumeClaim, Pod } from '../../../../src/api/core/v1.ts'
import type { StorageClass } from '../../../../src/api/storage/v1.ts'
import type { KubeObject } from '../../../../src/api/object.ts'
import { typedResource } from '../../../../src/controllers/client/clientset.ts'
import { PODS } from '../../../../src/controllers/workloads/pods/pod-control.ts'
import { STATEFUL_SETS } from '../../../../src/controllers/workloads/stateful-set/stateful-set.ts'
import { REVISIONS } from '../../../../src/controllers/workloads/templates/revisions.ts'
import { SimulatedPlane } from '../simulated-plane.ts'
import { named } from '../../../../src/controllers/client/resource-client.ts'

const CLASSES = typedResource<KubeObject & StorageClass>('storage.k8s.io', 'storageclasses')
const CLAIMS = typedResource<KubeObject & PersistentVolumeClaim>('', 'persistentvolumeclaims')

let simulated: SimulatedPlane
beforeEach(async () => {
  simulated = await SimulatedPlane.start('node-1', 'node-2')
})

const sets = () => simulated.clients.resource(STATEFUL_SETS, 'default')
const get = async () => (await sets().get('web'))!
const revisions = async () =>
  (await simulated.clients.resource(REVISIONS, 'default').list()).sort(
    (a, b) => Number(a.revision) - Number(b.revision),
  )
const claims = async () => (await simulated.clients.resource(CLAIMS, 'default').list()).map(({ metadata }) => metadata)
const names = async () => (await simulated.pods()).map(({ metadata }) => metadata.name)
const images = async () => (await simulated.pods()).map(({ spec }) => spec?.containers?.[0]?.image)

const dataClaim = (): PersistentVolumeClaim => ({
  metadata: { name: 'data' },
  spec: { storageClassName: 'simulated', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
})

async function apply(spec: StatefulSet['spec'] = {}, annotations: Record<string, string> = {}): Promise<void> {
  await sets().create({
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      serviceName: 'web',
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' }, annotations },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
      ...spec,
    },
  })
}

async function change(edit: (set: StatefulSet) => void): Promise<void> {
  await sets().updateWithRetries(named('web'), edit)
  await simulated.settled()
}

const toImage = (image: string) => change(({ spec }) => void (spec!.template!.spec!.containers![0]!.image = image))

describe('a StatefulSet', () => {
  test('makes its pods one after the other, each with its name and number', async () => {
    await apply({}, { 'kedge.dev/ready-delay': '3' })
    await simulated.settled(2)
    expect(await names()).toEqual(['web-0'])
    await simulated.settled()
    expect(await names()).toEqual(['web-0', 'web-1', 'web-2'])
    const [revision] = await revisions()
    const [, pod] = await simulated.pods()
    expect(pod?.metadata).toMatchObject({
      generateName: 'web-',
      labels: {
        app: 'web',
        'apps.kubernetes.io/pod-index': '1',
        'controller-revision-hash': revision?.metadata.name,
        'statefulset.kubernetes.io/pod-name': 'web-1',
      },
      ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true, blockOwnerDeletion: true }],
    })
    expect(pod?.spec).toMatchObject({ hostname: 'web-1', subdomain: 'web' })
    expect((await get()).status).toEqual({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
      currentRevision: revision?.metadata.name,
      updateRevision: revision?.metadata.name,
      collisionCount: 0,
    })
    expect(await simulated.said('StatefulSet')).toEqual(
      [0, 1, 2].map(
        (ordinal) =>
          `Normal statefulset-controller SuccessfulCreate: Create Pod web-${ordinal} in StatefulSet web successful`,
      ),
    )
    expect(simulated.plane.waiting).toEqual([])
  })

  test('makes all at once where they are parallel, and begins at its first number', async () => {
    await apply({ podManagementPolicy: 'Parallel', ordinals: { start: 5 } }, { 'kedge.dev/ready': 'false' })
    await simulated.settled(1)
    expect(await names()).toEqual(['web-5', 'web-6', 'web-7'])
  })

  test('keeps revisions by the hash of their template, of which it goes back to a former one', async () => {
    await apply()
    await simulated.settled()
    const [first] = await revisions()
    expect(first).toMatchObject({
      revision: 1,
      metadata: { labels: { app: 'web' }, ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }] },
      data: { spec: { template: { $patch: 'replace', spec: { containers: [{ image: 'web:1', resources: {} }] } } } },
    })
    expect(first?.metadata.name).toBe(`web-${first?.metadata.labels?.['controller.kubernetes.io/hash']}`)
    await toImage('web:2')
    expect(await images()).toEqual(['web:2', 'web:2', 'web:2'])
    await toImage('web:1')
    expect(await images()).toEqual(['web:1', 'web:1', 'web:1'])
    const all = await revisions()
    expect(all.map(({ revision }) => revision)).toEqual([2, 3])
    expect(all[1]?.metadata.name).toBe(first?.metadata.name)
    expect((await get()).status).toMatchObject({ currentRevision: first?.metadata.name, currentReplicas: 3 })
  })

  test('keeps no more former revisions than its limit says', async () => {
    await apply({ revisionHistoryLimit: 1 })
    await simulated.settled()
    for (const tag of ['2', '3', '4']) await toImage(`web:${tag}`)
    expect((await revisions()).map(({ revision }) => revision)).toEqual([3, 4])
  })

  test('rolls out from its last pod to the partition, and makes pods below it anew as they were', async () => {
    await apply({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } })
    await simulated.settled()
    await toImage('web:2')
    expect(await images()).toEqual(['web:1', 'web:2', 'web:2'])
    const { status } = await get()
    expect(status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2, replicas: 3 })
    expect(status?.currentRevision).not.toBe(status?.updateRevision)
    await simulated.clients.resource(PODS, 'default').delete(named('web-0'))
    await simulated.settled()
    expect(await images()).toEqual(['web:1', 'web:2', 'web:2'])
    await change(({ spec }) => void (spec!.updateStrategy!.rollingUpdate!.partition = 0))
    expect(await images()).toEqual(['web:2', 'web:2', 'web:2'])
  })

  test('waits for each pod that it replaces', async () => {
    await apply()
    await simulated.settled()
    await change(({ spec }) => {
      spec!.template!.metadata!.annotations = { 'kedge.dev/ready': 'false' }
      spec!.template!.spec!.containers![0]!.image = 'web:2'
    })
    expect(await images()).toEqual(['web:1', 'web:1', 'web:2'])
  })

  test('replaces nothing by itself where that is left to deletion', async () => {
    await apply({ updateStrategy: { type: 'OnDelete' } })
    await simulated.settled()
    await toImage('web:2')
    expect(await images()).toEqual(['web:1', 'web:1', 'web:1'])
    await simulated.clients.resource(PODS, 'default').delete(named('web-1'))
    await simulated.settled()
    expect(await images()).toEqual(['web:1', 'web:2', 'web:1'])
  })

  test('goes down from its last pod, one after the other', async () => {
    await apply({}, { 'kedge.dev/stop-delay': '3' })
    await simulated.settled()
    await sets().updateWithRetries(named('web'), ({ spec }) => void (spec!.replicas = 1))
    await simulated.settled(1)
    const leaving = (await simulated.pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    expect(leaving.map(({ metadata }) => metadata.name)).toEqual(['web-2'])
    await simulated.settled()
    expect(await names()).toEqual(['web-0'])
  })

  test('makes a pod that failed anew under its name', async () => {
    await apply({ replicas: 1 })
    await simulated.settled()
    const [before] = await simulated.pods()
    const pods = simulated.clients.resource(PODS, 'default')
    await pods.updateStatusWithRetries(named('web-0'), (pod) => void (pod.status = { ...pod.status, phase: 'Failed' }))
    await simulated.settled()
    const [after] = await simulated.pods()
    expect(after?.status?.phase).toBe('Running')
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid)
  })

  test('waits until a pod has been ready for as long as it asks', async () => {
    await apply({ minReadySeconds: 5 })
    await simulated.settled(3)
    expect(await names()).toEqual(['web-0'])
    expect((await get()).status).toMatchObject({ readyReplicas: 1, availableReplicas: 0 })
    await simulated.settled(30)
    expect((await get()).status).toMatchObject({ availableReplicas: 3 })
  })

  test('adopts the pods of its name that nobody controls, and lets go of those that it does not select any more', async () => {
    const pod = (name: string): Pod => ({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'default', labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:0' }] },
    })
    const pods = simulated.clients.resource(PODS, 'default')
    for (const name of ['web-0', 'stranger']) await pods.create(pod(name))
    await apply({ updateStrategy: { type: 'OnDelete' } })
    await simulated.settled()
    expect(await images()).toEqual(['web:0', 'web:0', 'web:1', 'web:1'])
    const [stranger, first] = await simulated.pods()
    expect(stranger?.metadata.ownerReferences).toBeUndefined()
    expect(first?.metadata).toMatchObject({
      ownerReferences: [{ kind: 'StatefulSet', name: 'web' }],
      labels: { 'statefulset.kubernetes.io/pod-name': 'web-0', 'apps.kubernetes.io/pod-index': '0' },
    })
    await pods.updateWithRetries(named('web-0'), ({ metadata }) => void (metadata.labels = { app: 'other' }))
    // who has the name now is in the way of the next one
    await expect(simulated.settled(2)).rejects.toThrow('pods "web-0" already exists')
    expect((await pods.get('web-0'))?.metadata.ownerReferences).toBeUndefined()
  })
})

describe('the claims of a StatefulSet', () => {
  beforeEach(async () => {
    await simulated.clients.resource(CLASSES).create({
      kind: 'StorageClass',
      apiVersion: 'storage.k8s.io/v1',
      metadata: { name: 'simulated' },
      provisioner: 'kedge.dev/simulated',
    })
  })

  test('are made for each pod, named after both, and kept', async () => {
    await apply({ replicas: 2, volumeClaimTemplates: [dataClaim()] })
    await simulated.settled()
    expect(await claims()).toMatchObject([
      { name: 'data-web-0', labels: { app: 'web' } },
      { name: 'data-web-1', labels: { app: 'web' } },
    ])
    const [pod] = await simulated.pods()
    expect(pod?.spec?.volumes?.[0]).toEqual({ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } })
    expect(await simulated.said('StatefulSet')).toContain(
      'Normal statefulset-controller SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success',
    )
    await change(({ spec }) => void (spec!.replicas = 0))
    expect((await claims()).map(({ name }) => name)).toEqual(['data-web-0', 'data-web-1'])
  })

  test.each([
    ['Retain', 'Retain', []],
    ['Delete', 'Retain', ['StatefulSet']],
    ['Retain', 'Delete', []],
    ['Delete', 'Delete', ['StatefulSet']],
  ])('where the set is deleted: %s, scaled: %s', async (whenDeleted, whenScaled, owners) => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted, whenScaled }
    await apply({ replicas: 2, volumeClaimTemplates: [dataClaim()], persistentVolumeClaimRetentionPolicy })
    await simulated.settled()
    const kinds = async () =>
      (await claims()).map(({ ownerReferences = [] }) => ownerReferences.map(({ kind }) => kind))
    expect(await kinds()).toEqual([owners, owners])
    await change(({ spec }) => void (spec!.replicas = 1))
    expect((await claims()).map(({ name }) => name)).toEqual(
      whenScaled === 'Delete' ? ['data-web-0'] : ['data-web-0', 'data-web-1'],
    )
  })

  test('follow a policy that changes', async () => {
    await apply({ replicas: 1, volumeClaimTemplates: [dataClaim()] })
    await simulated.settled()
    await change(({ spec }) => {
      spec!.persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Retain' }
    })
    const [claim] = await claims()
    expect(claim?.ownerReferences).toMatchObject([{ kind: 'StatefulSet', name: 'web', controller: true }])
  })
})

test('puts the labels of a large pod right, and keeps the rest of it', async () => {
  const env = [{ name: 'LONG', value: 'x'.repeat(100_000) }]
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'web', image: 'web:1', env }] },
  }
  await apply({ replicas: 1, template })
  await simulated.settled()
  const pods = simulated.clients.resource(PODS, 'default')
  await pods.updateWithRetries(named('web-0'), ({ metadata }) => {
    delete metadata.labels!['statefulset.kubernetes.io/pod-name']
  })
  await simulated.settled()
  const pod = await pods.get('web-0')
  expect(pod?.metadata.labels).toMatchObject({ 'statefulset.kubernetes.io/pod-name': 'web-0' })
  expect(pod?.spec?.containers?.[0]?.env).toEqual(env)
})
