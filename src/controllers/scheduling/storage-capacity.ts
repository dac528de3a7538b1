/**
 * How large a new volume of a class may be on a node, where the CSI driver of the class publishes that (its CSIDriver's
 * `storageCapacity`, and CSIStorageCapacities).
 */
import type { PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { CSIDriver, CSIStorageCapacity, StorageClass } from '../../api/storage/v1.ts'
import { Quantity } from '../../schema/quantity.ts'
import type { LabelRequirement } from '../../storage/selectors/selection.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import type { Clientset } from '../client/clientset.ts'
import { typedResource } from '../client/clientset.ts'
import { storageOf } from '../volumes/matching.ts'
import { requirementsOf } from '../workloads/pods/pod-control.ts'
import type { NodeState } from './node-state.ts'

const DRIVERS = typedResource<CSIDriver & KubeObject>('storage.k8s.io', 'csidrivers')
const CAPACITIES = typedResource<CSIStorageCapacity & KubeObject>('storage.k8s.io', 'csistoragecapacities')

interface Segment {
  readonly nodes: readonly LabelRequirement[]
  readonly most: number
}

export class StorageCapacity {
  /** By the name of the class. */
  private readonly segments = new Map<string, Segment[]>()

  private constructor(private readonly publishing: ReadonlySet<string>) {}

  /** @param classes of claims that may get a new volume */
  static async of(classes: Iterable<StorageClass | undefined>, clients: Clientset): Promise<StorageCapacity> {
    const publishing = new Set<string>()
    for (const provisioner of new Set([...classes].map((one) => one?.provisioner ?? ''))) {
      const driver = provisioner === '' ? undefined : await clients.resource(DRIVERS).get(provisioner)
      if (driver?.spec?.storageCapacity === true) publishing.add(provisioner)
    }
    const capacity = new StorageCapacity(publishing)
    if (publishing.size > 0) for await (const one of clients.resource(CAPACITIES).each()) capacity.add(one)
    return capacity
  }

  private add({ storageClassName = '', nodeTopology, capacity, maximumVolumeSize }: CSIStorageCapacity): void {
    const most = Quantity.tryParse(maximumVolumeSize ?? capacity ?? '')
    if (nodeTopology === undefined || most === undefined) return
    const known = this.segments.get(storageClassName) ?? []
    known.push({ nodes: requirementsOf(nodeTopology), most: most.value() })
    this.segments.set(storageClassName, known)
  }

  /** Comparisons to find out what a node has for all classes. */
  get weight(): number {
    let weight = 0
    for (const segments of this.segments.values()) weight += segments.length
    return weight
  }

  /** For the claims of one pod on one node: looks at the segments of each class once. */
  on({ labels }: NodeState): (claim: PersistentVolumeClaim, storageClass: StorageClass | undefined) => boolean {
    const most = new Map<string, number>()
    const mostOf = (className: string): number => {
      let largest = -1
      for (const segment of this.segments.get(className) ?? [])
        if (segment.most > largest && matchesLabels(segment.nodes, labels)) largest = segment.most
      return largest
    }
    return (claim, storageClass) => {
      if (!this.publishing.has(storageClass?.provisioner ?? '')) return true
      const requests = claim.spec?.resources?.requests
      if (requests?.['storage'] === undefined) return true
      const className = storageClass?.metadata.name ?? ''
      const largest = most.get(className) ?? mostOf(className)
      most.set(className, largest)
      return storageOf(requests).value() <= largest
    }
  }
}
