/** Provisions and resizes volumes of classes with the provisioner kedge.dev/simulated. No storage is behind them. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { isRefusal } from '../work/refusal.ts'
import type { EventRecorder } from '../workloads/events/events.ts'
import { CLAIMS, VOLUMES } from './binding.ts'
import { attributesFault, modify, SIMULATED_DRIVER } from './attributes.ts'
import { annotation, attributesOf, classOf, PROVISIONED_BY, storageOf } from './matching.ts'

export const SIMULATED_PROVISIONER = 'kedge.dev/simulated'

export const isSimulated = (volume: PersistentVolume): boolean =>
  annotation(volume, PROVISIONED_BY) === SIMULATED_PROVISIONER

/** @returns the volume, which is reserved for the claim; undefined: there is none, and an Event says why */
export async function provision(
  clients: Clientset,
  events: EventRecorder,
  claim: PersistentVolumeClaim & KubeObject,
  storageClass: StorageClass,
): Promise<PersistentVolume | undefined> {
  const { namespace, name, uid = '', resourceVersion } = claim.metadata
  const volumes = clients.resource(VOLUMES)
  const volumeName = `pvc-${uid}`
  const known = await volumes.get(volumeName)
  if (known !== undefined) return known
  await events.normal(
    claim,
    'Provisioning',
    `External provisioner is provisioning volume for claim ${JSON.stringify(`${namespace}/${name}`)}`,
  )
  const failed = (why: string) =>
    events.warning(
      claim,
      'ProvisioningFailed',
      `failed to provision volume with StorageClass ${JSON.stringify(classOf(claim))}: ${why}`,
    )
  const fault = contentFault(claim) ?? (await attributesFault(clients, attributesOf(claim)))
  if (fault !== undefined) return void (await failed(fault))
  const volume: PersistentVolume & KubeObject = {
    kind: 'PersistentVolume',
    apiVersion: 'v1',
    metadata: { name: volumeName, annotations: { [PROVISIONED_BY]: SIMULATED_PROVISIONER } },
    spec: {
      capacity: { storage: storageOf(claim.spec?.resources?.requests).toString() },
      accessModes: [...(claim.spec?.accessModes ?? [])],
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: classOf(claim),
      ...(storageClass.mountOptions === undefined ? {} : { mountOptions: storageClass.mountOptions }),
      ...(claim.spec?.volumeMode === undefined ? {} : { volumeMode: claim.spec.volumeMode }),
      ...(claim.spec?.volumeAttributesClassName === undefined
        ? {}
        : { volumeAttributesClassName: claim.spec.volumeAttributesClassName }),
      csi: { driver: SIMULATED_DRIVER, volumeHandle: volumeName },
    },
  }
  try {
    const created = await volumes.create(volume)
    await events.normal(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${volumeName}`)
    return created
  } catch (error) {
    if (!isRefusal(error)) throw error
    return void (await failed(error.message))
  }
}

/** Why no simulated volume is what the claim asks for; undefined: one is. A copy of another one is as empty. */
function contentFault({ spec }: PersistentVolumeClaim): string | undefined {
  if (spec?.selector !== undefined) return 'claim Selector is not supported'
  const source = spec?.dataSourceRef ?? spec?.dataSource
  return source === undefined || source.kind === 'PersistentVolumeClaim'
    ? undefined
    : `simulated volumes have no data of ${source.kind} ${JSON.stringify(source.name)}`
}

/** Gives a simulated volume the size and the attributes that its claim asks for. */
export async function change(
  clients: Clientset,
  events: EventRecorder,
  claim: PersistentVolumeClaim & KubeObject,
  volume: PersistentVolume,
): Promise<void> {
  if (!isSimulated(volume) || claim.status?.phase !== 'Bound') return
  await expand(clients, events, claim, volume)
  await modify(clients, events, claim, volume)
}

async function expand(
  clients: Clientset,
  events: EventRecorder,
  claim: PersistentVolumeClaim & KubeObject,
  volume: PersistentVolume,
): Promise<void> {
  const wanted = storageOf(claim.spec?.resources?.requests)
  if (storageOf(volume.spec?.capacity).compare(wanted) < 0)
    await clients.resource(VOLUMES).updateWithRetries(volume, ({ spec = {} }) => {
      spec.capacity = { ...spec.capacity, storage: wanted.toString() }
    })
  if (storageOf(claim.status?.capacity).compare(wanted) >= 0) return
  await clients.resource(CLAIMS, claim.metadata.namespace).updateStatusWithRetries(claim, ({ status = {} }) => {
    status.capacity = { ...status.capacity, storage: wanted.toString() }
  })
  await events.normal(claim, 'VolumeResizeSuccessful', 'Resize volume succeeded')
}
