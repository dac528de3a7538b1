/**
 * The workload controllers: controllers of kube-controller-manager, a scheduler and the kubelets of simulated nodes
 * (docs/workloads.md).
 */
import { deviceTaintEviction } from './device-taints/device-taint-eviction.ts'
import { nodeLifecycle } from './nodes/node-lifecycle.ts'
import { nodeTtlController } from './nodes/node-ttl.ts'
import { taintEviction } from './nodes/taint-eviction.ts'
import type { WorkloadTopic } from '../registry/work/workload-controllers.ts'
import type { Controller } from './controller.ts'
import { leaderLease } from './leader/leader-lease.ts'
import { schedulerController } from './scheduling/scheduler.ts'
import { simulatedNode } from './simulation/simulated-node.ts'
import { simulatedPods } from './simulation/simulated-pods.ts'
import { claimBinding } from './volumes/claim-binding.ts'
import { ephemeralClaims } from './volumes/ephemeral-claims.ts'
import { volumeBinding } from './volumes/volume-binding.ts'
import { cronJobController } from './workloads/cron-job/cron-job.ts'
import { beginWorkloads } from './workloads/begin.ts'
import { daemonSetController, daemonSetNodes } from './workloads/daemon-set/daemon-set.ts'
import { deploymentController } from './workloads/deployment/deployment.ts'
import { disruptionController, guardedPods, staleDisruption } from './workloads/disruption/disruption.ts'
import { endpointSliceController } from './workloads/endpoints/endpoint-slice.ts'
import { endpointsMirror } from './workloads/endpoints/endpoints-mirror.ts'
import { endpointsController } from './workloads/endpoints/endpoints.ts'
import { goneJob, orphanedJobPod } from './workloads/job/orphans.ts'
import { autoscaledTargets, writtenAutoscaler } from './workloads/horizontal-pod-autoscaler/autoscaled.ts'
import { horizontalPodAutoscalerController } from './workloads/horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'
import { jobController } from './workloads/job/job.ts'
import { loadBalancerController } from './workloads/load-balancer.ts'
import { orphanController } from './workloads/pods/orphan.ts'
import { goneNode, podGarbageCollector } from './workloads/pods/pod-gc.ts'
import { replicaSetController, replicationController } from './workloads/replica-set.ts'
import { resourceClaimController } from './workloads/resource-claim/resource-claim.ts'
import { selectedPods } from './workloads/endpoints/selected-pods.ts'
import { serviceCidrController } from './workloads/service-cidr.ts'
import { statefulSetController } from './workloads/stateful-set/stateful-set.ts'

export const workloadControllers = {
  autoscaled: autoscaledTargets,
  'autoscaler-written': writtenAutoscaler,
  'claim-binding': claimBinding,
  'cron-job': cronJobController,
  'daemon-set': daemonSetController,
  'daemon-set-node': daemonSetNodes,
  deployment: deploymentController,
  'device-taint-eviction': deviceTaintEviction,
  disruption: disruptionController,
  'endpoint-slice': endpointSliceController,
  endpoints: endpointsController,
  'endpoints-mirror': endpointsMirror,
  'guarded-pods': guardedPods,
  'ephemeral-claims': ephemeralClaims,
  'horizontal-pod-autoscaler': horizontalPodAutoscalerController,
  job: jobController,
  'job-gone': goneJob,
  'job-orphan': orphanedJobPod,
  'leader-lease': leaderLease,
  'node-lifecycle': nodeLifecycle,
  'load-balancer': loadBalancerController,
  'node-gone': goneNode,
  'node-ttl': nodeTtlController,
  'pod-gc': podGarbageCollector,
  orphan: orphanController,
  'replica-set': replicaSetController,
  'replication-controller': replicationController,
  'resource-claim': resourceClaimController,
  scheduler: schedulerController,
  'selected-pods': selectedPods,
  'service-cidr': serviceCidrController,
  'simulated-node': simulatedNode,
  'simulated-pods': simulatedPods,
  'stale-disruption': staleDisruption,
  'stateful-set': statefulSetController,
  'taint-eviction': taintEviction,
  'volume-binding': volumeBinding,
  'workloads-begin': beginWorkloads,
} satisfies Readonly<Record<WorkloadTopic, Controller>>
