import type { CronJob, CronJobSpec } from '../../api/batch/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, named, notSupported, path, required } from '../../api/field.ts'
import { scheduleProblem } from '../../validation/cron-schedule.ts'
import { nonNegative } from '../../validation/field-rules.ts'
import { byteLength } from '../../base/utf8.ts'
import { requiredOneOf } from '../../validation/pod/pod-spec.ts'
import { templateRules } from '../../validation/pod/pod-template.ts'
import { hostnameWarnings } from '../../validation/pod/pod-warnings.ts'
import { selectorJson } from '../../validation/pod/internal-json.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { timeZoneProblem } from '../../validation/time-zones.ts'
import { dropDisabledPodFields } from '../core/pods/pod-disabled-fields.ts'
import { cronJobPrinter } from '../../codec/table/batch.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { jobSpecWarnings, validateJobSpec } from './job-spec.ts'
import { itself } from '../work/work.ts'

const spec = path('spec')
const jobSpecAt = spec.child('jobTemplate', 'spec')
/** The controller appends the minute to the CronJob's name. The name of a Job has at most 63 characters. */
const MAX_NAME = 52

const jobOf = ({ spec: wanted }: CronJob) => wanted?.jobTemplate?.spec ?? {}

export const cronJobs: BuiltInDefinition<CronJob> = {
  podTemplate: (cronJob) => jobOf(cronJob).template,
  printer: cronJobPrinter,
  workloadWork: [itself('cron-job')],
  hasGeneration: true,
  prepareForCreate(cronJob, { enabled }) {
    dropDisabledPodFields(jobOf(cronJob).template?.spec, undefined, enabled)
  },
  prepareForUpdate(cronJob, old, { enabled }) {
    dropDisabledPodFields(jobOf(cronJob).template?.spec, jobOf(old).template?.spec, enabled)
  },
  validate(cronJob, context) {
    const { name = '' } = cronJob.metadata
    return [
      ...validateSpec(cronJob.spec ?? {}, undefined, templateRules(context)),
      ...(byteLength(name) > MAX_NAME
        ? [invalidValue(path('metadata', 'name'), name, `must be no more than ${MAX_NAME} characters`)]
        : []),
    ]
  },
  validateUpdate: (cronJob, old, context) =>
    validateSpec(cronJob.spec ?? {}, old.spec ?? {}, templateRules(context, jobOf(old).template)),
  warningsOnCreate: (cronJob) => [
    ...hostnameWarnings(cronJob.metadata.name ?? '', 'Pod names and hostnames'),
    ...jobSpecWarnings(jobSpecAt, jobOf(cronJob)),
  ],
  warningsOnUpdate: (cronJob, old) => [
    ...(cronJob.metadata.generation === old.metadata.generation ? [] : jobSpecWarnings(jobSpecAt, jobOf(cronJob))),
    ...(cronJob.spec?.schedule?.includes('TZ')
      ? [
          `cannot use TZ or CRON_TZ in ${path('spec', 'spec', 'schedule')}, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`,
        ]
      : []),
  ],
  subresources: { status: { metadataOnUpdate: 'by strategy' } },
}

function validateSpec(wanted: CronJobSpec, old: CronJobSpec | undefined, rules: PodRules): FieldError[] {
  const { schedule = '', timeZone, concurrencyPolicy, jobTemplate } = wanted
  const job = jobTemplate?.spec ?? {}
  const zoneProblem = timeZone === undefined ? undefined : timeZoneProblem(timeZone)
  const zoneIsNew = old === undefined || old.timeZone !== timeZone
  return [
    ...(schedule === '' ? [required(spec.child('schedule'))] : validateSchedule(schedule, wanted, old)),
    ...nonNegative(spec.child('startingDeadlineSeconds'), wanted.startingDeadlineSeconds),
    ...(zoneProblem !== undefined && zoneIsNew
      ? [invalidValue(spec.child('timeZone'), named(timeZone ?? ''), zoneProblem)]
      : []),
    ...requiredOneOf(spec.child('concurrencyPolicy'), concurrencyPolicy, ['Allow', 'Forbid', 'Replace']),
    ...validateJobSpec(jobSpecAt, job, rules),
    ...(job.selector === undefined
      ? []
      : [invalidValue(jobSpecAt.child('selector'), selectorJson(job.selector), '`selector` will be auto-generated')]),
    ...(job.manualSelector === true ? [notSupported(jobSpecAt.child('manualSelector'), true, ['nil', 'false'])] : []),
    ...nonNegative(spec.child('successfulJobsHistoryLimit'), wanted.successfulJobsHistoryLimit),
    ...nonNegative(spec.child('failedJobsHistoryLimit'), wanted.failedJobsHistoryLimit),
  ]
}

function validateSchedule(schedule: string, { timeZone }: CronJobSpec, old: CronJobSpec | undefined): FieldError[] {
  const at = spec.child('schedule')
  const problem = scheduleProblem(schedule)
  const errors = problem === undefined ? [] : [invalidValue(at, schedule, problem)]
  if (!schedule.includes('TZ')) return errors
  if (!old?.schedule?.includes('TZ'))
    errors.push(invalidValue(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (timeZone !== undefined)
    errors.push(invalidValue(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  return errors
}
