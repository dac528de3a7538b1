import type { BuiltInDefinition } from '../built-in-definition.ts'
import { untyped } from '../untyped.ts'
import { cronJobs } from './cron-jobs.ts'
import { jobs } from './jobs.ts'

export const batchDefinitions: Readonly<Record<string, BuiltInDefinition>> = {
  'cronjobs.batch': untyped(cronJobs),
  'jobs.batch': untyped(jobs),
}
