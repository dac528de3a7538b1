import { untyped } from '../core/strategies.ts'
import type { Strategy } from '../strategy.ts'
import { cronJobs } from './cron-jobs.ts'
import { jobs } from './jobs.ts'

export const batchStrategies: Readonly<Record<string, Strategy>> = {
  'cronjobs.batch': untyped(cronJobs),
  'jobs.batch': untyped(jobs),
}
