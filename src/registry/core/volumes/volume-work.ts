/** Which writes of claims, volumes and their classes are work for workload controllers. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1.ts'
import type { Workloads } from '../../../settings/schema.ts'
import type { Change, Work, WorkloadRule } from '../../work/work.ts'
import { controllerRefOf, keyOf } from '../../work/work.ts'

/** The scheduler retries pending pods after these writes, as it does after writes of pods and nodes. */
const VOLUME_CHANGED = { topic: 'scheduler', payload: 'VolumeChanged' } as const

/**
 * After a claim is gone, the StatefulSet can create the pod that waits for the name of the claim, and a pod gets a new
 * claim for its ephemeral volume.
 */
function claimWork({ object, old }: Change): readonly Work[] {
  if (object !== undefined || old === undefined) return []
  const { namespace } = old.metadata
  const owner = controllerRefOf(old)
  const { name = '' } = owner ?? {}
  if (owner === undefined) return []
  if (owner.kind !== 'Pod') return [{ topic: 'stateful-set', payload: `${namespace}/${name}` }]
  return [
    { topic: 'stateful-set', payload: `${namespace}/${name.replace(/-\d+$/, '')}` },
    { topic: 'ephemeral-claims', payload: `${namespace}/${name}` },
  ]
}

/** After a claim is gone, the controller releases its volume. */
function claimBindingWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  const [claim, before]: (PersistentVolumeClaim | undefined)[] = [object, old]
  const scheduler = mode === 'simulated' ? [VOLUME_CHANGED] : []
  if (object !== undefined) {
    const isOnlyStatus =
      before !== undefined &&
      JSON.stringify([claim?.spec, claim?.metadata.annotations, claim?.status?.phase]) ===
        JSON.stringify([before.spec, before.metadata.annotations, before.status?.phase])
    return isOnlyStatus ? [] : [{ topic: 'claim-binding', payload: keyOf(object) }, ...scheduler]
  }
  const volume = before?.spec?.volumeName
  return volume ? [{ topic: 'volume-binding', payload: volume }, ...scheduler] : scheduler
}

/** After a volume is gone, the controller sets its claim to Lost. */
function volumeWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  const volume: PersistentVolume | undefined = object ?? old
  const { namespace, name } = volume?.spec?.claimRef ?? {}
  return [
    ...(object === undefined ? [] : [{ topic: 'volume-binding', payload: keyOf(object) } as const]),
    ...(name ? [{ topic: 'claim-binding', payload: `${namespace}/${name}` } as const] : []),
    ...(mode === 'simulated' ? [VOLUME_CHANGED] : []),
  ]
}

/** Claims may wait for a class with this name, or for a default class. */
function classWork({ object }: Change): readonly Work[] {
  return object === undefined ? [] : [{ topic: 'claim-binding', payload: '' }, VOLUME_CHANGED]
}

/** Claims may wait for a VolumeAttributesClass with this name. */
function attributesClassWork({ object, old }: Change): readonly Work[] {
  return object === undefined || old !== undefined ? [] : [{ topic: 'claim-binding', payload: '' }]
}

/** The scheduler reads how many volumes a node may attach, which it has attached, and how large new ones may be. */
function attachableWork(_: Change, mode: Workloads): readonly Work[] {
  return mode === 'simulated' ? [VOLUME_CHANGED] : []
}

export const claimRules: readonly WorkloadRule[] = [claimWork, claimBindingWork]
export const volumeRules: readonly WorkloadRule[] = [volumeWork]
export const classRules: readonly WorkloadRule[] = [classWork]
export const attributesClassRules: readonly WorkloadRule[] = [attributesClassWork]
export const attachableRules: readonly WorkloadRule[] = [attachableWork]
