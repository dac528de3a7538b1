/** Which writes of pods are work for the controllers of workloads. */
import type { Pod } from '../../api/core/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Workloads } from '../../settings/schema.ts'
import { usageWork } from '../autoscaling/autoscaled-work.ts'
import { podClaimsWork } from '../resource/claim-work.ts'
import type { Topic } from '../topic.ts'
import type { Change, Work, WorkloadRule } from '../work.ts'
import { controllerRefOf, dependentWork, keyOf } from '../work.ts'

/** Labels of more characters are not put into a key: all Services are asked. */
const LONGEST_LABELS = 1000

/** What of a pod its Services look at. */
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

/** Work for the objects whose selectors match a pod, or did. One key stands for all pods with the same labels. */
function byLabels(topic: Topic, object: Pod | undefined, old: Pod | undefined): readonly Work[] {
  const { namespace = '' } = (object ?? old)?.metadata ?? {}
  const labels = [...new Set([object, old].flatMap((pod) => (pod === undefined ? [] : [JSON.stringify(sorted(pod))])))]
  return labels.map((text) => ({
    topic,
    payload: text.length > LONGEST_LABELS ? JSON.stringify([namespace]) : `[${JSON.stringify(namespace)},${text}]`,
  }))
}

/** What of a pod its disruption budgets look at; and a pod that was to be disrupted, and perhaps is not. */
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

/** A pod without a node is the scheduler's, one on a node the kubelet's, which may be simulated. */
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

/** Whether a waiting pod may fit now: this one ended, went, or changed labels that other pods' affinity uses. */
function helpsOthers(pod: Pod | undefined, before: Pod | undefined): boolean {
  if (!before?.spec?.nodeName) return false
  return pod === undefined || (isOver(pod) && !isOver(before)) || hasOtherWish(pod, before)
}

/** Of a pod only its status changes often. */
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

/** A pod that comes to a node, or tolerates something else there. */
function toleranceWork({ object, old }: Change): readonly Work[] {
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const { nodeName, tolerations } = pod?.spec ?? {}
  if (!nodeName) return []
  const isSame =
    before?.spec?.nodeName === nodeName && JSON.stringify(before.spec.tolerations) === JSON.stringify(tolerations)
  return isSame ? [] : [{ topic: 'taint-eviction', payload: nodeName }]
}

/** Pods that no kubelet looks after: deleted before they had a node, or made for one that may not be there. */
function strandedWork({ object, old }: Change): readonly Work[] {
  const pod: Pod | undefined = object
  const nodeName = pod?.spec?.nodeName
  if (pod === undefined) return []
  if (!nodeName) return pod.metadata.deletionTimestamp === undefined ? [] : [{ topic: 'pod-gc', payload: keyOf(pod) }]
  return old === undefined ? [{ topic: 'node-gone', payload: nodeName }] : []
}

/** A Job counts a pod before it may go. A pod that is deleted, or has no controller, may have no Job that counts it. */
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
]
