/** The user of each controller: the ServiceAccount that the same controller of Kubernetes has, or kube-apiserver's. */
import type { CONTROLLER_ACCOUNTS } from '../../bootstrap/controller-accounts.ts'
import { serviceAccountGroups, serviceAccountUser } from '../../authentication/service-account-name.ts'
import type { Topic } from '../../registry/work/topic.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { API_SERVER, authenticated } from '../../request/user-info.ts'

const NAMESPACE = 'kube-system'

type Account =
  | (typeof CONTROLLER_ACCOUNTS)[number]
  | 'cronjob-controller'
  | 'daemon-set-controller'
  | 'deployment-controller'
  | 'device-taint-eviction-controller'
  | 'ephemeral-volume-controller'
  | 'persistent-volume-binder'
  | 'service-cidrs-controller'
  | 'service-controller'
  | 'disruption-controller'
  | 'endpoint-controller'
  | 'endpointslice-controller'
  | 'endpointslicemirroring-controller'
  | 'horizontal-pod-autoscaler'
  | 'job-controller'
  | 'node-controller'
  | 'pod-garbage-collector'
  | 'pvc-protection-controller'
  | 'replicaset-controller'
  | 'replication-controller'
  | 'resource-claim-controller'
  | 'simulated-kubelet'
  | 'statefulset-controller'
  | 'tokens-controller'
  | 'ttl-controller'

const account = (name: Account): UserInfo =>
  authenticated({ name: serviceAccountUser({ namespace: NAMESPACE, name }), groups: serviceAccountGroups(NAMESPACE) })

const autoscalers = account('horizontal-pod-autoscaler')
const collector = account('generic-garbage-collector')
const daemonSets = account('daemon-set-controller')
const disruptions = account('disruption-controller')
const jobs = account('job-controller')
const podCollector = account('pod-garbage-collector')
const quotas = account('resourcequota-controller')
const namespaces = account('namespace-controller')
const replicaSets = account('replicaset-controller')
const kubelets = account('simulated-kubelet')
const volumes = account('persistent-volume-binder')
const tokens = account('tokens-controller')

export const controllerUsers: Readonly<Record<Topic, UserInfo>> = {
  'api-service-availability': API_SERVER,
  autoscaled: autoscalers,
  'autoscaler-written': autoscalers,
  'bootstrap-signer': account('bootstrap-signer'),
  'certificate-request': account('certificate-controller'),
  'cluster-role-aggregation': account('clusterrole-aggregation-controller'),
  'control-plane': API_SERVER,
  'crd-api-services': API_SERVER,
  'crd-approval': API_SERVER,
  'crd-finalizer': API_SERVER,
  'crd-names': API_SERVER,
  'crd-renewal': API_SERVER,
  'claim-binding': volumes,
  'cron-job': account('cronjob-controller'),
  'ephemeral-claims': account('ephemeral-volume-controller'),
  'load-balancer': account('service-controller'),
  'daemon-set': daemonSets,
  'daemon-set-node': daemonSets,
  departed: collector,
  deployment: account('deployment-controller'),
  'device-taint-eviction': account('device-taint-eviction-controller'),
  disruption: disruptions,
  'endpoint-slice': account('endpointslice-controller'),
  endpoints: account('endpoint-controller'),
  'endpoints-mirror': account('endpointslicemirroring-controller'),
  'flow-defaults': API_SERVER,
  'flow-object-written': API_SERVER,
  'flow-schema-status': API_SERVER,
  'guarded-pods': disruptions,
  job: jobs,
  'job-gone': jobs,
  'job-orphan': jobs,
  'horizontal-pod-autoscaler': autoscalers,
  'collection-begin': collector,
  'kind-served': collector,
  'leader-lease': account('deployment-controller'),
  namespace: namespaces,
  'namespace-sweep': namespaces,
  'node-lifecycle': account('node-controller'),
  'node-gone': podCollector,
  'node-ttl': account('ttl-controller'),
  'pod-gc': podCollector,
  orphan: replicaSets,
  owned: collector,
  dependent: collector,
  'owners-freed': collector,
  'replica-set': replicaSets,
  'replication-controller': account('replication-controller'),
  'resource-claim': account('resource-claim-controller'),
  'resource-quota': quotas,
  'resource-quota-charged': quotas,
  'resource-quota-lower': quotas,
  'root-ca-publisher': account('root-ca-cert-publisher'),
  scheduler: authenticated({ name: 'system:kube-scheduler', groups: [] }),
  'selected-pods': account('endpointslice-controller'),
  'server-edition': API_SERVER,
  'server-object-gone': API_SERVER,
  'server-objects': API_SERVER,
  'service-account': account('service-account-controller'),
  'service-account-departed': tokens,
  'service-account-secret': tokens,
  'service-cidr': account('service-cidrs-controller'),
  'simulated-node': kubelets,
  'simulated-pods': kubelets,
  'stale-disruption': disruptions,
  'stateful-set': account('statefulset-controller'),
  'taint-eviction': account('node-controller'),
  'token-cleaner': account('token-cleaner'),
  'validating-admission-policy-status': account('validatingadmissionpolicy-status-controller'),
  'volume-binding': volumes,
  'volume-protection': account('pvc-protection-controller'),
  waiting: collector,
  'workloads-begin': account('deployment-controller'),
}
