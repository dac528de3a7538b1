/** The controller of each topic, and the Lease that shows that another program runs this controller. */
import type { ControllerName } from '../../configuration/controllers.ts'
import type { WorkloadSwitches } from '../../settings.ts'
import type { Topic } from './topic.ts'

/** `several`: the topic hands its work to other controllers, and each of these may be on or off. */
export const workloadTopics = {
  autoscaled: 'horizontal-pod-autoscaler-controller',
  'autoscaler-written': 'horizontal-pod-autoscaler-controller',
  'claim-binding': 'persistentvolume-binder-controller',
  'cron-job': 'cronjob-controller',
  'daemon-set': 'daemonset-controller',
  'daemon-set-node': 'daemonset-controller',
  deployment: 'deployment-controller',
  'device-taint-eviction': 'device-taint-eviction-controller',
  disruption: 'disruption-controller',
  'endpoint-slice': 'endpointslice-controller',
  endpoints: 'endpoints-controller',
  'endpoints-mirror': 'endpointslice-mirroring-controller',
  'guarded-pods': 'disruption-controller',
  'ephemeral-claims': 'ephemeral-volume-controller',
  'horizontal-pod-autoscaler': 'horizontal-pod-autoscaler-controller',
  job: 'job-controller',
  'job-gone': 'job-controller',
  'job-orphan': 'job-controller',
  'leader-lease': 'several',
  'node-lifecycle': 'node-lifecycle-controller',
  'load-balancer': 'service-lb-controller',
  'node-gone': 'pod-garbage-collector-controller',
  'node-ttl': 'ttl-controller',
  'pod-gc': 'pod-garbage-collector-controller',
  orphan: 'several',
  'replica-set': 'replicaset-controller',
  'replication-controller': 'replicationcontroller-controller',
  'resource-claim': 'resourceclaim-controller',
  scheduler: 'kube-scheduler',
  'selected-pods': 'several',
  'service-cidr': 'service-cidr-controller',
  'simulated-node': 'simulated-kubelet',
  'simulated-pods': 'simulated-kubelet',
  'stale-disruption': 'disruption-controller',
  'stateful-set': 'statefulset-controller',
  'taint-eviction': 'taint-eviction-controller',
  'volume-binding': 'persistentvolume-binder-controller',
  'workloads-begin': 'several',
} as const satisfies Partial<Record<Topic, ControllerName | 'several'>>

/** The topic for objects of an owner, by the owner's kind. */
export const ownersTopics: Readonly<Record<string, WorkloadTopic>> = {
  'Deployment.apps': 'deployment',
  'ReplicaSet.apps': 'replica-set',
  'Job.batch': 'job',
  'CronJob.batch': 'cron-job',
  'StatefulSet.apps': 'stateful-set',
  'DaemonSet.apps': 'daemon-set',
  ReplicationController: 'replication-controller',
}

export type WorkloadTopic = keyof typeof workloadTopics

/** Leases in kube-system. kube-controller-manager and kube-scheduler use these names unless a flag changes them. */
export const LEADER_LEASES = ['kube-controller-manager', 'kube-scheduler'] as const
export type LeaderLease = (typeof LEADER_LEASES)[number]

/** The Lease whose holder does this controller's work. Undefined: no other program does it. */
export function leaseOf(controller: ControllerName): LeaderLease | undefined {
  if (controller === 'simulated-kubelet') return undefined
  return controller === 'kube-scheduler' ? 'kube-scheduler' : 'kube-controller-manager'
}

/** Whether the switches allow work of the topic. They always allow work that belongs to no workload controller. */
export function isSwitchedOn(topic: Topic, { workloads, controllers }: WorkloadSwitches): boolean {
  const controller: string | undefined = (workloadTopics as Partial<Record<Topic, string>>)[topic]
  if (controller === undefined) return true
  if (workloads === 'off') return false
  return controller === 'several' || controllers.isEnabled(controller as ControllerName) // the table has only these
}
