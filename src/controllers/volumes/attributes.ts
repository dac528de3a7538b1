/**
 * The attributes of simulated volumes (VolumeAttributesClass). The claim names them and may change them, as with an
 * external provisioner and resizer.
 */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { VolumeAttributesClass } from '../../api/storage/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { EventRecorder } from '../workloads/events/events.ts'
import { CLAIMS, VOLUMES } from './binding.ts'
import { attributesOf, wantsOtherAttributes } from './matching.ts'

const ATTRIBUTES_CLASSES = typedResource<VolumeAttributesClass & KubeObject>(
  'storage.k8s.io',
  'volumeattributesclasses',
)
/** The name of the CSI driver in volumes and in VolumeAttributesClasses. Names of drivers have no slash. */
export const SIMULATED_DRIVER = 'simulated.kedge.dev'

/** Why a simulated volume cannot have these attributes; undefined: it can. */
export async function attributesFault(clients: Clientset, name: string): Promise<string | undefined> {
  if (name === '') return undefined
  const found = await clients.resource(ATTRIBUTES_CLASSES).get(name)
  if (found === undefined) return `volumeattributesclass.storage.k8s.io ${JSON.stringify(name)} not found`
  if (found.driverName === SIMULATED_DRIVER) return undefined
  const [ofClass, its] = [found.driverName, SIMULATED_DRIVER].map((driver) => JSON.stringify(driver))
  return `VolumeAttributesClass ${JSON.stringify(name)} is of the driver ${ofClass}, and the volume of ${its}`
}

/** Gives the simulated volume of a bound claim the attributes that the claim asks for. */
export async function modify(
  clients: Clientset,
  events: EventRecorder,
  claim: PersistentVolumeClaim & KubeObject,
  volume: PersistentVolume,
): Promise<void> {
  const wanted = attributesOf(claim)
  // attributes that a volume has stay when the claim names none
  const isToReset = wanted === '' && claim.status?.modifyVolumeStatus === undefined
  if (claim.status?.phase !== 'Bound' || isToReset || !wantsOtherAttributes(claim)) return
  const claims = clients.resource(CLAIMS, claim.metadata.namespace)
  const fault = await attributesFault(clients, wanted)
  if (fault !== undefined) {
    if (claim.status.modifyVolumeStatus?.targetVolumeAttributesClassName === wanted) return
    await claims.updateStatusWithRetries(claim, ({ status = {} }) => {
      status.modifyVolumeStatus = { targetVolumeAttributesClassName: wanted, status: 'Pending' }
    })
    return events.warning(claim, 'VolumeModifyFailed', fault)
  }
  if (wanted !== '' && attributesOf(volume) !== wanted)
    await clients.resource(VOLUMES).updateWithRetries(volume, ({ spec = {} }) => {
      spec.volumeAttributesClassName = wanted
    })
  await claims.updateStatusWithRetries(claim, ({ status = {} }) => {
    if (wanted !== '') status.currentVolumeAttributesClassName = wanted
    delete status.modifyVolumeStatus
  })
  if (wanted !== '') await events.normal(claim, 'VolumeModifySuccessful', `Volume has the attributes ${wanted}`)
}
