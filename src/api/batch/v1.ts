// Generated from the facts by `npm run generate`. Do not edit.
import type * as CoreV1 from '../core/v1.ts'
import type * as MetaV1 from '../meta/v1.ts'

export interface CronJob {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: CronJobSpec
  status?: CronJobStatus
}
export interface CronJobList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: CronJob[]
}
export interface CronJobSpec {
  schedule?: string
  timeZone?: string
  startingDeadlineSeconds?: number | bigint
  concurrencyPolicy?: string
  suspend?: boolean
  jobTemplate?: JobTemplateSpec
  successfulJobsHistoryLimit?: number
  failedJobsHistoryLimit?: number
}
export interface CronJobStatus {
  active?: CoreV1.ObjectReference[]
  lastScheduleTime?: MetaV1.Time
  lastSuccessfulTime?: MetaV1.Time
}
export interface Job {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: JobSpec
  status?: JobStatus
}
export interface JobCondition {
  type?: string
  status?: string
  lastProbeTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface JobList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Job[]
}
export interface JobSpec {
  parallelism?: number
  completions?: number
  activeDeadlineSeconds?: number | bigint
  podFailurePolicy?: PodFailurePolicy
  successPolicy?: SuccessPolicy
  backoffLimit?: number
  backoffLimitPerIndex?: number
  maxFailedIndexes?: number
  selector?: MetaV1.LabelSelector
  manualSelector?: boolean
  template?: CoreV1.PodTemplateSpec
  ttlSecondsAfterFinished?: number
  completionMode?: string
  suspend?: boolean
  podReplacementPolicy?: string
  managedBy?: string
}
export interface JobStatus {
  conditions?: JobCondition[]
  startTime?: MetaV1.Time
  completionTime?: MetaV1.Time
  active?: number
  succeeded?: number
  failed?: number
  terminating?: number
  completedIndexes?: string
  failedIndexes?: string
  uncountedTerminatedPods?: UncountedTerminatedPods
  ready?: number
}
export interface JobTemplateSpec {
  metadata?: MetaV1.ObjectMeta
  spec?: JobSpec
}
export interface PodFailurePolicy {
  rules?: PodFailurePolicyRule[]
}
export interface PodFailurePolicyOnExitCodesRequirement {
  containerName?: string
  operator?: string
  values?: number[]
}
export interface PodFailurePolicyOnPodConditionsPattern {
  type?: string
  status?: string
}
export interface PodFailurePolicyRule {
  action?: string
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[]
}
export interface SuccessPolicy {
  rules?: SuccessPolicyRule[]
}
export interface SuccessPolicyRule {
  succeededIndexes?: string
  succeededCount?: number
}
export interface UncountedTerminatedPods {
  succeeded?: string[]
  failed?: string[]
}
