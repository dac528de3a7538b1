/** Facts that controllers read from a pod (kube-controller-manager's controller_utils and podutil). */
import { mostOf } from '../../../base/extremes.ts'
import type { Pod, PodCondition } from '../../../api/core/v1.ts'
import { ownValue } from '../../../base/own.ts'
import { isFinished } from '../../../registry/core/pods/pod-conditions.ts'

export { isFinished }

export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

/** Whether a pod is neither finished nor being deleted. */
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod)

/** Whether a pod is being deleted and not finished yet. */
export const isLeaving = (pod: Pod): boolean => isTerminating(pod) && !isFinished(pod)

export const podCondition = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

export const isReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True'

/** When the pod became ready, in milliseconds since 1970; 0: nobody knows; undefined where it is not ready. */
export function readySince(pod: Pod): number | undefined {
  const condition = podCondition(pod, 'Ready')
  if (condition?.status !== 'True') return undefined
  return condition.lastTransitionTime === undefined ? 0 : Date.parse(condition.lastTransitionTime)
}

/**
 * Milliseconds until the pod has been ready for minReadySeconds: 0 where it has, undefined where it is not ready or
 * nobody knows since when.
 */
export function untilAvailable(pod: Pod, minReadySeconds: number, now: Date): number | undefined {
  const since = readySince(pod)
  if (since === undefined) return undefined
  if (minReadySeconds === 0) return 0
  return since === 0 ? undefined : Math.max(0, since + minReadySeconds * 1000 - now.getTime())
}

export const isAvailable = (pod: Pod, minReadySeconds: number, now: Date): boolean =>
  untilAvailable(pod, minReadySeconds, now) === 0

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** The number in the annotation; 0 for other text. */
function deletionCost({ metadata }: Pod): number {
  const text = ownValue(metadata.annotations, DELETION_COST)
  return text !== undefined && /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0
}

/** The names of the sidecars: init containers that run beside the containers. */
export const sidecarNames = ({ spec }: Pod): ReadonlySet<string> =>
  new Set(spec?.initContainers?.flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name ?? ''] : [])))

function mostRestarts(pod: Pod): [containers: number, sidecars: number] {
  const sidecars = sidecarNames(pod)
  const counts = (statuses: readonly { name?: string; restartCount?: number }[] = []) =>
    mostOf(
      statuses.map(({ restartCount = 0 }) => restartCount),
      0,
    )
  const { containerStatuses, initContainerStatuses = [] } = pod.status ?? {}
  return [counts(containerStatuses), counts(initContainerStatuses.filter(({ name = '' }) => sidecars.has(name)))]
}

/** The power of two of an age in nanoseconds, so that similar ages are equal. */
const magnitude = (milliseconds: number): number =>
  milliseconds > 0 ? Math.trunc(Math.log2(milliseconds * 1_000_000)) : -1

export interface Ranked {
  readonly pod: Pod
  /** The number of related ready pods on its node. */
  readonly rank: number
}

/** The values by which pods are compared. They are read once, because thousands of pods are compared often. */
class Standing {
  readonly nodeName: string
  readonly phase: number
  readonly ready: number | undefined
  readonly cost: number
  private restarts: readonly [containers: number, sidecars: number] | undefined

  constructor(private readonly pod: Pod) {
    this.nodeName = pod.spec?.nodeName ?? ''
    this.phase = ownValue(phases, pod.status?.phase ?? '') ?? 0
    this.ready = readySince(pod)
    this.cost = deletionCost(pod)
  }

  get mostRestarts(): readonly [containers: number, sidecars: number] {
    return (this.restarts ??= mostRestarts(this.pod))
  }

  get created(): number {
    return Date.parse(this.pod.metadata.creationTimestamp ?? '')
  }
}

function standings(): (pod: Pod) => Standing {
  const known = new Map<Pod, Standing>()
  return (pod) => {
    let standing = known.get(pod)
    if (standing === undefined) known.set(pod, (standing = new Standing(pod)))
    return standing
  }
}

/** Compares how far the pods have come: pods without a node first, then those that do not run, then those not ready. */
function compareProgress(a: Standing, b: Standing): number {
  if (a.nodeName !== b.nodeName && (a.nodeName === '' || b.nodeName === '')) return a.nodeName === '' ? -1 : 1
  if (a.phase !== b.phase) return a.phase - b.phase
  if ((a.ready === undefined) === (b.ready === undefined)) return 0
  return a.ready === undefined ? -1 : 1
}

/** Pods that restarted more often first. */
function compareRestarts(a: Standing, b: Standing): number {
  const [[regularA, sidecarA], [regularB, sidecarB]] = [a.mostRestarts, b.mostRestarts]
  return regularB - regularA || sidecarB - sidecarA
}

/**
 * Sorts pods that a Job deletes first to the front. Unlike a ReplicaSet it compares exact times, and knows neither costs
 * nor ranks.
 */
export function compareForJob(): (a: Pod, b: Pod) => number {
  const standingOf = standings()
  // an unknown time counts as the latest
  const laterFirst = (a: number, b: number): number => (a === b ? 0 : a === 0 ? -1 : b === 0 ? 1 : b - a)
  return (podA, podB) => {
    const [a, b] = [standingOf(podA), standingOf(podB)]
    return (
      compareProgress(a, b) ||
      laterFirst(a.ready ?? 0, b.ready ?? 0) ||
      compareRestarts(a, b) ||
      laterFirst(a.created || 0, b.created || 0)
    )
  }
}

/**
 * Sorts pods that scaling down a ReplicaSet deletes first to the front.
 * @param costs whether the costs in their annotations count
 */
export function compareForDeletion(now: Date, costs: boolean): (a: Ranked, b: Ranked) => number {
  const age = (at: number) => magnitude(now.getTime() - at)
  const standingOf = standings()
  return ({ pod: podA, rank: rankA }, { pod: podB, rank: rankB }) => {
    const [a, b] = [standingOf(podA), standingOf(podB)]
    const progress = compareProgress(a, b)
    if (progress !== 0) return progress
    const [readyA, readyB] = [a.ready, b.ready]
    if (costs && a.cost !== b.cost) return a.cost - b.cost
    if (rankA !== rankB) return rankB - rankA
    const byUid = (podA.metadata.uid ?? '') < (podB.metadata.uid ?? '') ? -1 : 1
    if (readyA !== undefined && readyB !== undefined && readyA !== readyB) {
      if (readyA === 0 || readyB === 0) return readyA === 0 ? -1 : 1
      return age(readyA) - age(readyB) || byUid
    }
    const restarts = compareRestarts(a, b)
    if (restarts !== 0) return restarts
    const [createdA, createdB] = [a.created, b.created]
    return createdA === createdB ? 0 : age(createdA) - age(createdB) || byUid
  }
}
