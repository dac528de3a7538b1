// Generated from the facts by `npm run generate`. Do not edit.
import type * as BatchV1 from './v1.ts'
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
export interface JobTemplateSpec {
  metadata?: MetaV1.ObjectMeta
  spec?: BatchV1.JobSpec
}
