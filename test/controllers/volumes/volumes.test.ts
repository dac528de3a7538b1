import { beforeEach, describe, expect, test } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/core/v1.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { StorageClass, VolumeAttributesClass } from '../../../src/api/storage/v1.ts'
import type { Clientset } from '../../../src/controllers/client/clientset.ts'
import { clientsetFor, typedResource } from '../../../src/controllers/client/clientset.ts'
import { NODES } from '../../../src/controllers/simulation/simulated-node.ts'
import { CLAIMS, VOLUMES } from '../../../src/controllers/volumes/binding.ts'
import { PODS } from '../../../src/controllers/workloads/pods/pod-control.ts'
import { ControlPlaneInMemory, EVENTS } from '../control-plane.ts'
import { plainPod } from '../plain-pod.ts'
import { named } from '../../../src/controllers/client/resource-client.ts'

const STORAGE_CLASSES = typedResource<StorageClass & KubeObject>('storage.k8s.io', 'storageclasses')

const ATTRIBUTES_CLASSES = typedResource<VolumeAttributesClass & KubeObject>(
  'storage.k8s.io',
  'volumeattributesclasses',
)

let plane: ControlPlaneInMemory
let clients: Clientset

beforeEach(async () => {
  plane = new ControlPlaneInMemory({ KEDGE_WORKLOADS: 'simulated' })
  clients = clientsetFor(await plane.context(), 'somebody')
  for (const name of ['node-1', 'node-2'])
    await clients.resource(NODES).create({
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name, labels: { 'kedge.dev/simulated': 'true', 'kubernetes.io/hostname': name } },
    })
  await plane.settle()
})

async function addClass(name: string, more: Partial<StorageClass> = {}): Promise<void> {
  await clients.resource(STORAGE_CLASSES).create({
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: { name },
    provisioner: 'kedge.dev/simulated',
    ...more,
  })
  await plane.settle()
}

async function addClaim(name: string, spec: PersistentVolumeClaim['spec'] = {}): Promise<void> {
  await clients.resource(CLAIMS, 'default').create({
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
  await plane.settle()
}

async function addVolume(name: string, storage: string, spec: PersistentVolume['spec'] = {}): Promise<void> {
  await clients.resource(VOLUMES).create({
    kind: 'PersistentVolume',
    apiVersion: 'v1',
    metadata: { name },
    spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: `/data/${name}` }, ...spec },
  })
  await plane.settle()
}

async function addPod(name: string, volumes: NonNullable<Pod['spec']>['volumes']): Promise<void> {
  await clients.resource(PODS, 'default').create(plainPod(name, { volumes }))
  await plane.settle()
}

/** What is protected goes once somebody has looked who uses it. */
async function later(): Promise<void> {
  for (let looks = 0; looks < 4; looks++) await plane.pass(5_000)
}

const mounting = (claimName: string) => [{ name: 'data', persistentVolumeClaim: { claimName } }]
const claim = (name: string) => clients.resource(CLAIMS, 'default').get(name)
const volume = (name: string) => clients.resource(VOLUMES).get(name)
const pod = (name: string) => clients.resource(PODS, 'default').get(name)
const waits = async (name: string) => (await pod(name))?.status?.conditions?.[0]?.message
const news = async (name: string) =>
  (await clients.resource({ ...EVENTS }, 'default').list())
    .map((event) => event as unknown as { reason: string; message: string; involvedObject: { name: string } })
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason)
    .sort()

const csi = { driver: 'example.com', volumeHandle: 'disk' }

describe('a volume whose claim is gone', () => {
  const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'

  test.each<[string, PersistentVolume['spec'], Record<string, string>, string | undefined, string?]>([
    ['is kept', { hostPath: { path: '/tmp/disk' }, persistentVolumeReclaimPolicy: 'Retain' }, {}, 'Released'],
    ['on a host goes', { hostPath: { path: '/tmp/disk' } }, {}, undefined],
    [
      'on a host outside of /tmp fails',
      { hostPath: { path: '/data' } },
      {},
      'Failed',
      'host_path deleter only supports /tmp/.+ but received provided /data',
    ],
    [
      'of a network fails',
      { nfs: { server: 'a', path: '/b' } },
      {},
      'Failed',
      'error getting deleter volume plugin for volume "disk": no deletable volume plugin matched',
    ],
    [
      'of an unknown kind fails',
      { rbd: { monitors: ['a'], image: 'b' } },
      {},
      'Failed',
      'error getting deleter volume plugin for volume "disk": no volume plugin matched',
    ],
    [
      'of an unknown plugin fails',
      { hostPath: { path: '/tmp/disk' } },
      { [PROVISIONED_BY]: 'kubernetes.io/quobyte' },
      'Failed',
      'no volume plugin matched name: kubernetes.io/quobyte',
    ],
    ['of a driver waits for that', { csi }, {}, 'Released'],
    ['of a provisioner waits for that', { hostPath: { path: '/tmp/d' } }, { [PROVISIONED_BY]: 'a.b/c' }, 'Released'],
    [
      'is not wiped',
      { hostPath: { path: '/tmp/disk' }, persistentVolumeReclaimPolicy: 'Recycle' },
      {},
      'Failed',
      'No recycler plugin found for the volume!',
    ],
  ])('%s', async (_what, spec, annotations, phase, message) => {
    await clients.resource(VOLUMES).create({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'disk', annotations },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        ...spec,
      },
    })
    await addClaim('data', { storageClassName: '' })
    expect((await volume('disk'))?.status?.phase).toBe('Bound')
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    await later()
    expect((await volume('disk'))?.status?.phase).toBe(phase)
    expect((await volume('disk'))?.status?.message).toBe(message)
  })

  const boundElsewhere = async (annotations: Record<string, string>) => {
    await addVolume('mine', '1Gi')
    await addClaim('data', { storageClassName: '' })
    const { uid = '' } = (await claim('data'))!.metadata
    await clients.resource(VOLUMES).create({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'disk', annotations },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data', uid },
        csi,
      },
    })
    await plane.settle()
    return volume('disk')
  }

  test.each(['Retain', 'Delete'])('goes if it was deleted before, with the policy %s', async (policy) => {
    await addVolume('disk', '2Gi', { hostPath: { path: '/tmp/disk' }, persistentVolumeReclaimPolicy: policy })
    await addClaim('data', { storageClassName: '' })
    expect((await claim('data'))?.status?.phase).toBe('Bound')
    await clients.resource(VOLUMES).delete(named('disk'))
    await later()
    expect((await volume('disk'))?.status?.phase).toBe('Bound')
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    for (let looks = 0; looks < 4; looks++) await later()
    expect([await claim('data'), await volume('disk')]).toEqual([undefined, undefined])
  })

  test('of a plugin goes once the controller has deleted it, and is kept until then', async () => {
    const IN_TREE = 'kubernetes.io/pv-controller'
    await clients.resource(VOLUMES).create({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'disk', annotations: { [PROVISIONED_BY]: 'kubernetes.io/host-path' } },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        hostPath: { path: '/tmp/disk' },
      },
    })
    await addClaim('data', { storageClassName: '' })
    const finalizers = async () => (await volume('disk'))?.metadata.finalizers
    expect(await finalizers()).toEqual(['kubernetes.io/pv-protection', IN_TREE])
    const take = async (persistentVolumeReclaimPolicy: string) => {
      await clients
        .resource(VOLUMES)
        .updateWithRetries(named('disk'), ({ spec }) => void Object.assign(spec!, { persistentVolumeReclaimPolicy }))
      await plane.settle()
    }
    await take('Retain')
    expect(await finalizers()).toEqual(['kubernetes.io/pv-protection'])
    await take('Delete')
    expect(await finalizers()).toContain(IN_TREE)
    await clients.resource(VOLUMES).delete(named('disk'))
    await later()
    expect(await finalizers()).toContain(IN_TREE)
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    for (let looks = 0; looks < 4; looks++) await later()
    expect(await volume('disk')).toBeUndefined()
  })

  test('because that has another volume waits for the driver that made it', async () => {
    const found = await boundElsewhere({ [PROVISIONED_BY]: 'example.com' })
    expect(found).toMatchObject({ spec: { claimRef: { name: 'data' } }, status: { phase: 'Released' } })
  })

  test('because that has another volume stays reserved for its name if a user reserved it', async () => {
    const found = await boundElsewhere({})
    expect(found?.status?.phase).toBe('Available')
    expect(found?.spec?.claimRef).toEqual({ kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' })
  })
})

describe('a claim', () => {
  test('gets the smallest volume that is large enough, and keeps it', async () => {
    await addVolume('large', '10Gi')
    await addVolume('small', '1Gi')
    await addVolume('tiny', '1Mi')
    await addClaim('data', { storageClassName: '' })
    expect(await claim('data')).toMatchObject({
      metadata: {
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
      },
      spec: { volumeName: 'small' },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    })
    expect((await volume('small'))?.status?.phase).toBe('Bound')
    expect((await volume('large'))?.status?.phase).toBe('Available')
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    await later()
    expect((await volume('small'))?.status?.phase).toBe('Released')
  })

  test('waits for a volume that comes later', async () => {
    await addClaim('data', { storageClassName: '' })
    expect((await claim('data'))?.status?.phase).toBe('Pending')
    expect(await news('data')).toEqual(['FailedBinding'])
    await addVolume('late', '1Gi')
    expect((await claim('data'))?.status?.phase).toBe('Bound')
    expect(plane.waiting).toEqual([])
  })

  test('says what is wrong with the volume that it names', async () => {
    await addVolume('small', '1Mi')
    await addClaim('data', { storageClassName: '', volumeName: 'small' })
    expect(await news('data')).toEqual(['VolumeMismatch'])
    expect((await claim('data'))?.status?.phase).toBe('Pending')
  })

  test('says, as does the volume that is reserved for it, that their modes differ', async () => {
    await addClaim('data', { storageClassName: '' })
    const { uid = '' } = (await claim('data'))!.metadata
    const claimRef = { namespace: 'default', name: 'data', uid }
    await addVolume('disk', '1Gi', { volumeMode: 'Block', claimRef })
    expect(await news('data')).toContain('VolumeMismatch')
    expect(await news('disk')).toEqual(['VolumeMismatch'])
    expect((await claim('data'))?.status?.phase).toBe('Pending')
    expect(plane.waiting).toEqual([])
  })

  test('is lost with its volume', async () => {
    await addVolume('small', '1Gi')
    await addClaim('data', { storageClassName: '' })
    await clients.resource(VOLUMES).updateWithRetries(named('small'), ({ metadata }) => void delete metadata.finalizers)
    await clients.resource(VOLUMES).delete(named('small'))
    await clients
      .resource(VOLUMES)
      .updateWithRetries(named('small'), ({ metadata }) => void delete metadata.finalizers)
      .catch(() => {})
    await plane.settle()
    expect((await claim('data'))?.status?.phase).toBe('Lost')
    expect(await news('data')).toEqual(['ClaimLost'])
  })

  test('of a simulated class gets a volume of its own, which grows with it and goes with it', async () => {
    await addClass('fast', { allowVolumeExpansion: true })
    await addClaim('data', { storageClassName: 'fast' })
    const name = (await claim('data'))?.spec?.volumeName ?? ''
    expect(name).toBe(`pvc-${(await claim('data'))?.metadata.uid}`)
    expect(await volume(name)).toMatchObject({
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'kedge.dev/simulated' } },
      spec: { capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Delete', storageClassName: 'fast' },
      status: { phase: 'Bound' },
    })
    expect(await news('data')).toEqual(['Provisioning', 'ProvisioningSucceeded'])
    await clients.resource(CLAIMS, 'default').updateWithRetries(named('data'), ({ spec }) => {
      spec!.resources = { requests: { storage: '3Gi' } }
    })
    await plane.settle()
    expect((await claim('data'))?.status?.capacity).toEqual({ storage: '3Gi' })
    expect((await volume(name))?.spec?.capacity).toEqual({ storage: '3Gi' })
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    await later()
    expect([await claim('data'), await volume(name)]).toEqual([undefined, undefined])
  })

  const ofDriver = async (name: string, driverName = 'simulated.kedge.dev') => {
    await clients.resource(ATTRIBUTES_CLASSES).create({
      kind: 'VolumeAttributesClass',
      apiVersion: 'storage.k8s.io/v1',
      metadata: { name },
      driverName,
      parameters: { iops: '100' },
    })
    await plane.settle()
  }
  const askFor = async (volumeAttributesClassName: string) => {
    await clients
      .resource(CLAIMS, 'default')
      .updateWithRetries(named('data'), ({ spec }) => void Object.assign(spec!, { volumeAttributesClassName }))
    await plane.settle()
  }

  test('has the attributes of the volume that it is bound to, until it loses it', async () => {
    await addVolume('disk', '1Gi', { csi, hostPath: undefined, volumeAttributesClassName: 'gold' })
    await addClaim('data', { storageClassName: '', volumeAttributesClassName: 'gold' })
    expect((await claim('data'))?.status).toMatchObject({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' })
    await clients.resource(VOLUMES).delete(named('disk'))
    await clients.resource(VOLUMES).updateWithRetries(named('disk'), ({ metadata }) => void delete metadata.finalizers)
    await plane.settle()
    expect((await claim('data'))?.status).toEqual({ phase: 'Lost' })
  })

  test('of a simulated class gets other attributes when it asks for them', async () => {
    await addClass('fast')
    await ofDriver('gold')
    await addClaim('data', { storageClassName: 'fast', volumeAttributesClassName: 'gold' })
    const name = (await claim('data'))?.spec?.volumeName ?? ''
    expect((await claim('data'))?.status).toMatchObject({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' })
    await ofDriver('silver')
    await askFor('silver')
    expect((await claim('data'))?.status?.currentVolumeAttributesClassName).toBe('silver')
    expect((await volume(name))?.spec?.volumeAttributesClassName).toBe('silver')
    expect(await news('data')).toContain('VolumeModifySuccessful')
  })

  test.each(['bronze', 'foreign'])(
    'of a simulated class waits for the attributes %s that it asks for',
    async (wanted) => {
      await addClass('fast')
      await addClaim('data', { storageClassName: 'fast' })
      if (wanted === 'foreign') await ofDriver('foreign', 'example.com')
      await askFor(wanted)
      expect((await claim('data'))?.status).toMatchObject({
        modifyVolumeStatus: { targetVolumeAttributesClassName: wanted, status: 'Pending' },
      })
      expect(await news('data')).toContain('VolumeModifyFailed')
      if (wanted === 'foreign') return
      await ofDriver(wanted)
      const { currentVolumeAttributesClassName, modifyVolumeStatus } = (await claim('data'))?.status ?? {}
      expect([currentVolumeAttributesClassName, modifyVolumeStatus]).toEqual([wanted, undefined])
    },
  )

  test('of a simulated class gets no volume before the attributes that it asks for are there', async () => {
    await addClass('fast')
    await addClaim('data', { storageClassName: 'fast', volumeAttributesClassName: 'gold' })
    expect((await claim('data'))?.status?.phase).toBe('Pending')
    expect(await news('data')).toContain('ProvisioningFailed')
    await ofDriver('gold')
    expect((await claim('data'))?.status).toMatchObject({ phase: 'Bound', currentVolumeAttributesClassName: 'gold' })
  })

  test.each<[what: string, spec: PersistentVolumeClaim['spec'], why: string]>([
    ['selects volumes', { selector: { matchLabels: { a: 'b' } } }, 'claim Selector is not supported'],
    [
      'wants the data of a snapshot',
      { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' } },
      'simulated volumes have no data of VolumeSnapshot "s"',
    ],
  ])('of a simulated class gets no volume if it %s', async (_what, spec, why) => {
    await addClass('fast')
    await addClaim('data', { storageClassName: 'fast', ...spec })
    expect((await claim('data'))?.status?.phase).toBe('Pending')
    const events = (await clients.resource({ ...EVENTS }, 'default').list()) as unknown as { message: string }[]
    expect(events.map(({ message }) => message)).toContain(
      `failed to provision volume with StorageClass "fast": ${why}`,
    )
  })

  test('of a simulated class gets a volume if it wants the data of another claim', async () => {
    await addClass('fast')
    await addClaim('first', { storageClassName: 'fast' })
    await addClaim('data', { storageClassName: 'fast', dataSource: { kind: 'PersistentVolumeClaim', name: 'first' } })
    expect((await claim('data'))?.status?.phase).toBe('Bound')
  })

  test('and a volume of a plugin that a driver took over name the driver', async () => {
    const MIGRATED_TO = 'pv.kubernetes.io/migrated-to'
    await clients.resource(CLAIMS, 'default').create({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: {
        name: 'data',
        namespace: 'default',
        annotations: { 'volume.kubernetes.io/storage-provisioner': 'kubernetes.io/aws-ebs' },
      },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
    })
    await clients.resource(VOLUMES).create({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'disk', annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/aws-ebs' } },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        awsElasticBlockStore: { volumeID: 'vol-1' },
      },
    })
    await plane.settle()
    expect((await claim('data'))?.metadata.annotations?.[MIGRATED_TO]).toBe('ebs.csi.aws.com')
    expect((await volume('disk'))?.metadata.annotations?.[MIGRATED_TO]).toBe('ebs.csi.aws.com')
    await clients.resource(VOLUMES).updateWithRetries(named('disk'), ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'pv.kubernetes.io/provisioned-by': 'example.com' }
    })
    await plane.settle()
    expect((await volume('disk'))?.metadata.annotations).not.toHaveProperty([MIGRATED_TO])
  })

  test('of a class that retains leaves its volume behind', async () => {
    await addClass('kept', { reclaimPolicy: 'Retain' })
    await addClaim('data', { storageClassName: 'kept' })
    const name = (await claim('data'))?.spec?.volumeName ?? ''
    await clients.resource(CLAIMS, 'default').delete(named('data'))
    await later()
    expect((await volume(name))?.status?.phase).toBe('Released')
  })

  test('of a class of another provisioner is left to it', async () => {
    await addClass('other', { provisioner: 'example.com/disk' })
    await addClaim('data', { storageClassName: 'other' })
    expect(await claim('data')).toMatchObject({
      metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': 'example.com/disk' } },
      status: { phase: 'Pending' },
    })
    expect(await news('data')).toContain('ExternalProvisioning')
  })

  test.each([
    ['kubernetes.io/aws-ebs', 'ebs.csi.aws.com', 'ExternalProvisioning'],
    ['kubernetes.io/host-path', 'kubernetes.io/host-path', 'ProvisioningFailed'],
    ['kubernetes.io/nfs', undefined, 'ProvisioningFailed'],
    ['kubernetes.io/no-provisioner', undefined, 'ProvisioningFailed'],
  ])('of a class of the in-tree provisioner %s is marked for %s: %s', async (provisioner, marked, reason) => {
    await addClass('other', { provisioner })
    await addClaim('data', { storageClassName: 'other' })
    const annotations = (await claim('data'))?.metadata.annotations
    expect(annotations?.['volume.kubernetes.io/storage-provisioner']).toBe(marked)
    expect(await news('data')).toEqual([reason])
  })

  test('that was bound elsewhere gets its volume when that comes, and again when somebody takes it away', async () => {
    await clients.resource(CLAIMS, 'default').create({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'data', namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: '',
        volumeName: 'disk',
      },
    })
    await plane.settle()
    expect((await claim('data'))?.status?.phase).toBe('Lost')
    await addVolume('disk', '2Gi')
    const isBound = async () => {
      expect((await claim('data'))?.status).toMatchObject({ phase: 'Bound', capacity: { storage: '2Gi' } })
      expect(await volume('disk')).toMatchObject({ spec: { claimRef: { name: 'data' } }, status: { phase: 'Bound' } })
    }
    await isBound()
    await clients.resource(VOLUMES).updateWithRetries(named('disk'), ({ spec }) => void delete spec!.claimRef)
    await plane.settle()
    await isBound()
  })

  test('that grows is left to the driver of its volume', async () => {
    await addClass('other', { provisioner: 'example.com/disk', allowVolumeExpansion: true })
    await addVolume('disk', '1Gi', { storageClassName: 'other' })
    await addClaim('data', { storageClassName: 'other' })
    await clients.resource(CLAIMS, 'default').updateWithRetries(named('data'), ({ spec }) => {
      spec!.resources = { requests: { storage: '3Gi' } }
    })
    await plane.settle()
    expect((await claim('data'))?.status?.capacity).toEqual({ storage: '1Gi' })
    expect(await news('data')).toEqual(['ExternalExpanding'])
  })

  test('of a class that is not there waits for it', async () => {
    await addClaim('data', { storageClassName: 'late' })
    expect(await news('data')).toEqual(['ProvisioningFailed'])
    await addClass('late')
    expect((await claim('data'))?.status?.phase).toBe('Bound')
  })

  test.each(['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'])(
    'gets the default class that comes later with %s',
    async (isDefault) => {
      await addClaim('data')
      await addClass('standard', {
        metadata: { name: 'standard', annotations: { [isDefault]: 'true' } },
      })
      expect(await claim('data')).toMatchObject({ spec: { storageClassName: 'standard' }, status: { phase: 'Bound' } })
    },
  )
})

describe('a pod with a claim', () => {
  test('waits until that is there', async () => {
    await addPod('web', mounting('data'))
    expect(await waits('web')).toBe('0/2 nodes are available: persistentvolumeclaim "data" not found. not found')
    await addClass('fast')
    await addClaim('data', { storageClassName: 'fast' })
    expect((await pod('web'))?.spec?.nodeName).toBeDefined()
  })

  test('is the first consumer that a claim waits for', async () => {
    await addClass('late', { volumeBindingMode: 'WaitForFirstConsumer' })
    await addClaim('data', { storageClassName: 'late' })
    expect(await news('data')).toEqual(['WaitForFirstConsumer'])
    await addPod('web', mounting('data'))
    const { nodeName } = (await pod('web'))?.spec ?? {}
    expect(nodeName).toBeDefined()
    expect((await claim('data'))?.status?.phase).toBe('Bound')
    expect((await claim('data'))?.metadata.annotations?.['volume.kubernetes.io/selected-node']).toBeDefined()
    expect(plane.waiting).toEqual([])
  })

  test('goes where its volume is', async () => {
    const required = {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-2'] }] },
      ],
    }
    await addClass('local', { provisioner: 'kubernetes.io/no-provisioner', volumeBindingMode: 'WaitForFirstConsumer' })
    await addVolume('disk', '1Gi', { storageClassName: 'local', nodeAffinity: { required } })
    await addClaim('data', { storageClassName: 'local' })
    await addPod('web', mounting('data'))
    expect((await pod('web'))?.spec?.nodeName).toBe('node-2')
    expect((await claim('data'))?.spec?.volumeName).toBe('disk')
    await addClaim('more', { storageClassName: 'local' })
    await addPod('other', mounting('more'))
    expect(await waits('other')).toBe(
      "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )
  })

  test('that only one pod may use waits for that to go', async () => {
    await addClass('fast')
    await addClaim('data', { storageClassName: 'fast', accessModes: ['ReadWriteOncePod'] })
    await addPod('web', mounting('data'))
    await addPod('other', mounting('data'))
    expect(await waits('other')).toContain(
      '2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
    )
    await clients.resource(PODS, 'default').delete(named('web'))
    await plane.settle()
    expect((await pod('other'))?.spec?.nodeName).toBeDefined()
  })

  test('of an ephemeral volume has it for itself', async () => {
    await addClass('fast')
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '1Gi' } },
    }
    await addPod('web', [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }])
    expect((await claim('web-scratch'))?.metadata.ownerReferences).toMatchObject([{ kind: 'Pod', name: 'web' }])
    expect((await pod('web'))?.spec?.nodeName).toBeDefined()
    await clients.resource(PODS, 'default').delete(named('web'))
    await later()
    expect(await claim('web-scratch')).toBeUndefined()
  })

  test('of an ephemeral volume is what that waits for', async () => {
    await addClass('late', { provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer' })
    const resources = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'late', resources }
    const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }]
    await clients
      .resource(PODS, 'default')
      .create(plainPod('web', { volumes, nodeSelector: { 'kubernetes.io/hostname': 'none' } }))
    await plane.settle()
    expect(await news('web-scratch')).toEqual(['WaitForPodScheduled'])
  })

  test('of an ephemeral volume gets a claim in the place of one that is deleted, and of one that was not its own', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } }
    await addClaim('web-scratch', { storageClassName: '' })
    const creating = addPod('web', [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec } } }])
    await expect(creating).rejects.toThrow(
      'PVC default/web-scratch was not created for pod default/web (pod is not owner)',
    )
    expect(await news('web')).toContain('FailedBinding')
    const { uid } = (await pod('web'))!.metadata
    for (let times = 0; times < 2; times++) {
      await clients.resource(CLAIMS, 'default').delete(named('web-scratch'))
      // meanwhile the controller tries in vain
      for (let looks = 0; looks < 15; looks++) await plane.pass(5_000).catch(() => {})
      expect((await claim('web-scratch'))?.metadata.ownerReferences).toMatchObject([{ uid }])
    }
  })
})

/** A kube-controller-manager leads, and binds claims. */
async function leave(): Promise<void> {
  await plane.create(
    { group: 'coordination.k8s.io', resource: 'leases' },
    {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
      spec: { holderIdentity: 'other', leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' },
    },
  )
  await plane.settle()
}

async function askProvisioner(name: string): Promise<void> {
  await clients.resource(CLAIMS, 'default').updateWithRetries(named(name), ({ metadata }) => {
    metadata.annotations = { 'volume.kubernetes.io/storage-provisioner': 'kedge.dev/simulated' }
  })
  await plane.settle()
}

test('while a kube-controller-manager binds, a claim of another provisioner gets no simulated volume', async () => {
  await addClass('real', { provisioner: 'disks.example.com' })
  await leave()
  await addClaim('data', { storageClassName: 'real' })
  // whoever owns the claim can say that
  await askProvisioner('data')
  expect(await clients.resource(VOLUMES).list()).toEqual([])
})

test('while a kube-controller-manager binds, simulated volumes are made when it asks, and deleted when it released them', async () => {
  await addClass('fast')
  await leave()
  await addClaim('data', { storageClassName: 'fast' })
  expect(await clients.resource(VOLUMES).list()).toEqual([])
  await askProvisioner('data')
  const [volume] = await clients.resource(VOLUMES).list()
  expect(volume?.spec?.claimRef?.name).toBe('data')
  expect((await clients.resource(CLAIMS, 'default').get('data'))?.spec?.volumeName).toBeUndefined()
  await clients.resource(VOLUMES).updateStatusWithRetries(named(volume!.metadata.name!), (object) => {
    object.status = { phase: 'Released' }
  })
  await plane.settle()
  const left = await clients.resource(VOLUMES).list()
  expect(left.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([])
})
