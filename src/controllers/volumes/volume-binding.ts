/** The phase of a volume, and its deletion when its claim is gone (persistentvolume-binder). Key: NAME. */
import type { PersistentVolume } from '../../api/core/v1.ts'
import { StatusError } from '../../api/status.ts'
import type { Clientset } from '../clientset.ts'
import { clientsetFor } from '../clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isControllerOurs } from '../leadership.ts'
import { CLAIMS, offerToClaims, setVolumePhase, VOLUMES } from './binding.ts'
import { annotation, BOUND_BY_CONTROLLER } from './matching.ts'
import { isSimulated } from './provisioner.ts'

export const volumeBinding: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, 'persistent-volume-binder')
    await context.alone('volumes', async () => {
      const volume = await clients.resource(VOLUMES).get(name)
      if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) return
      if (isControllerOurs('persistentvolume-binder-controller', context)) return sync(clients, volume, context)
      // another program sets the phase; this controller deletes a released simulated volume, as its provisioner does
      if (volume.status?.phase === 'Released') await deleted(clients, volume)
    })
    return undefined
  },
}

async function sync(clients: Clientset, volume: PersistentVolume, context: ControllerContext): Promise<void> {
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined) {
    await setVolumePhase(clients, volume, 'Available')
    return offerToClaims(clients, context)
  }
  const key = `${claimRef.namespace}/${claimRef.name}`
  if (!claimRef.uid) {
    await setVolumePhase(clients, volume, 'Available')
    return context.later('claim-binding', key, 0)
  }
  const claim = await clients.resource(CLAIMS, claimRef.namespace).get(claimRef.name ?? '')
  if (claim === undefined || claim.metadata.uid !== claimRef.uid) return released(clients, volume)
  if (claim.spec?.volumeName === volume.metadata.name) return void (await setVolumePhase(clients, volume, 'Bound'))
  if (!claim.spec?.volumeName) return context.later('claim-binding', key, 0)
  // the claim is bound to another volume
  if (isSimulated(volume) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') return released(clients, volume)
  if (annotation(volume, BOUND_BY_CONTROLLER) !== undefined) await free(clients, volume)
}

/** Deletes only simulated volumes. Another provisioner or an administrator deletes the others. */
async function released(clients: Clientset, volume: PersistentVolume): Promise<void> {
  await deleted(clients, volume.status?.phase === 'Failed' ? volume : await setVolumePhase(clients, volume, 'Released'))
}

async function deleted(clients: Clientset, now: PersistentVolume): Promise<void> {
  if (now.spec?.persistentVolumeReclaimPolicy !== 'Delete' || !isSimulated(now)) return
  await clients.resource(VOLUMES).delete(now).catch(ignoreGone)
}

async function free(clients: Clientset, volume: PersistentVolume): Promise<void> {
  const { claimRef: _, ...spec } = volume.spec ?? {}
  const { [BOUND_BY_CONTROLLER]: __, ...annotations } = volume.metadata.annotations ?? {}
  const freed = await clients
    .resource(VOLUMES)
    .update({ ...volume, metadata: { ...volume.metadata, annotations }, spec })
  await setVolumePhase(clients, freed, 'Available')
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error
}
