/** Which writes of pods are work for workload controllers. */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Workloads } from '../../../settings/schema.ts'
import { usageWork } from '../../autoscaling/autoscaled-work.ts'
import { podClaimsWork } from '../../resource/claim-work.ts'
import { podTaintsWork } from '../../resource/device-taint-work.ts'
import type { Topic } from '../../work/topic.ts'
import type { Change, Work, WorkloadRule } from '../../work/work.ts'
import { controllerRefOf, dependentWork, keyOf } from '../../work/work.ts'

/**
 * A key contains the pod's labels. If they have more characters than this, the key has only the namespace, and stands
 * for all its Services.
 */
const LONGEST_LABELS = 1000

/** Compares the fields of a pod that endpoints of Services depend on. */
function endpointWork({ object, old }: Change): readonly Work[] {
  const [now, before] = [object, old].map((pod: Pod | undefined) =>
    JSON.stringify([
      pod?.metadata.labels,
      pod?.metadata.deletionTimestamp === undefined,
      pod?.status?.podIPs,
      pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
      pod !== undefined && isOver(pod),
    ]),
  )
  const hasAddress = (pod: Pod | undefined) => (pod?.status?.podIPs ?? []).length > 0
  if (now === before || (!hasAddress(object) && !hasAddress(old))) return []
  return byLabels('selected-pods', object, old)
}

/**
 * Work for the objects whose selectors match the pod now, or matched it before. All pods with the same labels share one
 * key.
 */
function byLabels(topic: Topic, object: Pod | undefined, old: Pod | undefined): readonly Work[] {
  const { namespace = '' } = (object ?? old)?.metadata ?? {}
  const labels = [...new Set([object, old].flatMap((pod) => (pod === undefined ? [] : [JSON.stringify(sorted(pod))])))]
  return labels.map((text) => ({
    topic,
    payload: text.length > LONGEST_LABELS ? JSON.stringify([namespace]) : `[${JSON.stringify(namespace)},${text}]`,
  }))
}

/**
 * Compares the fields of a pod that PodDisruptionBudgets depend on. The controller also checks later whether a pod with
 * the condition DisruptionTarget was deleted.
 */
function disruptionWork({ object, old }: Change): readonly Work[] {
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const conditionOf = (one: Pod | undefined, name: string) =>
    one?.status?.conditions?.find(({ type }) => type === name)?.status
  const [now, then] = [pod, before].map((one) =>
    JSON.stringify([
      one?.metadata.labels,
      one?.metadata.deletionTimestamp === undefined,
      one?.metadata.ownerReferences,
      conditionOf(one, 'Ready'),
    ]),
  )
  const guards = now === then ? [] : byLabels('guarded-pods', pod, before)
  const isTarget = pod?.metadata.deletionTimestamp === undefined && conditionOf(pod, 'DisruptionTarget') === 'True'
  if (pod === undefined || !isTarget || conditionOf(before, 'DisruptionTarget') === 'True') return guards
  return [...guards, { topic: 'stale-disruption', payload: keyOf(pod) }]
}

const sorted = ({ metadata }: KubeObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

/** The scheduler handles a pod without a node. A pod on a node is for its kubelet, which may be simulated. */
function podsWork({ object, old }: Change, mode: Workloads): readonly Work[] {
  if (mode !== 'simulated') return []
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const scheduler: Work[] = helpsOthers(pod, before) ? [{ topic: 'scheduler', payload: '' }] : []
  if (pod === undefined || object === undefined) return scheduler
  const { nodeName } = pod.spec ?? {}
  if (nodeName) return [...scheduler, { topic: 'simulated-pods', payload: '' }]
  const waits = (pod.spec?.schedulingGates ?? []).length === 0 && pod.metadata.deletionTimestamp === undefined
  return waits && hasOtherWish(object, old) ? [{ topic: 'scheduler', payload: '' }] : scheduler
}

/**
 * Whether this change may let a pending pod fit: the pod ended, went away, or changed labels that the affinity of other
 * pods uses.
 */
function helpsOthers(pod: Pod | undefined, before: Pod | undefined): boolean {
  if (!before?.spec?.nodeName) return false
  return pod === undefined || (isOver(pod) && !isOver(before)) || hasOtherWish(pod, before)
}

/**
 * Whether the scheduler must look at the pod again. Most writes of a pod change only its status, which is no reason.
 */
const hasOtherWish = ({ metadata, status }: Pod, old: Pod | undefined): boolean =>
  old === undefined ||
  metadata.generation !== old.metadata.generation ||
  JSON.stringify([metadata.labels, status?.resourceClaimStatuses]) !==
    JSON.stringify([old.metadata.labels, old.status?.resourceClaimStatuses])

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function ephemeralWork({ object, old }: Change): readonly Work[] {
  const pod: Pod | undefined = object
  const isNew = object !== undefined && old === undefined
  return isNew && pod?.spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true
    ? [{ topic: 'ephemeral-claims', payload: keyOf(object) }]
    : []
}

/** Work after a pod gets a node, or after its tolerations change there. */
function toleranceWork({ object, old }: Change): readonly Work[] {
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const { nodeName, tolerations } = pod?.spec ?? {}
  if (!nodeName) return []
  const isSame =
    before?.spec?.nodeName === nodeName && JSON.stringify(before.spec.tolerations) === JSON.stringify(tolerations)
  return isSame ? [] : [{ topic: 'taint-eviction', payload: nodeName }]
}

/** Pods without a kubelet. A user deleted such a pod before it had a node, or made it for a node that may not exist. */
function strandedWork({ object, old }: Change): readonly Work[] {
  const pod: Pod | undefined = object
  const nodeName = pod?.spec?.nodeName
  if (pod === undefined) return []
  if (!nodeName) return pod.metadata.deletionTimestamp === undefined ? [] : [{ topic: 'pod-gc', payload: keyOf(pod) }]
  return old === undefined ? [{ topic: 'node-gone', payload: nodeName }] : []
}

/**
 * A pod keeps this finalizer until its Job has counted it. A deleted pod, or one without a controller, may have no Job
 * that counts it.
 */
function trackedWork({ object }: Change): readonly Work[] {
  if (object?.metadata.finalizers?.includes('batch.kubernetes.io/job-tracking') !== true) return []
  const isOrphan = controllerRefOf(object) === undefined
  return isOrphan || object.metadata.deletionTimestamp !== undefined
    ? [{ topic: 'job-orphan', payload: keyOf(object) }]
    : []
}

export const podWork: readonly WorkloadRule[] = [
  dependentWork,
  podsWork,
  endpointWork,
  ephemeralWork,
  disruptionWork,
  toleranceWork,
  strandedWork,
  trackedWork,
  usageWork,
  podClaimsWork,
  podTaintsWork,
]
