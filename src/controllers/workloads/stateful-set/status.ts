/** Computes a StatefulSet's status from its pods. */
import type { StatefulSet, StatefulSetStatus } from '../../../api/apps/v1.ts'
import type { Pod } from '../../../api/core/v1.ts'
import { isAvailable, isTerminating } from '../pods/pod-state.ts'
import { isRunningAndReady, podRevision } from './pods.ts'
import type { Revisions } from './revisions.ts'

/** @param leaving the number of pods of the current revision that this reconciliation deletes */
export function statefulSetStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update, collisionCount }: Revisions,
  leaving: number,
  now: Date,
): StatefulSetStatus {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0
  const ready = pods.filter(isRunningAndReady)
  const staying = pods.filter((pod) => !isTerminating(pod)).map(podRevision)
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    currentReplicas: staying.filter((name) => name === current.metadata.name).length - leaving,
    updatedReplicas: staying.filter((name) => name === update.metadata.name).length,
    currentRevision: current.metadata.name ?? '',
    updateRevision: update.metadata.name ?? '',
    collisionCount,
  }
  return isRolledOut(set, status)
    ? { ...status, currentReplicas: status.updatedReplicas, currentRevision: status.updateRevision }
    : status
}

function isRolledOut({ spec }: StatefulSet, { updatedReplicas, readyReplicas, replicas }: StatefulSetStatus): boolean {
  const wanted = spec?.replicas ?? 1
  const isRolling = spec?.updateStrategy?.type === 'RollingUpdate'
  return isRolling && updatedReplicas === wanted && readyReplicas === wanted && replicas === wanted
}

const counted = [
  'replicas',
  'currentReplicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
] as const satisfies readonly (keyof StatefulSetStatus)[]

/** Whether to write the status: only these fields are compared. */
export const isNews = (wanted: StatefulSetStatus, known: StatefulSetStatus = {}): boolean =>
  (wanted.observedGeneration ?? 0) > (known.observedGeneration ?? 0) ||
  wanted.currentRevision !== known.currentRevision ||
  wanted.updateRevision !== known.updateRevision ||
  // own keys: `counted` names them
  counted.some((count) => (wanted[count] ?? 0) !== (known[count] ?? 0))
