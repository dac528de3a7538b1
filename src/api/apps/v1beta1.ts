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
export interface RollbackConfig {
  revision?: number | bigint
}
export interface RollingUpdateDeployment {
  maxUnavailable?: UtilIntstr.IntOrString
  maxSurge?: UtilIntstr.IntOrString
}
export interface RollingUpdateStatefulSetStrategy {
  partition?: number
  maxUnavailable?: UtilIntstr.IntOrString
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
