/**
 * Writes that are work for autoscalers. kube-controller-manager checks each autoscaler every 15 seconds. Here an idle
 * autoscaler gets work when the inputs of its metrics change.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { HorizontalPodAutoscaler } from '../../api/autoscaling/v2.ts'
import type { Pod } from '../../api/core/v1.ts'
import type { GroupKind } from '../../api/group-version.ts'
import { groupKindText } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { ownerKindOf } from '../work/owner-kinds.ts'
import type { Work, WorkloadRule } from '../work/work.ts'
import { controllerRefOf, keyOf } from '../work/work.ts'
import { ownersTopics } from '../work/workload-controllers.ts'

/** Kinds with a scale subresource whose writes are work for the autoscalers that name them. */
const announced: ReadonlySet<string> = new Set([
  'Deployment.apps',
  'ReplicaSet.apps',
  'StatefulSet.apps',
  'ReplicationController',
])

export const isAnnounced = (kind: GroupKind): boolean => announced.has(groupKindText(kind))

/**
 * The autoscalers of an object, of a namespace, or all. A key may come from an older release, so its reader checks it.
 */
export type AutoscaledKey =
  readonly [namespace: string, kind: string, name: string] | readonly [namespace: string] | readonly []

const autoscaled = (...key: AutoscaledKey): Work => ({ topic: 'autoscaled', payload: JSON.stringify(key) })

/**
 * Work after a write of an autoscaler. A changed status is no work, because only the autoscaler's controller writes it.
 */
export const autoscalerWork: WorkloadRule = ({ object, old }) => {
  const [now, before]: (HorizontalPodAutoscaler | undefined)[] = [object, old]
  if (now === undefined) return old === undefined ? [] : [{ topic: 'horizontal-pod-autoscaler', payload: keyOf(old) }]
  if (before !== undefined && JSON.stringify(now.spec) === JSON.stringify(before.spec)) return []
  return [{ topic: 'autoscaler-written', payload: keyOf(now) }]
}

interface Scalable extends KubeObject {
  spec?: { replicas?: number }
  status?: { replicas?: number; readyReplicas?: number }
}

/** Compares the fields that matter: wanted, current and ready replicas. */
export const scalableWork: WorkloadRule = ({ object, old }) => {
  const countsOf = (scalable: Scalable | undefined) =>
    scalable && JSON.stringify([scalable.spec?.replicas, scalable.status?.replicas, scalable.status?.readyReplicas])
  if (countsOf(object) === countsOf(old)) return []
  const one = (object ?? old)!
  const { namespace = '', name = '' } = one.metadata
  const owner = controllerRefOf(one)
  if (owner === undefined) return [autoscaled(namespace, ownerKindOf(one), name)]
  return isStrange(one) ? [autoscaled(namespace)] : []
}

/** The object's controller is of a kind that the server does not know. An autoscaler may scale that kind. */
function isStrange(object: KubeObject): boolean {
  const owner = controllerRefOf(object)
  return owner !== undefined && ownValue(ownersTopics, ownerKindOf(owner)) === undefined
}

const USAGE = 'kedge.dev/usage-'

/** Work after the usage of a simulated pod changes, and after a pod of an unknown owner comes or goes. */
export const usageWork: WorkloadRule = ({ object, old }) => {
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const { namespace = '' } = (pod ?? before)!.metadata
  if (pod === undefined || before === undefined) return isStrange((pod ?? before)!) ? [autoscaled(namespace)] : []
  const usageOf = ({ metadata, spec }: Pod) =>
    JSON.stringify([
      Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(USAGE)),
      spec?.containers?.map(({ resources }) => resources?.requests),
    ])
  // the pod's owner reports how many pods are ready, but not how many run
  const began = pod.status?.phase === 'Running' && before.status?.phase !== 'Running' && !isReady(pod)
  return !began && usageOf(pod) === usageOf(before) ? [] : [autoscaled(namespace)]
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true

const METRIC_GROUPS = ['metrics.k8s.io', 'custom.metrics.k8s.io', 'external.metrics.k8s.io']

/** Work after the APIService of a metrics group changes. */
export const metricsServiceWork: WorkloadRule = ({ object, old }) => {
  const [service, before]: (APIService | undefined)[] = [object, old]
  const { group = '' } = (service ?? before)?.spec ?? {}
  const placeOf = (one: APIService | undefined) =>
    JSON.stringify([one?.spec, one?.status?.conditions?.map(({ type, status }) => [type, status])])
  return METRIC_GROUPS.includes(group) && placeOf(service) !== placeOf(before) ? [autoscaled()] : []
}
