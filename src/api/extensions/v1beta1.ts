// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as UtilIntstr from '../util/intstr.ts'

export interface DaemonSet {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: DaemonSetSpec
  status?: DaemonSetStatus
}
export interface DaemonSetCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface DaemonSetList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: DaemonSet[]
}
export interface DaemonSetSpec {
  selector?: MetaV1.LabelSelector
  template?: CoreV1.PodTemplateSpec
  updateStrategy?: DaemonSetUpdateStrategy
  minReadySeconds?: number
  templateGeneration?: number | bigint
  revisionHistoryLimit?: number
}
export interface DaemonSetStatus {
  currentNumberScheduled?: number
  numberMisscheduled?: number
  desiredNumberScheduled?: number
  numberReady?: number
  observedGeneration?: number | bigint
  updatedNumberScheduled?: number
  numberAvailable?: number
  numberUnavailable?: number
  collisionCount?: number
  conditions?: DaemonSetCondition[]
}
export interface DaemonSetUpdateStrategy {
  type?: string
  rollingUpdate?: RollingUpdateDaemonSet
}
export interface Deployment {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: DeploymentSpec
  status?: DeploymentStatus
}
export interface DeploymentCondition {
  type?: string
  status?: string
  lastUpdateTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface DeploymentList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Deployment[]
}
export interface DeploymentRollback {
  kind?: string
  apiVersion?: string
  name?: string
  updatedAnnotations?: Record<string, string>
  rollbackTo?: RollbackConfig
}
export interface DeploymentSpec {
  replicas?: number
  selector?: MetaV1.LabelSelector
  template?: CoreV1.PodTemplateSpec
  strategy?: DeploymentStrategy
  minReadySeconds?: number
  revisionHistoryLimit?: number
  paused?: boolean
  rollbackTo?: RollbackConfig
  progressDeadlineSeconds?: number
}
export interface DeploymentStatus {
  observedGeneration?: number | bigint
  replicas?: number
  updatedReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  unavailableReplicas?: number
  terminatingReplicas?: number
  conditions?: DeploymentCondition[]
  collisionCount?: number
}
export interface DeploymentStrategy {
  type?: string
  rollingUpdate?: RollingUpdateDeployment
}
export interface HTTPIngressPath {
  path?: string
  pathType?: string
  backend?: IngressBackend
}
export interface HTTPIngressRuleValue {
  paths?: HTTPIngressPath[]
}
export interface IPBlock {
  cidr?: string
  except?: string[]
}
export interface Ingress {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: IngressSpec
  status?: IngressStatus
}
export interface IngressBackend {
  serviceName?: string
  servicePort?: UtilIntstr.IntOrString
  resource?: CoreV1.TypedLocalObjectReference
}
export interface IngressList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Ingress[]
}
export interface IngressLoadBalancerIngress {
  ip?: string
  hostname?: string
  ports?: IngressPortStatus[]
}
export interface IngressLoadBalancerStatus {
  ingress?: IngressLoadBalancerIngress[]
}
export interface IngressPortStatus {
  port?: number
  protocol?: string
  error?: string
}
export interface IngressRule {
  host?: string
  http?: HTTPIngressRuleValue
}
export interface IngressRuleValue {
  http?: HTTPIngressRuleValue
}
export interface IngressSpec {
  ingressClassName?: string
  backend?: IngressBackend
  tls?: IngressTLS[]
  rules?: IngressRule[]
}
export interface IngressStatus {
  loadBalancer?: IngressLoadBalancerStatus
}
export interface IngressTLS {
  hosts?: string[]
  secretName?: string
}
export interface NetworkPolicy {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: NetworkPolicySpec
}
export interface NetworkPolicyEgressRule {
  ports?: NetworkPolicyPort[]
  to?: NetworkPolicyPeer[]
}
export interface NetworkPolicyIngressRule {
  ports?: NetworkPolicyPort[]
  from?: NetworkPolicyPeer[]
}
export interface NetworkPolicyList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: NetworkPolicy[]
}
export interface NetworkPolicyPeer {
  podSelector?: MetaV1.LabelSelector
  namespaceSelector?: MetaV1.LabelSelector
  ipBlock?: IPBlock
}
export interface NetworkPolicyPort {
  protocol?: string
  port?: UtilIntstr.IntOrString
  endPort?: number
}
export interface NetworkPolicySpec {
  podSelector?: MetaV1.LabelSelector
  ingress?: NetworkPolicyIngressRule[]
  egress?: NetworkPolicyEgressRule[]
  policyTypes?: string[]
}
export interface ReplicaSet {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ReplicaSetSpec
  status?: ReplicaSetStatus
}
export interface ReplicaSetCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface ReplicaSetList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ReplicaSet[]
}
export interface ReplicaSetSpec {
  replicas?: number
  minReadySeconds?: number
  selector?: MetaV1.LabelSelector
  template?: CoreV1.PodTemplateSpec
}
export interface ReplicaSetStatus {
  replicas?: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  terminatingReplicas?: number
  observedGeneration?: number | bigint
  conditions?: ReplicaSetCondition[]
}
export interface RollbackConfig {
  revision?: number | bigint
}
export interface RollingUpdateDaemonSet {
  maxUnavailable?: UtilIntstr.IntOrString
  maxSurge?: UtilIntstr.IntOrString
}
export interface RollingUpdateDeployment {
  maxUnavailable?: UtilIntstr.IntOrString
  maxSurge?: UtilIntstr.IntOrString
}
export interface Scale {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ScaleSpec
  status?: ScaleStatus
}
export interface ScaleSpec {
  replicas?: number
}
export interface ScaleStatus {
  replicas?: number
  selector?: Record<string, string>
  targetSelector?: string
}
