// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'
import type * as UtilIntstr from '../util/intstr.ts'

export interface ControllerRevision {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  data?: PkgRuntime.RawExtension
  revision?: number | bigint
}
export interface ControllerRevisionList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ControllerRevision[]
}
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
export interface DeploymentSpec {
  replicas?: number
  selector?: MetaV1.LabelSelector
  template?: CoreV1.PodTemplateSpec
  strategy?: DeploymentStrategy
  minReadySeconds?: number
  revisionHistoryLimit?: number
  paused?: boolean
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
export interface RollingUpdateDaemonSet {
  maxUnavailable?: UtilIntstr.IntOrString
  maxSurge?: UtilIntstr.IntOrString
}
export interface RollingUpdateDeployment {
  maxUnavailable?: UtilIntstr.IntOrString
  maxSurge?: UtilIntstr.IntOrString
}
export interface RollingUpdateStatefulSetStrategy {
  partition?: number
  maxUnavailable?: UtilIntstr.IntOrString
}
export interface StatefulSet {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: StatefulSetSpec
  status?: StatefulSetStatus
}
export interface StatefulSetCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface StatefulSetList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: StatefulSet[]
}
export interface StatefulSetOrdinals {
  start?: number
}
export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  whenDeleted?: string
  whenScaled?: string
}
export interface StatefulSetSpec {
  replicas?: number
  selector?: MetaV1.LabelSelector
  template?: CoreV1.PodTemplateSpec
  volumeClaimTemplates?: CoreV1.PersistentVolumeClaim[]
  serviceName?: string
  podManagementPolicy?: string
  updateStrategy?: StatefulSetUpdateStrategy
  revisionHistoryLimit?: number
  minReadySeconds?: number
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy
  ordinals?: StatefulSetOrdinals
}
export interface StatefulSetStatus {
  observedGeneration?: number | bigint
  replicas?: number
  readyReplicas?: number
  currentReplicas?: number
  updatedReplicas?: number
  currentRevision?: string
  updateRevision?: string
  collisionCount?: number
  conditions?: StatefulSetCondition[]
  availableReplicas?: number
}
export interface StatefulSetUpdateStrategy {
  type?: string
  rollingUpdate?: RollingUpdateStatefulSetStrategy
}
