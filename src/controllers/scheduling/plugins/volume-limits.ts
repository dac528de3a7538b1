/** Whether a node may have the volumes of a pod beside those that it has: NodeVolumeLimits. */
import type { Cycle, FilterPlugin } from '../framework.ts'
import { forNow } from '../framework.ts'
import type { NodeState } from '../node-state.ts'
import type { CsiVolume, VolumeLimits } from '../volume-limits.ts'

/** A claim without a volume counts as one of the driver that will make it. */
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

/** Each volume once, by its id. */
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
