import { ownValue } from '../base/own.ts'
import { afterAWhile } from './work/after-a-while.ts'
import { apiServiceAvailability } from './api-service-availability.ts'
import { bootstrapSigner, tokenCleaner } from './access/bootstrap-tokens.ts'
import { certificateRequests } from './access/certificate-requests.ts'
import { clusterRoleAggregation } from './access/cluster-role-aggregation.ts'
import type { Controller } from './controller.ts'
import { controlPlaneController } from './server/control-plane.ts'
import { crdApiServicesController } from './definitions/api-services.ts'
import { crdApprovalController } from './definitions/approval.ts'
import { crdFinalizerController } from './definitions/finalizer.ts'
import { crdNamesController } from './definitions/names.ts'
import { crdRenewalController } from './definitions/renewal.ts'
import { beginCollection, ofCollector } from './garbage/begin.ts'
import { flowDefaults } from './server/flow-defaults.ts'
import { flowSchemaStatus } from './server/flow-schema-status.ts'
import {
  deletedOwnerController,
  freedController,
  dependentController,
  ownedController,
  servedKindController,
  waitingController,
} from './garbage/garbage-collector.ts'
import { namespaceController, namespaceSweeper } from './namespaces/namespace.ts'
import { chargedQuota, loweredQuota, resourceQuotaController } from './resource-quota.ts'
import { rootCaPublisher } from './access/root-ca-publisher.ts'
import { restoredServerObjects, serverEdition } from './server/server-objects.ts'
import { serviceAccountController } from './access/service-account.ts'
import { deletedServiceAccount, serviceAccountSecret } from './access/service-account-secret.ts'
import { controllerUsers } from './client/controller-users.ts'
import { API_SERVER } from '../request/user-info.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { WorkloadTopic } from '../registry/work/workload-controllers.ts'
import { isOurs } from './leader/leadership.ts'
import type { Topic } from '../registry/work/topic.ts'
import { validatingAdmissionPolicyStatus } from './policies/validating-admission-policy-status.ts'
import { volumeProtection } from './volumes/volume-protection.ts'

/**
 * Loads a workload controller with its first work, because only some control planes have workloads. It drops work
 * while workloads are off or another program leads: the controllers queue all objects when they are on again.
 */
const ofWorkloads = (topic: WorkloadTopic, own: Pick<Controller, 'queue' | 'retry'> = {}): Controller => ({
  neverGivesUp: true,
  queue: 'workloads',
  ...own,
  async reconcile(key, context) {
    if (!isOurs(topic, context)) return undefined
    return (await import('./workload-controllers.ts')).workloadControllers[topic].reconcile(key, context)
  },
})

/** As in kube-controller-manager: DefaultJobApiBackOff and MaxJobApiBackOff. */
const JOB = { retry: { first: 1_000, longest: 60_000 } }

/** The controllers by the topic of outbox rows (see outbox.ts). */
export const controllers: Readonly<Record<Topic, Controller>> = {
  'api-service-availability': apiServiceAvailability,
  autoscaled: ofWorkloads('autoscaled'),
  'autoscaler-written': ofWorkloads('autoscaler-written'),
  'bootstrap-signer': bootstrapSigner,
  'certificate-request': certificateRequests,
  'cluster-role-aggregation': clusterRoleAggregation,
  'collection-begin': beginCollection,
  'control-plane': controlPlaneController,
  'crd-api-services': crdApiServicesController,
  'crd-approval': crdApprovalController,
  'crd-finalizer': crdFinalizerController,
  'crd-names': crdNamesController,
  'crd-renewal': crdRenewalController,
  'claim-binding': ofWorkloads('claim-binding'),
  'cron-job': ofWorkloads('cron-job'),
  'ephemeral-claims': ofWorkloads('ephemeral-claims'),
  'load-balancer': ofWorkloads('load-balancer'),
  departed: deletedOwnerController,
  'owners-freed': ofCollector(freedController),
  'flow-defaults': flowDefaults,
  'flow-object-written': afterAWhile('flow-defaults', 30_000),
  'flow-schema-status': flowSchemaStatus,
  'horizontal-pod-autoscaler': ofWorkloads('horizontal-pod-autoscaler', { queue: 'other-servers' }),
  job: ofWorkloads('job', JOB),
  'job-gone': ofWorkloads('job-gone'),
  'job-orphan': ofWorkloads('job-orphan', JOB),
  'kind-served': ofCollector(servedKindController),
  'leader-lease': ofWorkloads('leader-lease'),
  namespace: namespaceController,
  'namespace-sweep': namespaceSweeper,
  owned: ofCollector(ownedController),
  dependent: ofCollector(dependentController),
  waiting: ofCollector(waitingController),
  'workloads-begin': ofWorkloads('workloads-begin'),
  'server-edition': serverEdition,
  'server-object-gone': afterAWhile('server-objects', 5_000),
  'server-objects': restoredServerObjects,
  'service-account': serviceAccountController,
  'service-account-departed': deletedServiceAccount,
  'service-account-secret': serviceAccountSecret,
  'token-cleaner': tokenCleaner,
  'resource-quota': resourceQuotaController,
  'resource-quota-charged': chargedQuota,
  'resource-quota-lower': loweredQuota,
  'root-ca-publisher': rootCaPublisher,
  'daemon-set': ofWorkloads('daemon-set'),
  'daemon-set-node': ofWorkloads('daemon-set-node'),
  deployment: ofWorkloads('deployment'),
  'device-taint-eviction': ofWorkloads('device-taint-eviction'),
  disruption: ofWorkloads('disruption'),
  'guarded-pods': ofWorkloads('guarded-pods'),
  'stale-disruption': ofWorkloads('stale-disruption'),
  'endpoint-slice': ofWorkloads('endpoint-slice'),
  endpoints: ofWorkloads('endpoints'),
  'endpoints-mirror': ofWorkloads('endpoints-mirror'),
  'node-lifecycle': ofWorkloads('node-lifecycle'),
  'node-gone': ofWorkloads('node-gone'),
  'node-ttl': ofWorkloads('node-ttl'),
  'pod-gc': ofWorkloads('pod-gc'),
  orphan: ofWorkloads('orphan'),
  'replica-set': ofWorkloads('replica-set'),
  'replication-controller': ofWorkloads('replication-controller'),
  'resource-claim': ofWorkloads('resource-claim'),
  scheduler: ofWorkloads('scheduler'),
  'selected-pods': ofWorkloads('selected-pods'),
  'service-cidr': ofWorkloads('service-cidr'),
  'simulated-node': ofWorkloads('simulated-node'),
  'simulated-pods': ofWorkloads('simulated-pods'),
  'stateful-set': ofWorkloads('stateful-set'),
  'taint-eviction': ofWorkloads('taint-eviction'),
  'validating-admission-policy-status': validatingAdmissionPolicyStatus,
  'volume-binding': ofWorkloads('volume-binding'),
  'volume-protection': volumeProtection,
}

/** Undefined for a topic of another release. */
export const controllerOf = (topic: string): Controller | undefined => ownValue(controllers, topic)

/**
 * Subrequests of an invocation from which on workloads, and controllers that ask other servers, have queues of their own.
 * With fewer, works of so many queues side by side would each be cut short before they wrote anything, again and again.
 */
const ENOUGH = 500

/**
 * The queues of controllers that are not in the common one, by topic.
 * @param subrequests of one invocation of the object; Infinity where nothing limits them
 */
export function namedQueues(subrequests: number): ReadonlyMap<string, string> {
  const isCommon = (queue: Controller['queue']): boolean =>
    queue === undefined || (subrequests < ENOUGH && (queue === 'workloads' || queue === 'other-servers'))
  return new Map(
    Object.entries(controllers).flatMap(([topic, { queue }]) => (isCommon(queue) ? [] : [[topic, queue!] as const])),
  )
}

/** The user that the controller of a topic writes as. */
export const userOf = (topic: string): UserInfo => ownValue(controllerUsers, topic) ?? API_SERVER
