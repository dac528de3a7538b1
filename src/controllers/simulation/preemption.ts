/**
 * Which pods the kubelet of a simulated node ends to make room for a critical pod (the kubelet's CriticalPodAdmission):
 * as few Guaranteed pods as possible, then as few Burstable ones, then BestEffort ones.
 */
import { addTo } from '../../base/lookup.ts'
import type { Pod, PodCondition, PodStatus } from '../../api/core/v1.ts'
import { timeText } from '../../schema/time.ts'
import type { NodeUse, PodUse } from './node-use.ts'

/** The missing amount of one resource, in the scheduler's units. */
export interface Shortage {
  readonly resource: string
  readonly missing: number
}

/**
 * The most comparisons for one QoS class. On nodes with thousands of pods the kubelet ends further
 * victims in the order in which they came.
 */
const MOST_COMPARED = 200_000

/** The resource that counts pods: each pod needs one. */
export const PODS = 'pods'
const CRITICAL_PRIORITY = 2_000_000_000

export const isCritical = ({ priority }: PodUse): boolean => priority >= CRITICAL_PRIORITY

interface Candidate {
  readonly key: string
  readonly use: PodUse
}

/** @returns NAMESPACE/NAME of the victims, or in a kubelet's words why there are none */
export function victimsFor(use: PodUse, shortages: readonly Shortage[], others: NodeUse): readonly string[] | string {
  const classes = new Map<string, Candidate[]>()
  for (const [key, other] of others.entries()) {
    if (isCritical(other) && other.priority >= use.priority) continue
    addTo(classes, other.qosClass, { key, use: other })
  }
  const of = (name: string): readonly Candidate[] => classes.get(name) ?? []
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')]
  const unmet = without(without(without(shortages, bestEffort), burstable), guaranteed)
  if (unmet.length > 0) {
    const list = unmet.map(({ resource, missing }) => `(res: ${resource}, q: ${missing}), `).join('')
    return `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [${list}]`
  }
  // each class is chosen as if all pods of lower classes were gone, so that few pods of higher classes end
  const first = nearest(guaranteed, without(without(shortages, bestEffort), burstable))
  const second = nearest(burstable, without(without(shortages, bestEffort), first))
  const last = nearest(bestEffort, without(without(shortages, second), first))
  return [...last, ...second, ...first].map(({ key }) => key)
}

const amountOf = ({ needs }: PodUse, resource: string): number => (resource === PODS ? 1 : (needs.get(resource) ?? 0))

/** The shortages that remain when these pods are gone. */
function without(shortages: readonly Shortage[], gone: readonly Candidate[]): readonly Shortage[] {
  return shortages.flatMap(({ resource, missing }) => {
    const left = gone.reduce((sum, { use }) => sum - amountOf(use, resource), missing)
    return left > 0 ? [{ resource, missing: left }] : []
  })
}

/** Chooses pods one by one: always the pod that leaves the smallest shortage, and of equal ones the smaller. */
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

/** The shortage that remains without the pod, as a sum of squared shares: each resource has the same weight. */
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

/** @param status the status of the pod after its containers ended */
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
