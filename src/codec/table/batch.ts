import type { CronJob, Job, JobCondition } from '../../api/batch/v1.ts'
import { humanDuration, since } from './age.ts'
import { age, containerCells, nameOf, printer } from './cells.ts'
import { selectorCell } from './selector-text.ts'

export const jobPrinter = printer<Job>((object, now) => [
  nameOf(object),
  statusOf(object),
  completionsOf(object),
  durationOf(object, now),
  age(object, now),
  ...containerCells(object.spec?.template?.spec?.containers),
  selectorCell(object.spec?.selector),
])

export const cronJobPrinter = printer<CronJob>((object, now) => {
  const { spec = {}, status = {} } = object
  const { spec: jobSpec = {} } = spec.jobTemplate ?? {}
  return [
    nameOf(object),
    spec.schedule ?? '',
    spec.timeZone ?? '<none>',
    spec.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
    (status.active ?? []).length,
    status.lastScheduleTime === undefined ? '<none>' : since(status.lastScheduleTime, now),
    age(object, now),
    ...containerCells(jobSpec.template?.spec?.containers),
    selectorCell(jobSpec.selector),
  ]
})

function completionsOf({ spec = {}, status = {} }: Job): string {
  const succeeded = status.succeeded ?? 0
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`
  const { parallelism = 0 } = spec
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationOf({ status = {} }: Job, now: Date): string {
  if (status.startTime === undefined) return ''
  const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime)
  return humanDuration(end - Date.parse(status.startTime))
}

const has = (conditions: readonly JobCondition[], wanted: string): boolean =>
  conditions.find(({ type }) => type === wanted)?.status === 'True'

function statusOf({ metadata, status = {} }: Job): string {
  const { conditions = [] } = status
  if (has(conditions, 'Complete')) return 'Complete'
  if (has(conditions, 'Failed')) return 'Failed'
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (has(conditions, 'Suspended')) return 'Suspended'
  if (has(conditions, 'FailureTarget')) return 'FailureTarget'
  return has(conditions, 'SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running'
}
