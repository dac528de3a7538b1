/** The phase of a volume, and what becomes of it when its claim is gone (persistentvolume-binder). Key: NAME. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isControllerOurs } from '../leader/leadership.ts'
import { deleteIfThere } from '../work/unless-gone.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { CLAIMS, offerToClaims, setVolumePhase, VOLUMES } from './binding.ts'
import { deleterOf } from './in-tree-plugins.ts'
import {
  annotation,
  BOUND_BY_CONTROLLER,
  deletionFinalizers,
  migratedAnnotations,
  modeOf,
  PROVISIONED_BY,
  withoutInTree,
} from './matching.ts'
import { isSimulated } from './provisioner.ts'

interface Failing {
  readonly clients: Clientset
  readonly volume: PersistentVolume
  readonly events: EventRecorder
}

interface Look extends Failing {
  readonly context: ControllerContext
}

export const volumeBinding: Controller = {
  async reconcile(name, context) {
    const clients = clientsetFor(context, 'persistent-volume-binder')
    await context.alone('volumes', async () => {
      const volume = await clients.resource(VOLUMES).get(name)
      if (volume === undefined) return
      const events = new EventRecorder(clients, 'persistentvolume-controller', context.now)
      if (isControllerOurs('persistentvolume-binder-controller', context))
        return sync({ clients, volume: await marked(clients, volume), events, context })
      // another program sets the phase; this controller deletes a released simulated volume, as its provisioner does
      if (volume.status?.phase === 'Released' && isSimulated(volume)) await deleted(clients, volume)
    })
    return undefined
  },
}

/** @returns the volume, which names the driver that took its provisioner over, and is kept for its plugin to delete */
async function marked(clients: Clientset, volume: PersistentVolume): Promise<PersistentVolume> {
  const annotations = migratedAnnotations(volume, annotation(volume, PROVISIONED_BY))
  const finalizers = deletionFinalizers(volume)
  if (annotations === undefined && finalizers === undefined) return volume
  const metadata = { ...volume.metadata, ...(annotations && { annotations }), ...(finalizers && { finalizers }) }
  return clients.resource(VOLUMES).update({ ...volume, metadata })
}

async function sync(look: Look): Promise<void> {
  const { clients, volume, context } = look
  const { claimRef } = volume.spec ?? {}
  if (claimRef === undefined) {
    await setVolumePhase(clients, volume, 'Available')
    return offerToClaims(clients, context, volume.metadata.name)
  }
  const key = `${claimRef.namespace}/${claimRef.name}`
  if (!claimRef.uid) {
    await setVolumePhase(clients, volume, 'Available')
    return context.later('claim-binding', key, 0)
  }
  const claim = await clients.resource(CLAIMS, claimRef.namespace).get(claimRef.name ?? '')
  if (claim === undefined || claim.metadata.uid !== claimRef.uid) return released(look)
  if (claim.spec?.volumeName === volume.metadata.name) {
    await setVolumePhase(clients, volume, 'Bound')
    // the claim had lost the volume
    return claim.status?.phase === 'Bound' ? undefined : context.later('claim-binding', key, 0)
  }
  if (!claim.spec?.volumeName)
    return modeOf(volume) === modeOf(claim) ? context.later('claim-binding', key, 0) : tellModes(look, claim)
  // the claim is bound to another volume
  const isProvisioned = annotation(volume, PROVISIONED_BY) !== undefined
  if (isProvisioned && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') return released(look)
  await unbind(clients, volume)
}

async function tellModes({ events, volume }: Look, claim: PersistentVolumeClaim): Promise<void> {
  const because = 'due to incompatible volumeMode.'
  const [ofVolume, ofClaim] = [volume, claim].map(({ metadata }) => JSON.stringify(metadata.name))
  await events.warning(
    { ...volume, kind: 'PersistentVolume', apiVersion: 'v1' },
    'VolumeMismatch',
    `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${ofClaim} ${because}`,
  )
  await events.warning(
    { ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1' },
    'VolumeMismatch',
    `Cannot bind PersistentVolume ${ofVolume} to requested PersistentVolumeClaim ${because}`,
  )
}

async function released({ clients, volume, events }: Look): Promise<void> {
  const isKnown = ['Failed', 'Released'].includes(volume.status?.phase ?? '')
  const now = isKnown ? volume : await setVolumePhase(clients, volume, 'Released')
  if (isSimulated(now)) return deleted(clients, now)
  const { persistentVolumeReclaimPolicy: policy } = now.spec ?? {}
  if (policy === 'Recycle')
    return failed({ clients, volume: now, events }, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!')
  if (policy !== 'Delete') return
  const deleter = deleterOf(now)
  if (deleter === 'here') return deleted(clients, now)
  if (deleter !== 'elsewhere') await failed({ clients, volume: now, events }, 'VolumeFailedDelete', deleter.why)
}

async function failed({ clients, volume, events }: Failing, reason: string, why: string): Promise<void> {
  if (volume.status?.phase === 'Failed') return
  const changed = await setVolumePhase(clients, volume, 'Failed', why)
  await events.warning({ ...changed, kind: 'PersistentVolume', apiVersion: 'v1' }, reason, why)
}

async function deleted(clients: Clientset, now: PersistentVolume): Promise<void> {
  if (now.spec?.persistentVolumeReclaimPolicy !== 'Delete') return
  const { finalizers = [] } = now.metadata
  const left = withoutInTree(finalizers)
  const isKept = left.length < finalizers.length
  const volumes = clients.resource(VOLUMES)
  await deleteIfThere(
    volumes,
    isKept ? await volumes.update({ ...now, metadata: { ...now.metadata, finalizers: left } }) : now,
  )
}

/** A volume that a user reserved for the claim stays reserved for claims of that name. */
async function unbind(clients: Clientset, volume: PersistentVolume): Promise<void> {
  const { claimRef, ...spec } = volume.spec ?? {}
  const { uid: _, ...reserved } = claimRef ?? {}
  const { [BOUND_BY_CONTROLLER]: byController, ...annotations } = volume.metadata.annotations ?? {}
  const freed = await clients
    .resource(VOLUMES)
    .update(
      byController === undefined
        ? { ...volume, spec: { ...spec, claimRef: reserved } }
        : { ...volume, metadata: { ...volume.metadata, annotations }, spec },
    )
  await setVolumePhase(clients, freed, 'Available')
}
