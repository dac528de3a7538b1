/**
 * Which pods the kubelet of a simulated node ends so that a critical one finds room (kubelet's CriticalPodAdmission): as
 * few Guaranteed ones as possible, then as few Burstable ones, then BestEffort ones.
 */
import type { Pod, PodCondition, PodStatus } from '../../api/core/v1.ts'
import { timeText } from '../../schema/time.ts'
import type { NodeUse, PodUse } from './node-use.ts'

/** Of one resource, as amounts are counted for scheduling. */
export interface Shortage {
  readonly resource: string
  readonly missing: number
}

/** Pods that are compared for one class: on nodes with thousands of pods the rest go in the order in which they came. */
const MOST_COMPARED = 200_000

/** The resource of which each pod needs one. */
export const PODS = 'pods'
const CRITICAL_PRIORITY = 2_000_000_000

export const isCritical = ({ priority }: PodUse): boolean => priority >= CRITICAL_PRIORITY

interface Candidate {
  readonly key: string
  readonly use: PodUse
}

/** @returns NAMESPACE/NAME, or why there are none: in a kubelet's words */
export function victimsFor(use: PodUse, shortages: readonly Shortage[], others: NodeUse): readonly string[] | string {
  const classes = new Map<string, Candidate[]>()
  for (const [key, other] of others.entries()) {
    if (isCritical(other) && other.priority >= use.priority) continue
    const known = classes.get(other.qosClass)
    if (known === undefined) classes.set(other.qosClass, [{ key, use: other }])
    else known.push({ key, use: other })
  }
  const of = (name: string): readonly Candidate[] => classes.get(name) ?? []
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')]
  const unmet = without(without(without(shortages, bestEffort), burstable), guaranteed)
  if (unmet.length > 0) {
    const list = unmet.map(({ resource, missing }) => `(res: ${resource}, q: ${missing}), `).join('')
    return `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${list}]`
  }
  // each class as though all below it were gone: so of the best ones as few as possible go
  const first = nearest(guaranteed, without(without(shortages, bestEffort), burstable))
  const second = nearest(burstable, without(without(shortages, bestEffort), first))
  const last = nearest(bestEffort, without(without(shortages, second), first))
  return [...last, ...second, ...first].map(({ key }) => key)
}

const amountOf = ({ needs }: PodUse, resource: string): number => (resource === PODS ? 1 : (needs.get(resource) ?? 0))

/** What is still missing when these are gone. */
function without(shortages: readonly Shortage[], gone: readonly Candidate[]): readonly Shortage[] {
  return shortages.flatMap(({ resource, missing }) => {
    const left = gone.reduce((sum, { use }) => sum - amountOf(use, resource), missing)
    return left > 0 ? [{ resource, missing: left }] : []
  })
}

/** One after the other: always that which leaves least missing, and of equal ones the smaller. */
function nearest(candidates: readonly Candidate[], shortages: readonly Shortage[]): readonly Candidate[] {
  const left = new Set(candidates)
  const chosen: Candidate[] = []
  let compared = 0
  for (let missing = shortages; missing.length > 0 && left.size > 0;) {
    let best: Candidate | undefined
    let least = Infinity
    for (const candidate of left) {
      if (compared++ >= MOST_COMPARED && best !== undefined) break
      const distance = distanceOf(missing, candidate.use)
      if (distance < least || (distance === least && best !== undefined && isSmaller(candidate.use, best.use))) {
        best = candidate
        least = distance
      }
    }
    if (best === undefined) break
    left.delete(best)
    chosen.push(best)
    missing = without(missing, [best])
  }
  return chosen
}

/** By the parts that stay missing: each resource weighs the same. */
const distanceOf = (shortages: readonly Shortage[], use: PodUse): number =>
  shortages.reduce((sum, { resource, missing }) => {
    const left = missing - amountOf(use, resource)
    return left > 0 ? sum + (left / missing) ** 2 : sum
  }, 0)

function isSmaller(a: PodUse, b: PodUse): boolean {
  const [ofA, ofB] = [amountOf(a, 'memory'), amountOf(b, 'memory')]
  return ofA === ofB ? amountOf(a, 'cpu') <= amountOf(b, 'cpu') : ofA < ofB
}

export const PREEMPTED = { reason: 'Preempting', message: 'Preempted in order to admit critical pod' } as const

/** @param status as the pod ends */
export function preemptedStatus({ metadata: { generation } }: Pod, status: PodStatus, now: Date): PodStatus {
  const target: PodCondition = {
    type: 'DisruptionTarget',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    status: 'True',
    lastTransitionTime: timeText(now),
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  }
  const others = (status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget')
  return { ...status, ...PREEMPTED, phase: 'Failed', conditions: [...others, target] }
}
