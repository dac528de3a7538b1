/** NodeVolumeLimits: whether a node may have the volumes of a pod in addition to those that it has. */
import type { Cycle, FilterPlugin } from '../framework.ts'
import { forNow } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import type { CsiVolume, VolumeLimits } from '../volume-limits.ts'

/** The volumes that the pod needs. A claim without a volume counts for the driver that will make its volume. */
function wantedBy({ pod, info, volumes }: Cycle, limits: VolumeLimits): readonly CsiVolume[] {
  return volumes.claimsOf(pod).flatMap(({ name, claim }) => {
    if (claim === undefined) return []
    const key = `${info.namespace}/${name}`
    const known = limits.ofClaim(key)
    if (known !== undefined || claim.spec?.volumeName) return known ?? []
    const driver = volumes.storageClass(claim)?.provisioner ?? ''
    return driver === '' ? [] : [{ driver, id: `${driver} for ${key}` }]
  })
}

/** The volumes of the node by id, so that each counts once. */
function volumesOn(node: NodeState, limits: VolumeLimits): ReadonlyMap<string, CsiVolume> {
  const ofPods = [...node.pods.values()].flatMap(({ namespace, claims }) =>
    claims.flatMap((claim) => limits.ofClaim(`${namespace}/${claim}`) ?? []),
  )
  return new Map([...ofPods, ...limits.attachedTo(node.name)].map((volume) => [volume.id, volume]))
}

export const nodeVolumeLimits: FilterPlugin = {
  name: 'NodeVolumeLimits',
  begin(cycle) {
    const { limits } = cycle.volumes
    if (limits === undefined) return undefined
    const wanted = wantedBy(cycle, limits)
    if (wanted.length === 0) return undefined
    const refusal = forNow('node(s) exceed max volume count')
    return {
      refuses(node) {
        const most = limits.on(node.name)
        if (most === undefined) return undefined
        const known = volumesOn(node, limits)
        const added = new Map(wanted.filter(({ id }) => !known.has(id)).map((volume) => [volume.id, volume]))
        const all = [...known.values(), ...added.values()]
        const isTooMuch = [...added.values()].some(
          // few: the volumes of one pod
          ({ driver }) => all.filter((volume) => volume.driver === driver).length > (most.get(driver) ?? Infinity),
        )
        return isTooMuch ? refusal : undefined
      },
    }
  },
}
