/**
 * How many volumes of a CSI driver a node may have (its CSINode), and which it has. It reads volumes only if some node
 * has a limit.
 */
import { addTo } from '../../base/lookup.ts'
import type { PersistentVolume } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { CSINode, VolumeAttachment } from '../../api/storage/v1.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import { VOLUMES } from '../volumes/binding.ts'
import type { CsiVolume } from './csi-volume.ts'
import { csiVolumeOf } from './csi-volume.ts'

const CSI_NODES = typedResource<CSINode & KubeObject>('storage.k8s.io', 'csinodes')
const ATTACHMENTS = typedResource<VolumeAttachment & KubeObject>('storage.k8s.io', 'volumeattachments')

export class VolumeLimits {
  /** Limits by node, then by driver. */
  private readonly most = new Map<string, ReadonlyMap<string, number>>()
  private readonly byClaim = new Map<string, CsiVolume>()
  private readonly byNode = new Map<string, CsiVolume[]>()

  /** Undefined: no node has a limit. */
  static async of(clients: Clientset): Promise<VolumeLimits | undefined> {
    const limits = new VolumeLimits()
    for await (const { metadata, spec } of clients.resource(CSI_NODES).each()) {
      const counts = (spec?.drivers ?? []).flatMap(({ name = '', allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      )
      if (counts.length > 0) limits.most.set(metadata.name ?? '', new Map(counts))
    }
    if (limits.most.size === 0) return undefined
    const byName = new Map<string, CsiVolume>()
    for await (const volume of clients.resource(VOLUMES).each()) {
      const known = csiVolumeOf(volume)
      if (known === undefined) continue
      // as kube-scheduler does, it counts no attachment of a volume of a former plugin
      if (volume.spec?.csi !== undefined) byName.set(volume.metadata.name ?? '', known)
      const { namespace, name } = volume.spec?.claimRef ?? {}
      const claim = `${namespace}/${name}`
      // other volumes may be reserved for a claim of this name, or were those of an earlier one
      if (name && (isBound(volume) || !limits.byClaim.has(claim))) limits.byClaim.set(claim, known)
    }
    for await (const { spec } of clients.resource(ATTACHMENTS).each()) {
      const known = byName.get(spec?.source?.persistentVolumeName ?? '')
      const { nodeName = '' } = spec ?? {}
      if (known !== undefined) addTo(limits.byNode, nodeName, known)
    }
    return limits
  }

  /** Limits by driver; undefined: none. */
  on(node: string): ReadonlyMap<string, number> | undefined {
    return this.most.get(node)
  }

  attachedTo(node: string): readonly CsiVolume[] {
    return this.byNode.get(node) ?? []
  }

  /** @param claim NAMESPACE/NAME */
  ofClaim(claim: string): CsiVolume | undefined {
    return this.byClaim.get(claim)
  }
}

const isBound = ({ status }: PersistentVolume): boolean => status?.phase === 'Bound'
