/**
 * Finds or makes a volume for a claim (kube-controller-manager's persistentvolume-binder). Key: NAMESPACE/NAME, or ''
 * for all claims that wait. If a kube-controller-manager binds claims, this controller only provisions and resizes
 * volumes of simulated classes, as an external provisioner does.
 */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { clientsetFor, typedResource } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isControllerOurs } from '../leader/leadership.ts'
import { EventRecorder } from '../workloads/events/events.ts'
import { keyParts } from '../workloads/key.ts'
import { PODS } from '../workloads/pods/pod-control.ts'
import { bind, CLAIMS, CLASSES, offerToClaims, VOLUMES } from './binding.ts'
import {
  annotation,
  BIND_COMPLETED,
  bestMatch,
  claimNamesOf,
  classOf,
  isDefaultClass,
  isFor,
  migratedAnnotations,
  mismatch,
  SELECTED_NODE,
  storageOf,
  STORAGE_PROVISIONER,
  STORAGE_PROVISIONER_BETA,
  waitsForConsumer,
} from './matching.ts'
import { isKnownKind, provisionerOf } from './in-tree-plugins.ts'
import { change, isSimulated, provision, SIMULATED_PROVISIONER } from './provisioner.ts'

const STORAGE_CLASSES = typedResource<StorageClass & KubeObject>(CLASSES.group, CLASSES.resource)

type Claim = PersistentVolumeClaim & KubeObject

/** A claim, and the clients for the work on it. */
interface Look {
  readonly clients: Clientset
  readonly events: EventRecorder
  readonly claim: Claim
  readonly context: ControllerContext
}

export const claimBinding: Controller = {
  async reconcile(key, context) {
    const clients = clientsetFor(context, 'persistent-volume-binder')
    const isBinder = isControllerOurs('persistentvolume-binder-controller', context)
    if (key === '') {
      await offerToClaims(clients, context)
      return undefined
    }
    const [namespace, name] = keyParts(key)
    const found = await clients.resource(CLAIMS, namespace).get(name)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const claim: Claim = { ...found, kind: 'PersistentVolumeClaim', apiVersion: 'v1' }
    const events = new EventRecorder(clients, 'persistentvolume-controller', context.now)
    // if two claims suit one volume, the second must see that the volume is taken
    await context.alone('volumes', async () => {
      if (!isBinder) return asProvisioner({ clients, claim, events, context })
      const look = { clients, claim: await migrated(clients, claim), events, context }
      return annotation(claim, BIND_COMPLETED) === undefined ? unbound(look) : bound(look)
    })
    return undefined
  },
}

/** Provisions and resizes volumes of claims that another program binds. */
async function asProvisioner({ clients, claim, events }: Look): Promise<void> {
  const { volumeName } = claim.spec ?? {}
  if (volumeName) {
    const volume = await clients.resource(VOLUMES).get(volumeName)
    if (volume !== undefined) await change(clients, events, claim, volume)
    return
  }
  if (annotation(claim, STORAGE_PROVISIONER) !== SIMULATED_PROVISIONER) return
  const storageClass = await clients.resource(STORAGE_CLASSES).get(classOf(claim))
  // the annotation may be the claim's owner's
  if (storageClass?.provisioner !== SIMULATED_PROVISIONER) return
  const isChosen = !waitsForConsumer(storageClass) || annotation(claim, SELECTED_NODE) !== undefined
  if (isChosen) await provision(clients, events, claim, storageClass)
}

/** @returns the claim, which names the driver that took its provisioner over */
async function migrated(clients: Clientset, claim: Claim): Promise<Claim> {
  const provisioner = annotation(claim, STORAGE_PROVISIONER) ?? annotation(claim, STORAGE_PROVISIONER_BETA)
  const annotations = migratedAnnotations(claim, provisioner)
  if (annotations === undefined) return claim
  const namespaced = clients.resource(CLAIMS, claim.metadata.namespace)
  return { ...claim, ...(await namespaced.update({ ...claim, metadata: { ...claim.metadata, annotations } })) }
}

async function bound({ clients, claim, events, context }: Look): Promise<void> {
  const name = claim.spec?.volumeName ?? ''
  const volume = name === '' ? undefined : await clients.resource(VOLUMES).get(name)
  if (volume === undefined) {
    const what = name === '' ? 'reference to PersistentVolume' : 'its PersistentVolume'
    return lost({ clients, claim, events }, 'ClaimLost', `Bound claim has lost ${what}. Data on the volume is lost!`)
  }
  const { claimRef } = volume.spec ?? {}
  if (claimRef !== undefined && claimRef.uid !== claim.metadata.uid)
    return lost(
      { clients, claim, events },
      'ClaimMisbound',
      'Two claims are bound to the same volume, this one is bound incorrectly',
    )
  const now = { ...claim, ...(await bind(clients, volume, claim)) }
  if (isSimulated(volume)) return change(clients, events, now, volume)
  if (storageOf(now.spec?.resources?.requests).compare(storageOf(now.status?.capacity)) <= 0) return
  await new EventRecorder(clients, 'volume_expand', context.now).record(claim, {
    type: isKnownKind(volume) ? 'Normal' : 'Warning',
    reason: 'ExternalExpanding',
    message: 'waiting for an external controller to expand this PVC',
  })
}

async function lost({ clients, claim, events }: Omit<Look, 'context'>, reason: string, message: string): Promise<void> {
  if (claim.status?.phase === 'Lost') return
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: ___, ...status } = claim.status ?? {}
  await clients
    .resource(CLAIMS, claim.metadata.namespace)
    .updateStatus({ ...claim, status: { ...status, phase: 'Lost' } })
  await events.warning(claim, reason, message)
}

function unbound(look: Look): Promise<void> {
  return look.claim.spec?.volumeName ? named(look, look.claim.spec.volumeName) : unnamed(look)
}

/** Binds a claim to the volume that its spec names. */
async function named({ clients, claim, events }: Look, name: string): Promise<void> {
  const volume = await clients.resource(VOLUMES).get(name)
  if (volume === undefined) return
  if (volume.spec?.claimRef === undefined) {
    const problem = mismatch(volume, claim)
    if (problem === undefined) return void (await bind(clients, volume, claim))
    const message = `Cannot bind to requested volume ${JSON.stringify(name)}: ${problem}`
    return events.warning(claim, 'VolumeMismatch', message)
  }
  if (isFor(volume, claim)) return void (await bind(clients, volume, claim))
  return events.warning(claim, 'FailedBinding', `volume ${JSON.stringify(name)} already bound to a different claim.`)
}

async function unnamed(look: Look): Promise<void> {
  const { clients, claim, events } = look
  const className = classOf(claim)
  const classes = clients.resource(STORAGE_CLASSES)
  const storageClass = className === '' ? undefined : await classes.get(className)
  const isDelayed = waitsForConsumer(storageClass)
  const hasNode = annotation(claim, SELECTED_NODE) !== undefined
  // with WaitForFirstConsumer the scheduler reserves a volume for the claim
  const volume = bestMatch(claim, await clients.resource(VOLUMES).list(), () => !isDelayed)
  if (volume !== undefined) return void (await bind(clients, volume, claim))
  if (claim.spec?.storageClassName === undefined && className === '') {
    const byDefault = defaultOf(await classes.list())
    if (byDefault !== undefined) {
      const name = byDefault.metadata.name ?? ''
      const namespaced = clients.resource(CLAIMS, claim.metadata.namespace)
      return void (await namespaced.update({ ...claim, spec: { ...claim.spec, storageClassName: name } }))
    }
  }
  if (isDelayed && !hasNode) return tellWaiting(look)
  if (className !== '') return provisioned(look, storageClass)
  return events.normal(
    claim,
    'FailedBinding',
    'no persistent volumes available for this claim and no storage class is set',
  )
}

/** The newest default class; the first by name if several are equally new. */
const defaultOf = (classes: readonly StorageClass[]): StorageClass | undefined =>
  classes
    .filter(isDefaultClass)
    .sort((a, b) =>
      (a.metadata.creationTimestamp ?? '') === (b.metadata.creationTimestamp ?? '')
        ? (a.metadata.name ?? '') < (b.metadata.name ?? '')
          ? -1
          : 1
        : (a.metadata.creationTimestamp ?? '') > (b.metadata.creationTimestamp ?? '')
          ? -1
          : 1,
    )[0]

async function tellWaiting({ clients, claim, events }: Look): Promise<void> {
  const uses = (pod: Pod) => claimNamesOf(pod).includes(claim.metadata.name ?? '') // few: the claims of one pod
  const pods = await clients.resource(PODS, claim.metadata.namespace).list({ fieldSelector: 'spec.nodeName=' })
  const names = pods.filter(uses).map(({ metadata }) => metadata.name ?? '')
  if (names.length === 0)
    return events.normal(claim, 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding')
  const who = names.length > 1 ? `pods ${names.join(',')}` : `pod ${names[0]}`
  return events.normal(claim, 'WaitForPodScheduled', `waiting for ${who} to be scheduled`)
}

async function provisioned(look: Look, storageClass: StorageClass | undefined): Promise<void> {
  const { clients, claim, events } = look
  if (storageClass === undefined)
    return events.warning(
      claim,
      'ProvisioningFailed',
      `storageclass.storage.k8s.io ${JSON.stringify(classOf(claim))} not found`,
    )
  const found = provisionerOf(storageClass.provisioner ?? '')
  if (!('name' in found)) return events.warning(claim, 'ProvisioningFailed', found.why)
  const { name: provisioner, why } = found
  let marked = claim
  if (annotation(claim, STORAGE_PROVISIONER) !== provisioner) {
    const annotations = {
      ...claim.metadata.annotations,
      [STORAGE_PROVISIONER]: provisioner,
      [STORAGE_PROVISIONER_BETA]: provisioner,
    }
    const namespaced = clients.resource(CLAIMS, claim.metadata.namespace)
    marked = { ...claim, ...(await namespaced.update({ ...claim, metadata: { ...claim.metadata, annotations } })) }
  }
  if (why !== undefined) return events.warning(marked, 'ProvisioningFailed', why)
  if (provisioner !== SIMULATED_PROVISIONER)
    return events.normal(
      marked,
      'ExternalProvisioning',
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
    )
  const volume: PersistentVolume | undefined = await provision(clients, events, marked, storageClass)
  if (volume !== undefined) await bind(clients, volume, marked)
}
