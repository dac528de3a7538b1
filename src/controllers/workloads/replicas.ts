/** Plans the pods of a ReplicaSet without writing anything (kube-controller-manager's replicaset). */
import { leastOf } from '../../base/extremes.ts'
import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../api/apps/v1.ts'
import type { Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { eachPart, kept } from '../../base/parts.ts'
import { PLANNED } from '../work/in-turns.ts'
import { compareForDeletion, isAvailable, isReady, untilAvailable } from './pods/pod-state.ts'

/** Pods that one reconciliation creates or deletes. */
export const BURST = 500

/**
 * Chooses `count` pods to delete.
 * @param related the pods of all ReplicaSets of the same owner: pods on a node with many of them go first
 * @param costs whether the costs in their annotations count
 */
export function podsToDelete(
  pods: readonly Pod[],
  related: readonly Pod[],
  count: number,
  now: Date,
  costs: boolean,
): readonly Pod[] {
  if (count >= pods.length) return pods
  const perNode = new Map<string, number>()
  for (const pod of related) {
    const node = pod.spec?.nodeName ?? ''
    if (isReady(pod)) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  }
  return pods
    .map((pod) => ({ pod, rank: perNode.get(pod.spec?.nodeName ?? '') ?? 0 }))
    .sort(compareForDeletion(now, costs))
    .slice(0, count)
    .map(({ pod }) => pod)
}

/** @param failure why pods could not be created or deleted */
export function replicaSetStatus(
  set: ReplicaSet,
  { active, leaving }: { readonly active: readonly Pod[]; readonly leaving: readonly Pod[] | undefined },
  failure: string | undefined,
  now: Date,
  time: string,
): ReplicaSetStatus {
  const wanted = Object.entries(set.spec?.template?.metadata?.labels ?? {})
  // few: the labels of one template
  const isLabeled = ({ metadata }: Pod) => wanted.every(([key, value]) => ownValue(metadata.labels, key) === value)
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const count = kept(active, () => ({ labeled: 0, ready: 0, available: 0 }))
  const look = (pod: Pod): void => {
    if (isLabeled(pod)) count.labeled++
    if (isReady(pod)) count.ready++
    if (isAvailable(pod, minReadySeconds, now)) count.available++
  }
  eachPart(active, look, PLANNED)
  const { terminatingReplicas: _, ...status } = set.status ?? {}
  return {
    ...status,
    replicas: active.length,
    fullyLabeledReplicas: count.labeled,
    readyReplicas: count.ready,
    availableReplicas: count.available,
    ...(leaving === undefined ? {} : { terminatingReplicas: leaving.length }),
    observedGeneration: set.metadata.generation ?? 0,
    ...withFailure(set, active.length, failure, time),
  }
}

function withFailure(
  { spec, status }: ReplicaSet,
  count: number,
  failure: string | undefined,
  time: string,
): { conditions?: ReplicaSetCondition[] } {
  const others = (status?.conditions ?? []).filter(({ type }) => type !== 'ReplicaFailure')
  const known = status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  if (failure === undefined) return known === undefined ? {} : { conditions: others }
  if (known !== undefined) return {}
  const reason = count < (spec?.replicas ?? 1) ? 'FailedCreate' : 'FailedDelete'
  return {
    conditions: [
      ...others,
      { type: 'ReplicaFailure', status: 'True', lastTransitionTime: time, reason, message: failure },
    ],
  }
}

/** Milliseconds until the next ready pod is available. */
export function untilNextAvailable(pods: readonly Pod[], minReadySeconds: number, now: Date): number | undefined {
  const waits = pods.flatMap((pod) => untilAvailable(pod, minReadySeconds, now) || [])
  return waits.length === 0 ? undefined : leastOf(waits)
}
