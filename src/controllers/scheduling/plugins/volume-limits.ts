/** NodeVolumeLimits: whether a node may have the volumes of a pod in addition to those that it has. */
import type { PersistentVolumeClaim } from '../../../api/core/v1.ts'
import type { Steps } from '../../../base/slices.ts'
import type { Cycle, FilterPlugin } from '../framework.ts'
import { forNow } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import type { VolumeFacts } from '../volume-facts.ts'
import type { VolumeLimits } from '../volume-limits.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { countingDriver, csiVolumeOf } from '../csi-volume.ts'

/** The volumes that the pod needs. */
function wantedBy({ pod, info, volumes }: Cycle): readonly CsiVolume[] {
  const wanted = new Map(info.inlineVolumes.map((volume) => [volume.id, volume]))
  for (const { claim } of volumes.claimsOf(pod)) {
    const volume = claim && wantedFor(claim, volumes)
    if (volume !== undefined) wanted.set(volume.id, volume)
  }
  return [...wanted.values()]
}

/** A claim without a volume counts for the driver that will make its volume. */
export function wantedFor(claim: PersistentVolumeClaim, volumes: VolumeFacts): CsiVolume | undefined {
  const { namespace, name } = claim.metadata
  const volume = volumes.volume(claim.spec?.volumeName ?? '')
  if (volume !== undefined) return csiVolumeOf(volume)
  const driver = countingDriver(volumes.storageClass(claim)?.provisioner ?? '')
  return driver === '' ? undefined : { driver, id: `${driver} for ${namespace}/${name}` }
}

/**
 * The volumes of a node. One that several pods use counts once, and so does one that is attached as well. kube-scheduler
 * counts one that is only attached beside a pod that wants it.
 */
class VolumesOn {
  private readonly users = new Map<string, number>()
  private readonly attached = new Set<string>()
  private readonly byDriver = new Map<string, number>()

  attach({ id, driver }: CsiVolume): void {
    if (this.attached.has(id)) return
    this.attached.add(id)
    this.byDriver.set(driver, this.of(driver) + 1)
  }

  add({ id, driver }: CsiVolume, by: 1 | -1): void {
    const before = this.users.get(id) ?? 0
    this.users.set(id, before + by)
    if (this.attached.has(id)) return
    if (before === 0 || before + by === 0) this.byDriver.set(driver, this.of(driver) + by)
  }

  has({ id }: CsiVolume): boolean {
    return (this.users.get(id) ?? 0) > 0
  }

  of(driver: string): number {
    return this.byDriver.get(driver) ?? 0
  }
}

/** The volumes of each node with limits. */
function* volumesOf(cycle: Cycle, limits: VolumeLimits): Steps<Map<NodeState, VolumesOn>> {
  const { nodes, work } = cycle
  const all = new Map<NodeState, VolumesOn>()
  for (const node of nodes) {
    if (limits.on(node.name) === undefined) continue
    const on = new VolumesOn()
    all.set(node, on)
    for (const volume of limits.attachedTo(node.name)) {
      on.attach(volume)
      if (work.isStepOver()) yield
    }
    for (const pod of node.pods.values()) {
      addVolumes(on, pod, 1, limits, cycle)
      if (work.isStepOver(1 + pod.claims.length + pod.inlineVolumes.length)) yield
    }
  }
  return all
}

function addVolumes(on: VolumesOn, pod: PodInfo, by: 1 | -1, limits: VolumeLimits, { unmade }: Cycle): void {
  const { namespace, claims, inlineVolumes } = pod
  for (const volume of inlineVolumes) on.add(volume, by)
  if (claims.length === 0) return
  const ofPod = unmade(pod)
  for (const claim of claims) {
    const volume = limits.ofClaim(`${namespace}/${claim}`) ?? ofPod?.get(claim)
    if (volume !== undefined) on.add(volume, by)
  }
}

export const nodeVolumeLimits: FilterPlugin = {
  name: 'NodeVolumeLimits',
  *begin(cycle) {
    const { limits } = cycle.volumes
    if (limits === undefined) return undefined
    const wanted = wantedBy(cycle)
    if (wanted.length === 0) return undefined
    const known = yield* volumesOf(cycle, limits)
    const refusal = forNow('node(s) exceed max volume count')
    return {
      weight: 2 * wanted.length,
      refuses(node) {
        const [most, on] = [limits.on(node.name), known.get(node)]
        if (most === undefined || on === undefined) return undefined
        const added = new Map<string, number>()
        for (const volume of wanted) if (!on.has(volume)) added.set(volume.driver, (added.get(volume.driver) ?? 0) + 1)
        for (const [driver, count] of added) if (on.of(driver) + count > (most.get(driver) ?? Infinity)) return refusal
        return undefined
      },
      moved(pod, node, by) {
        const on = known.get(node)
        if (on !== undefined) addVolumes(on, pod, by, limits, cycle)
      },
    }
  },
}
