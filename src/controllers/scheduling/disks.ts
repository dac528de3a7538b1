/** Disks that pods have without a claim, of the kinds that a node mounts for one pod. */
import type { Pod, Volume } from '../../api/core/v1.ts'

export interface Disk {
  readonly id: string
  /** Whether other pods of the node may read it, too. */
  readonly isShared: boolean
}

/** An image of several monitors is a disk of each of them. */
export const disksOf = ({ spec }: Pod): readonly Disk[] => (spec?.volumes ?? []).flatMap(disksOfVolume)

function disksOfVolume({ gcePersistentDisk, awsElasticBlockStore, iscsi, rbd }: Volume): Disk[] {
  const disk = (isShared: boolean, ...id: readonly (string | undefined)[]): Disk => ({
    id: JSON.stringify(id),
    isShared,
  })
  return [
    ...(gcePersistentDisk ? [disk(gcePersistentDisk.readOnly === true, 'gce', gcePersistentDisk.pdName)] : []),
    ...(awsElasticBlockStore ? [disk(false, 'ebs', awsElasticBlockStore.volumeID)] : []),
    ...(iscsi ? [disk(iscsi.readOnly === true, 'iscsi', iscsi.iqn)] : []),
    ...(rbd?.monitors ?? []).map((monitor) => disk(rbd?.readOnly === true, 'rbd', monitor, rbd?.pool, rbd?.image)),
  ]
}

/** Of some disks, whether each of them is shared by all that have it. */
export class Disks {
  private readonly shared = new Map<string, boolean>()

  constructor(disks: readonly Disk[]) {
    for (const { id, isShared } of disks) this.shared.set(id, (this.shared.get(id) ?? true) && isShared)
  }

  get size(): number {
    return this.shared.size
  }

  conflictsWith(disks: readonly Disk[]): boolean {
    return disks.some(({ id, isShared }) => {
      const known = this.shared.get(id)
      return known !== undefined && !(known && isShared)
    })
  }
}
