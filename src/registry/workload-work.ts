/**
 * Which writes are work for the controllers of workloads, where they are switched on (KEDGE_WORKLOADS). Keys are
 * `NAMESPACE/NAME` of what is to be looked at, a namespace, or nothing where one look is for all. A write is work for the
 * controller that owns the object; what nobody owns is work of `orphan`, which asks who selects it.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from '../api/core/v1.ts'
import type { GroupResource } from '../api/group-version.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import type { Settings, Workloads } from '../settings.ts'
import type { Change } from './outbox.ts'
import { ownerKindOf } from './owner-kinds.ts'
import type { Topic } from './topic.ts'
import { isSwitchedOn, LEADER_LEASES } from './workload-controllers.ts'

export interface WorkloadWork {
  readonly topic: Topic
  readonly payload: string
}

/** The label of nodes whose pods are simulated. */
export const SIMULATED = 'kedge.dev/simulated'

const keyOf = ({ metadata }: KubeObject): string =>
  metadata.namespace === undefined ? (metadata.name ?? '') : `${metadata.namespace}/${metadata.name}`

export const controllerRefOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)

/** Controllers by the kind of what they look after. */
const controllersOf: Readonly<Record<string, Topic>> = {
  'Deployment.apps': 'deployment',
  'ReplicaSet.apps': 'replica-set',
  'Job.batch': 'job',
  'CronJob.batch': 'cron-job',
  'StatefulSet.apps': 'stateful-set',
  'DaemonSet.apps': 'daemon-set',
  ReplicationController: 'replication-controller',
}

/** What owns an object, as its controller names it. */
function ownersWork(object: KubeObject | undefined): WorkloadWork[] {
  const owner = object && controllerRefOf(object)
  if (owner === undefined) return []
  const topic = ownValue(controllersOf, ownerKindOf(owner))
  return topic === undefined ? [] : [{ topic, payload: `${object?.metadata.namespace}/${owner.name}` }]
}

/** The owners of now and before; and those that may select it, where it has none. */
function dependentWork({ resource, object, old }: Change): WorkloadWork[] {
  const owners = [...ownersWork(object), ...ownersWork(old)]
  if (object === undefined || controllerRefOf(object) !== undefined) return owners
  const isNews =
    old === undefined ||
    controllerRefOf(old) !== undefined ||
    JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels)
  return isNews ? [...owners, { topic: 'orphan', payload: `${groupResourceText(resource)}/${keyOf(object)}` }] : owners
}

type Rule = (change: Change, mode: Exclude<Workloads, 'off'>) => readonly WorkloadWork[]

const itself =
  (topic: Topic): Rule =>
  ({ object }) =>
    object === undefined ? [] : [{ topic, payload: keyOf(object) }]

const rules: Readonly<Record<string, readonly Rule[]>> = {
  'deployments.apps': [itself('deployment')],
  'replicasets.apps': [itself('replica-set'), dependentWork],
  'endpointslices.discovery.k8s.io': [sliceWork],
  'statefulsets.apps': [itself('stateful-set')],
  'daemonsets.apps': [itself('daemon-set')],
  replicationcontrollers: [itself('replication-controller')],
  'controllerrevisions.apps': [dependentWork],
  persistentvolumeclaims: [claimWork, claimBindingWork],
  persistentvolumes: [volumeWork],
  'storageclasses.storage.k8s.io': [classWork],
  'cronjobs.batch': [itself('cron-job')],
  'jobs.batch': [itself('job'), ({ object, old }) => [...ownersWork(object), ...ownersWork(old)]],
  'poddisruptionbudgets.policy': [itself('disruption')],
  pods: [dependentWork, podsWork, endpointWork, ephemeralWork, disruptionWork, toleranceWork, strandedWork],
  'leases.coordination.k8s.io': [leaseWork],
  services: [servicesWork, mirroredServiceWork, loadBalancerWork],
  endpoints: [mirrorWork],
  nodes: [nodesWork, daemonsWork, nodeHealthWork, strandingWork],
}

/** A program that does the same work takes, renews or gives up its Lease. */
function leaseWork({ object, old }: Change): readonly WorkloadWork[] {
  const { namespace, name = '' } = (object ?? old)?.metadata ?? {}
  if (namespace === 'kube-node-lease') return object === undefined ? [] : [{ topic: 'node-lifecycle', payload: name }]
  const isLeaders = namespace === 'kube-system' && LEADER_LEASES.some((lease) => lease === name)
  return isLeaders ? [{ topic: 'leader-lease', payload: name }] : []
}

/** What the scheduler tries pods again for, beside pods and nodes. */
const VOLUME_CHANGED = { topic: 'scheduler', payload: 'VolumeChanged' } as const

/** A claim that goes sets its volume free. */
function claimBindingWork({ object, old }: Change, mode: Workloads): readonly WorkloadWork[] {
  const [claim, before]: (PersistentVolumeClaim | undefined)[] = [object, old]
  const scheduler = mode === 'simulated' ? [VOLUME_CHANGED] : []
  if (object !== undefined) {
    const isOnlyStatus =
      before !== undefined &&
      JSON.stringify([claim?.spec, claim?.metadata.annotations, claim?.status?.phase]) ===
        JSON.stringify([before.spec, before.metadata.annotations, before.status?.phase])
    return isOnlyStatus ? [] : [{ topic: 'claim-binding', payload: keyOf(object) }, ...scheduler]
  }
  const volume = before?.spec?.volumeName
  return volume ? [{ topic: 'volume-binding', payload: volume }, ...scheduler] : scheduler
}

/** A volume that goes leaves its claim lost. */
function volumeWork({ object, old }: Change, mode: Workloads): readonly WorkloadWork[] {
  const volume: PersistentVolume | undefined = object ?? old
  const { namespace, name } = volume?.spec?.claimRef ?? {}
  return [
    ...(object === undefined ? [] : [{ topic: 'volume-binding', payload: keyOf(object) } as const]),
    ...(name ? [{ topic: 'claim-binding', payload: `${namespace}/${name}` } as const] : []),
    ...(mode === 'simulated' ? [VOLUME_CHANGED] : []),
  ]
}

/** Claims may wait for a class of the name, or for one by default. */
function classWork({ object }: Change): readonly WorkloadWork[] {
  return object === undefined ? [] : [{ topic: 'claim-binding', payload: '' }, VOLUME_CHANGED]
}

function ephemeralWork({ object, old }: Change): readonly WorkloadWork[] {
  const pod: Pod | undefined = object
  const isNew = object !== undefined && old === undefined
  return isNew && pod?.spec?.volumes?.some(({ ephemeral }) => ephemeral !== undefined) === true
    ? [{ topic: 'ephemeral-claims', payload: keyOf(object) }]
    : []
}

/** One that is a load balancer, or was. */
function loadBalancerWork({ object, old }: Change): readonly WorkloadWork[] {
  const isBalanced = [object, old].some((service: Service | undefined) => service?.spec?.type === 'LoadBalancer')
  return object !== undefined && isBalanced ? [{ topic: 'load-balancer', payload: keyOf(object) }] : []
}

/** A Service that changes, and Endpoints that outlive theirs. */
function servicesWork({ object, old }: Change): readonly WorkloadWork[] {
  if (object === undefined) return old === undefined ? [] : [{ topic: 'endpoints', payload: keyOf(old) }]
  return [
    { topic: 'endpoint-slice', payload: keyOf(object) },
    { topic: 'endpoints', payload: keyOf(object) },
  ]
}

/** A claim that goes lets the next pod of the number of its owner be made. */
function claimWork({ object, old }: Change): readonly WorkloadWork[] {
  if (object !== undefined || old === undefined) return []
  const pod = controllerRefOf(old)
  const set = pod?.kind === 'Pod' ? (pod.name ?? '').replace(/-\d+$/, '') : pod?.name
  return set === undefined ? [] : [{ topic: 'stateful-set', payload: `${old.metadata.namespace}/${set}` }]
}

const mirrored = (object: KubeObject): WorkloadWork => ({ topic: 'endpoints-mirror', payload: keyOf(object) })

/** Services without a selector have their slices from Endpoints. */
function mirroredServiceWork({ object, old }: Change): readonly WorkloadWork[] {
  const [now, before] = [object, old].map((service: Service | undefined) => service && (service.spec?.selector ?? null))
  const isNews = now === undefined || before === undefined || (now === null) !== (before === null)
  const service = object ?? old
  return isNews && (now === null || before === null) && service !== undefined ? [mirrored(service)] : []
}

/** Those of Services with a selector are written by a controller, and not mirrored. */
function mirrorWork({ object, old }: Change): readonly WorkloadWork[] {
  const endpoints = object ?? old
  const isMade = ownValue(endpoints?.metadata.labels, 'endpoints.kubernetes.io/managed-by') !== undefined
  return endpoints === undefined || isMade ? [] : [mirrored(endpoints)]
}

/** Slices that somebody else changed or deleted are put right. */
function sliceWork({ object, old }: Change): readonly WorkloadWork[] {
  const { namespace = '', labels } = (old ?? object)?.metadata ?? {}
  const service = ownValue(labels, 'kubernetes.io/service-name')
  const topic = ownValue(slicers, ownValue(labels, 'endpointslice.kubernetes.io/managed-by') ?? '')
  if (old === undefined || service === undefined || topic === undefined) return []
  return [{ topic, payload: `${namespace}/${service}` }]
}

/** Who keeps slices, by how they say it. */
const slicers: Readonly<Record<string, Topic>> = {
  'endpointslice-controller.k8s.io': 'endpoint-slice',
  'endpointslicemirroring-controller.k8s.io': 'endpoints-mirror',
}

/** Labels of more characters are not put into a key: all Services are asked. */
const LONGEST_LABELS = 1000

/** What of a pod its Services look at. */
function endpointWork({ object, old }: Change): readonly WorkloadWork[] {
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

/** Work for what selects a pod, or did: pods with the same labels are looked at together. */
function byLabels(topic: Topic, object: Pod | undefined, old: Pod | undefined): readonly WorkloadWork[] {
  const { namespace = '' } = (object ?? old)?.metadata ?? {}
  const labels = [...new Set([object, old].flatMap((pod) => (pod === undefined ? [] : [JSON.stringify(sorted(pod))])))]
  return labels.map((text) => ({
    topic,
    payload: text.length > LONGEST_LABELS ? JSON.stringify([namespace]) : `[${JSON.stringify(namespace)},${text}]`,
  }))
}

/** What of a pod its disruption budgets look at; and a pod that was to be disrupted, and perhaps is not. */
function disruptionWork({ object, old }: Change): readonly WorkloadWork[] {
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
function podsWork({ object, old }: Change, mode: Workloads): readonly WorkloadWork[] {
  if (mode !== 'simulated') return []
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const scheduler: WorkloadWork[] = helpsOthers(pod, before) ? [{ topic: 'scheduler', payload: '' }] : []
  if (pod === undefined || object === undefined) return scheduler
  const { nodeName } = pod.spec ?? {}
  if (nodeName) return [...scheduler, { topic: 'simulated-pods', payload: nodeName }]
  const waits = (pod.spec?.schedulingGates ?? []).length === 0 && pod.metadata.deletionTimestamp === undefined
  return waits && hasOtherWish(object, old) ? [{ topic: 'scheduler', payload: '' }] : scheduler
}

/** Room that is left, and labels that others look at. */
function helpsOthers(pod: Pod | undefined, before: Pod | undefined): boolean {
  if (!before?.spec?.nodeName) return false
  return pod === undefined || (isOver(pod) && !isOver(before)) || hasOtherWish(pod, before)
}

/** Of a pod only its status changes often. */
const hasOtherWish = ({ metadata }: Pod, old: Pod | undefined): boolean =>
  old === undefined ||
  metadata.generation !== old.metadata.generation ||
  JSON.stringify(metadata.labels) !== JSON.stringify(old.metadata.labels)

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function nodesWork({ object }: Change, mode: Workloads): readonly WorkloadWork[] {
  if (mode !== 'simulated' || object === undefined) return []
  const simulated = ownValue(object.metadata.labels, SIMULATED) === 'true'
  return [
    ...(simulated ? [{ topic: 'simulated-node', payload: keyOf(object) } as const] : []),
    { topic: 'scheduler', payload: '' },
  ]
}

/** What of a node its daemons look at. */
function daemonsWork({ object, old }: Change): readonly WorkloadWork[] {
  const [now, before] = [object, old].map((node: Node | undefined) => node && [node.metadata.labels, node.spec?.taints])
  if (JSON.stringify(now) === JSON.stringify(before)) return []
  return [{ topic: 'daemon-set-node', payload: (object ?? old)?.metadata.name ?? '' }]
}

/** Whose heartbeats are awaited, and whose pods are to leave. */
function nodeHealthWork({ object, old }: Change): readonly WorkloadWork[] {
  const payload = (object ?? old)?.metadata.name ?? ''
  const [taints, before] = [object, old].map((node: Node | undefined) =>
    JSON.stringify((node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')),
  )
  return [
    { topic: 'node-lifecycle', payload },
    ...(taints === before && object !== undefined ? [] : [{ topic: 'taint-eviction', payload } as const]),
  ]
}

/** A pod that comes to a node, or tolerates something else there. */
function toleranceWork({ object, old }: Change): readonly WorkloadWork[] {
  const [pod, before]: (Pod | undefined)[] = [object, old]
  const { nodeName, tolerations } = pod?.spec ?? {}
  if (!nodeName) return []
  const isSame =
    before?.spec?.nodeName === nodeName && JSON.stringify(before.spec.tolerations) === JSON.stringify(tolerations)
  return isSame ? [] : [{ topic: 'taint-eviction', payload: nodeName }]
}

/** Pods that no kubelet looks after: deleted before they had a node, or made for one that may not be there. */
function strandedWork({ object, old }: Change): readonly WorkloadWork[] {
  const pod: Pod | undefined = object
  const nodeName = pod?.spec?.nodeName
  if (pod === undefined) return []
  if (!nodeName) return pod.metadata.deletionTimestamp === undefined ? [] : [{ topic: 'pod-gc', payload: keyOf(pod) }]
  return old === undefined ? [{ topic: 'node-gone', payload: nodeName }] : []
}

/** A node that goes, or that somebody says is out of service. */
function strandingWork({ object, old }: Change): readonly WorkloadWork[] {
  const node: Node | undefined = object
  if (node === undefined) return old === undefined ? [] : [{ topic: 'node-gone', payload: keyOf(old) }]
  const isOut = node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true
  return isOut ? [{ topic: 'pod-gc', payload: keyOf(node) }] : []
}

/** What there are rules for. */
export const WORKLOAD_RESOURCES: readonly GroupResource[] = Object.keys(rules).map((text) => {
  const [resource = '', ...group] = text.split('.')
  return { group: group.join('.'), resource }
})

export function workloadWork(change: Change, settings: Settings): readonly WorkloadWork[] {
  const { workloads } = settings
  if (workloads === 'off') return []
  const found = ownValue(rules, groupResourceText(change.resource)) ?? []
  const work = found.flatMap((rule) => rule(change, workloads)).filter(({ topic }) => isSwitchedOn(topic, settings))
  return work.length < 2 ? work : [...new Map(work.map((item) => [`${item.topic} ${item.payload}`, item])).values()]
}
