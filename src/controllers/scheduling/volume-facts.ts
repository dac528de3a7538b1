/** The claims of the pods of one run, with the volumes and classes that matter to them. A run reads them once. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StorageClass } from '../../api/storage/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import { CLAIMS, CLASSES, VOLUMES } from '../volumes/binding.ts'
import { classOf, isBound, SELECTED_NODE } from '../volumes/matching.ts'
import { inlineVolumesOf } from './csi-volume.ts'
import { StorageCapacity } from './storage-capacity.ts'
import { VolumeLimits } from './volume-limits.ts'

const STORAGE_CLASSES = typedResource<StorageClass & KubeObject>(CLASSES.group, CLASSES.resource)

/** A claim by the name that a pod gives it. */
export interface PodClaim {
  readonly name: string
  /** Whether the claim is made for an ephemeral volume of the pod. */
  readonly isEphemeral: boolean
  readonly claim: PersistentVolumeClaim | undefined
}

export class VolumeFacts {
  private readonly claims = new Map<string, PersistentVolumeClaim | undefined>()
  private readonly volumes = new Map<string, PersistentVolume>()
  private readonly classes = new Map<string, StorageClass | undefined>()
  limits: VolumeLimits | undefined
  /** Undefined: all claims have their volumes. */
  capacity: StorageCapacity | undefined

  static async of(pods: readonly Pod[], clients: Clientset): Promise<VolumeFacts> {
    const facts = new VolumeFacts()
    let isSomeFree = false
    for (const pod of pods)
      for (const { name } of claimNames(pod)) {
        const key = `${pod.metadata.namespace}/${name}`
        if (facts.claims.has(key)) continue
        const claim = await clients.resource(CLAIMS, pod.metadata.namespace).get(name)
        facts.claims.set(key, claim)
        if (claim === undefined) continue
        const className = classOf(claim)
        if (className !== '' && !facts.classes.has(className))
          facts.classes.set(className, await clients.resource(STORAGE_CLASSES).get(className))
        const volumeName = claim.spec?.volumeName
        if (volumeName) facts.keep(await clients.resource(VOLUMES).get(volumeName))
        isSomeFree ||= !isBound(claim)
      }
    const isSomeCounted = facts.claims.size > 0 || pods.some((pod) => inlineVolumesOf(pod).length > 0)
    if (isSomeCounted) facts.limits = await VolumeLimits.of(clients)
    if (!isSomeFree) return facts
    facts.capacity = await StorageCapacity.of(facts.classes.values(), clients)
    for await (const volume of clients.resource(VOLUMES).each()) facts.keep(volume)
    return facts
  }

  keep(volume: PersistentVolume | undefined): void {
    if (volume !== undefined) this.volumes.set(volume.metadata.name ?? '', volume)
  }

  /** A provisioner is about to make the volume of the claim on the node: no other pod of this run takes it elsewhere. */
  select(claim: PersistentVolumeClaim, node: string): void {
    const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: node }
    const { namespace, name } = claim.metadata
    this.claims.set(`${namespace}/${name}`, { ...claim, metadata: { ...claim.metadata, annotations } })
  }

  claimsOf(pod: Pod): readonly PodClaim[] {
    return claimNames(pod).map(({ name, isEphemeral }) => ({
      name,
      isEphemeral,
      claim: this.claims.get(`${pod.metadata.namespace}/${name}`),
    }))
  }

  volume(name: string): PersistentVolume | undefined {
    return this.volumes.get(name)
  }

  storageClass(claim: PersistentVolumeClaim): StorageClass | undefined {
    return this.classes.get(classOf(claim))
  }

  get all(): readonly PersistentVolume[] {
    return [...this.volumes.values()]
  }
}

type ClaimName = Pick<PodClaim, 'name' | 'isEphemeral'>

function claimNames({ metadata, spec }: Pod): ClaimName[] {
  return (spec?.volumes ?? []).flatMap<ClaimName>(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim !== undefined
      ? [{ name: persistentVolumeClaim.claimName ?? '', isEphemeral: false }]
      : ephemeral !== undefined
        ? [{ name: `${metadata.name}-${name}`, isEphemeral: true }]
        : [],
  )
}
