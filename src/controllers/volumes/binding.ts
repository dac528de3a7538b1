/** The writes that bind a volume and a claim, in kube-controller-manager's order. Each of them can be repeated. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'
import { sameJson } from '../workloads/same-json.ts'
import { annotation, BIND_COMPLETED, BOUND_BY_CONTROLLER, isFor, wantsOtherAttributes } from './matching.ts'

export const CLAIMS = typedResource<PersistentVolumeClaim>('', 'persistentvolumeclaims')
export const VOLUMES = typedResource<PersistentVolume>('', 'persistentvolumes')
export const CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' }

/**
 * Reserves the volume for the claim.
 * @throws StatusError Conflict: another writer changed the volume first
 */
export function keepFor(clients: Clientset, volume: PersistentVolume, claim: PersistentVolumeClaim) {
  const { name, namespace, uid, resourceVersion } = claim.metadata
  if (volume.spec?.claimRef?.uid !== undefined && volume.spec.claimRef.uid === uid) return Promise.resolve(volume)
  const ref = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid, resourceVersion }
  const wasKept = volume.spec?.claimRef !== undefined && isFor(volume, claim)
  return clients.resource(VOLUMES).update({
    ...volume,
    metadata: {
      ...volume.metadata,
      ...(wasKept ? {} : { annotations: { ...volume.metadata.annotations, [BOUND_BY_CONTROLLER]: 'yes' } }),
    },
    spec: { ...volume.spec, claimRef: ref },
  })
}

export async function setVolumePhase(
  clients: Clientset,
  volume: PersistentVolume,
  phase: string,
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume
  const { message: _, ...status } = volume.status ?? {}
  const said = message === undefined ? {} : { message }
  return clients.resource(VOLUMES).updateStatus({ ...volume, status: { ...status, phase, ...said } })
}

export async function bind(
  clients: Clientset,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolumeClaim> {
  const kept = await setVolumePhase(clients, await keepFor(clients, volume, claim), 'Bound')
  const claims = clients.resource(CLAIMS, claim.metadata.namespace)
  const name = kept.metadata.name ?? ''
  let bound = claim
  if (claim.spec?.volumeName !== name || annotation(claim, BIND_COMPLETED) === undefined)
    bound = await claims.update({
      ...claim,
      metadata: {
        ...claim.metadata,
        annotations: {
          ...claim.metadata.annotations,
          [BIND_COMPLETED]: 'yes',
          ...(claim.spec?.volumeName === name ? {} : { [BOUND_BY_CONTROLLER]: 'yes' }),
        },
      },
      spec: { ...claim.spec, volumeName: name },
    })
  const isNew = bound.status?.phase !== 'Bound'
  const { currentVolumeAttributesClassName: had, ...others } = bound.status ?? {}
  // once the claim is bound, the resizer sets the attributes
  const attributes = (bound.status?.phase ?? 'Pending') === 'Pending' ? kept.spec?.volumeAttributesClassName : had
  const status = {
    ...others,
    ...(attributes === undefined ? {} : { currentVolumeAttributesClassName: attributes }),
    phase: 'Bound',
    accessModes: kept.spec?.accessModes ?? [],
    // after a volume grew, the resizer sets the capacity
    ...(isNew ? { capacity: { ...kept.spec?.capacity } } : {}),
  }
  return sameJson(status, bound.status) ? bound : claims.updateStatus({ ...bound, status })
}

/**
 * Queues all claims that are not bound, because something changed that may suit them.
 * @param volume the name of a free volume: a claim that was bound to it gets it back
 */
export async function offerToClaims(clients: Clientset, context: ControllerContext, volume?: string): Promise<void> {
  for await (const { metadata, spec, status } of clients.resource(CLAIMS).each()) {
    const isOpen = annotation({ metadata }, BIND_COMPLETED) === undefined
    const isToChange = volume === undefined && wantsOtherAttributes({ metadata, spec, status })
    if (isOpen || isToChange || (volume !== undefined && spec?.volumeName === volume))
      context.later('claim-binding', `${metadata.namespace}/${metadata.name}`, 0)
  }
}
