/** maxSurge and maxUnavailable of a Deployment, and the sizes of its ReplicaSets. */
import type { Deployment, ReplicaSet } from '../../../api/apps/v1.ts'
import type { IntOrString } from '../../../api/util/intstr.ts'
import { ownValue } from '../../../base/own.ts'

export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'

/** The value of a number, or of a percentage of `total`. */
export function scaled(value: IntOrString | undefined, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1]
  return percent === undefined ? 0 : round((Number(percent) * total) / 100)
}

export const isRollingUpdate = ({ spec }: Deployment): boolean => spec?.strategy?.type === 'RollingUpdate'

export const replicasOf = ({ spec }: Deployment | ReplicaSet): number => spec?.replicas ?? 1

/** The limits of a rollout. They are never both 0, because the rollout would not progress. */
function limits(deployment: Deployment): { surge: number; unavailable: number } {
  const { maxSurge, maxUnavailable } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = scaled(maxSurge, replicasOf(deployment), Math.ceil)
  const unavailable = scaled(maxUnavailable, replicasOf(deployment), Math.floor)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

export const maxSurge = (deployment: Deployment): number => (isRollingUpdate(deployment) ? limits(deployment).surge : 0)

export function maxUnavailable(deployment: Deployment): number {
  if (!isRollingUpdate(deployment)) return 0
  return Math.min(limits(deployment).unavailable, replicasOf(deployment))
}

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas'

export const sumOfStatus = (sets: readonly ReplicaSet[], count: Count): number =>
  sets.reduce((sum, { status }) => sum + (status?.[count] ?? 0), 0)

/** Undefined where a ReplicaSet that its controller has looked at does not say how many of its pods are terminating. */
export function sumOfTerminating(sets: readonly ReplicaSet[]): number | undefined {
  const statuses = sets.map(({ status }) => status ?? {}).filter(({ observedGeneration }) => observedGeneration)
  if (statuses.some(({ terminatingReplicas }) => terminatingReplicas === undefined)) return undefined
  return statuses.reduce((sum, { terminatingReplicas = 0 }) => sum + terminatingReplicas, 0)
}

export const sumOfReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, set) => sum + replicasOf(set), 0)

/** The size of the new ReplicaSet beside the others. */
export function newReplicas(deployment: Deployment, sets: readonly ReplicaSet[], current: number): number {
  if (!isRollingUpdate(deployment)) return replicasOf(deployment)
  const surge = scaled(deployment.spec?.strategy?.rollingUpdate?.maxSurge, replicasOf(deployment), Math.ceil)
  const room = replicasOf(deployment) + surge - sumOfReplicas(sets)
  return room <= 0 ? current : current + Math.min(room, replicasOf(deployment) - current)
}

export const olderFirst = (a: ReplicaSet, b: ReplicaSet): number =>
  compareTexts(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
  compareTexts(a.metadata.name, b.metadata.name)

const compareTexts = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The sizes of ReplicaSets of a Deployment that was scaled in the middle of a rollout: each grows or shrinks in
 * proportion, and the largest takes the rest.
 */
export function shares(deployment: Deployment, active: readonly ReplicaSet[]): [ReplicaSet, number][] {
  const allowed = replicasOf(deployment) > 0 ? replicasOf(deployment) + maxSurge(deployment) : 0
  const toAdd = allowed - sumOfReplicas(active)
  const byAge = toAdd > 0 ? (a: ReplicaSet, b: ReplicaSet) => olderFirst(b, a) : olderFirst
  const sorted = toAdd === 0 ? [...active] : active.toSorted((a, b) => replicasOf(b) - replicasOf(a) || byAge(a, b))
  let added = 0
  const sizes = sorted.map((set): [ReplicaSet, number] => {
    const part = proportion(deployment, set, toAdd, added)
    added += part
    return [set, replicasOf(set) + part]
  })
  if (toAdd !== 0 && sizes[0] !== undefined) sizes[0][1] = Math.max(0, sizes[0][1] + toAdd - added)
  return sizes
}

function proportion(deployment: Deployment, set: ReplicaSet, toAdd: number, added: number): number {
  if (replicasOf(set) === 0 || toAdd === 0 || toAdd === added) return 0
  const fraction = fractionOf(deployment, set)
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added)
}

function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  if (replicasOf(deployment) === 0) return -replicasOf(set)
  const before = countAnnotation(set, MAX_REPLICAS) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  const size = (replicasOf(set) * (replicasOf(deployment) + maxSurge(deployment))) / before
  return Math.floor(size + 0.5) - replicasOf(set)
}

/** A 32-bit count in an annotation; undefined for other text. */
function countAnnotation({ metadata }: ReplicaSet, key: string): number | undefined {
  const text = ownValue(metadata.annotations, key)
  const count = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
  return count !== undefined && count < 2 ** 31 ? count : undefined
}

/** Whether the Deployment's size changed: an annotation of a ReplicaSet still has another size. */
export const wasScaled = (deployment: Deployment, active: readonly ReplicaSet[]): boolean =>
  active.some((set) => (countAnnotation(set, DESIRED_REPLICAS) ?? replicasOf(deployment)) !== replicasOf(deployment))

export const isSaturated = (deployment: Deployment, set: ReplicaSet | undefined): boolean =>
  set !== undefined &&
  replicasOf(set) === replicasOf(deployment) &&
  countAnnotation(set, DESIRED_REPLICAS) === replicasOf(deployment) &&
  set.status?.availableReplicas === replicasOf(deployment)
