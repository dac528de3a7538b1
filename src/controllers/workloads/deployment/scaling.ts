/** Scales a Deployment's ReplicaSets during a rollout, and after a change of the Deployment's size. */
import type { ReplicaSet } from '../../../api/apps/v1.ts'
import type { Deployment } from '../../../api/apps/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { ownValue } from '../../../base/own.ts'
import type { Rollout } from './deployment.ts'
import {
  isRollingUpdate,
  isSaturated,
  maxUnavailable,
  newReplicas,
  olderFirst,
  replicasOf,
  shares,
  sumOfReplicas,
  sumOfStatus,
  wasScaled,
} from './numbers.ts'
import { sizeAnnotations } from './revisions.ts'

const active = (sets: readonly ReplicaSet[]): ReplicaSet[] => sets.filter((set) => replicasOf(set) > 0)

export const isScaledByHand = (deployment: Deployment, sets: readonly ReplicaSet[]): boolean =>
  wasScaled(deployment, active(sets))

/** @returns whether the size changed */
async function scaleReplicaSet(rollout: Rollout, set: ReplicaSet, size: number): Promise<boolean> {
  const { deployment, sets, events } = rollout
  const before = replicasOf(set)
  const wanted = sizeAnnotations(deployment)
  const isAnnotated = Object.entries(wanted).every(([key, value]) => ownValue(set.metadata.annotations, key) === value)
  if (before === size && isAnnotated) return false
  const changed = cloneJson(set)
  changed.metadata.annotations = { ...changed.metadata.annotations, ...wanted }
  changed.spec = { ...changed.spec, replicas: size }
  const { metadata, spec } = await sets.update(changed)
  // the rest of this reconciliation uses the new object
  set.metadata = metadata
  if (spec !== undefined) set.spec = spec
  if (before === size) return false
  const direction = before < size ? 'up' : 'down'
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`
  await events.normal(deployment, 'ScalingReplicaSet', message)
  return true
}

/**
 * Scales the only ReplicaSet with pods to the Deployment's size, or shares the size among several with pods.
 * @param size a size for each ReplicaSet instead
 */
export async function scaleAll(
  rollout: Rollout,
  old: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
  size?: number,
): Promise<void> {
  const { deployment } = rollout
  const all = current === undefined ? [...old] : [...old, current]
  if (size !== undefined) {
    for (const set of all) await resize(rollout, set, size)
    return
  }
  const running = active(all)
  const only = running.length === 0 ? (current ?? old.toSorted((a, b) => olderFirst(b, a))[0]) : running[0]
  if (running.length < 2) {
    if (only !== undefined) await resize(rollout, only, replicasOf(deployment))
    return
  }
  if (isSaturated(deployment, current)) {
    for (const set of active(old)) await resize(rollout, set, 0)
    return
  }
  if (!isRollingUpdate(deployment)) return
  for (const [set, share] of shares(deployment, running)) await scaleReplicaSet(rollout, set, share)
}

/** Scales a ReplicaSet, and writes nothing where it has the size. */
const resize = async (rollout: Rollout, set: ReplicaSet, size: number): Promise<boolean> =>
  replicasOf(set) === size ? false : scaleReplicaSet(rollout, set, size)

/** Does one step of a rolling update. @returns whether it changed a size */
export async function reconcileRolling(
  rollout: Rollout,
  old: readonly ReplicaSet[],
  current: ReplicaSet,
): Promise<boolean> {
  const { deployment } = rollout
  const wanted = replicasOf(deployment)
  const all = [...old, current]
  if (replicasOf(current) !== wanted) {
    const size = replicasOf(current) > wanted ? wanted : newReplicas(deployment, all, replicasOf(current))
    if (await resize(rollout, current, size)) return true
  }
  const running = active(old).sort(olderFirst)
  const least = wanted - maxUnavailable(deployment)
  const unavailable = replicasOf(current) - (current.status?.availableReplicas ?? 0)
  const room = sumOfReplicas(all) - least - unavailable
  if (running.length === 0 || room <= 0 || running.some(isBehind)) return false
  const cleaned = await removeUnhealthy(rollout, running, room)
  const removed = await removeOld(rollout, running, sumOfStatus(all, 'availableReplicas') - least)
  return cleaned + removed > 0
}

/** Whether its status counts pods that are already being deleted: then the next status decides how many more may go. */
const isBehind = (set: ReplicaSet): boolean => (set.status?.availableReplicas ?? 0) > replicasOf(set)

/** Removes unavailable pods first. */
async function removeUnhealthy(rollout: Rollout, running: readonly ReplicaSet[], most: number): Promise<number> {
  let removed = 0
  for (const set of running) {
    const unhealthy = replicasOf(set) - (set.status?.availableReplicas ?? 0)
    const count = Math.min(most - removed, unhealthy)
    if (count <= 0) continue
    await resize(rollout, set, replicasOf(set) - count)
    removed += count
  }
  return removed
}

async function removeOld(rollout: Rollout, running: readonly ReplicaSet[], most: number): Promise<number> {
  let removed = 0
  for (const set of running) {
    const count = Math.min(replicasOf(set), most - removed)
    if (count <= 0) continue
    await resize(rollout, set, replicasOf(set) - count)
    removed += count
  }
  return removed
}
