/**
 * Validates the status of a Job, and the changes that its controller may not take back (batch's
 * JobStatusValidationOptions).
 */
import type { Job, JobStatus } from '../../api/batch/v1.ts'
import type { FieldError } from '../../api/field.ts'
import { duplicate, invalidValue, path, required } from '../../api/field.ts'
import { nonNegative } from '../../validation/field-rules.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { sameValue } from '../../validation/same-value.ts'
import { indexesOf, overlapOf } from './indexes.ts'
import { wrong } from './job-spec.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { kept } from '../../base/parts.ts'

const at = path('status')
const conditions = at.child('conditions')

const has = ({ conditions: list = [] }: JobStatus, type: string, status: string): boolean =>
  list.some((condition) => condition.type === type && condition.status === status)
export const isTrue = (status: JobStatus, type: string): boolean => has(status, type, 'True')
const isFinished = (status: JobStatus) => isTrue(status, 'Complete') || isTrue(status, 'Failed')

interface Change {
  readonly job: Job
  readonly now: JobStatus
  readonly old: JobStatus
  changed(...fields: readonly (keyof JobStatus)[]): boolean
  turned(...types: readonly string[]): boolean
}

export function validateJobStatusUpdate(job: Job, before: Job): FieldError[] {
  const now = job.status ?? {}
  const old = before.status ?? {}
  const change: Change = {
    job,
    now,
    old,
    changed: (...fields) => fields.some((field) => !sameField(field, now, old)),
    turned: (...types) => types.some((type) => isTrue(now, type) !== isTrue(old, type)),
  }
  return [
    ...(['active', 'succeeded', 'failed', 'ready', 'terminating'] as const).flatMap((field) =>
      nonNegative(at.child(field), now[field]),
    ),
    ...validateUncounted(now),
    ...validateCompletion(change),
    ...validateFinished(change),
    ...validateIndexes(change),
    ...validateSuccess(change),
    ...validateTransition(change),
  ]
}

function sameField(field: keyof JobStatus, a: JobStatus, b: JobStatus): boolean {
  if (field === 'completedIndexes') return (a[field] ?? '') === (b[field] ?? '')
  if (field === 'active') return (a[field] ?? 0) === (b[field] ?? 0)
  if (field === 'uncountedTerminatedPods')
    return sameValue('io.k8s.api.batch.v1.UncountedTerminatedPods', a[field], b[field])
  return a[field] === b[field]
}

function validateUncounted({ uncountedTerminatedPods: pods = {} }: JobStatus): FieldError[] {
  const seen = kept(pods, () => new Set<string>())
  return (['succeeded', 'failed'] as const).flatMap((field) =>
    errorsOf(pods[field] ?? [], (uid, index) => {
      const here = at.child('uncountedTerminatedPods', field).index(index)
      if (uid === '') return [invalidValue(here, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicate(here, uid)]
      seen.add(uid)
      return []
    }),
  )
}

function validateCompletion({ now, changed, turned }: Change): FieldError[] {
  const errors: FieldError[] = []
  const isComplete = isTrue(now, 'Complete')
  const time = at.child('completionTime')
  if (turned('Complete', 'Failed') && isComplete && isTrue(now, 'Failed'))
    errors.push(wrong(conditions, 'cannot set Complete=True and Failed=true conditions'))
  if (turned('Complete', 'FailureTarget') && isComplete && isTrue(now, 'FailureTarget'))
    errors.push(wrong(conditions, 'cannot set Complete=True and FailureTarget=true conditions'))
  const asksForTime = turned('Complete') || changed('completionTime')
  if (asksForTime && now.completionTime !== undefined && !isComplete)
    errors.push(
      invalidValue(time, now.completionTime, 'cannot set completionTime when there is no Complete=True condition'),
    )
  if (asksForTime && now.completionTime === undefined && isComplete)
    errors.push(required(time, 'completionTime is required for Complete jobs'))
  const { startTime, completionTime } = now
  if (changed('startTime', 'completionTime') && startTime !== undefined && completionTime !== undefined)
    if (Date.parse(completionTime) < Date.parse(startTime))
      errors.push(invalidValue(time, completionTime, 'must be equal to or after `startTime`'))
  if ((turned('Failed') || changed('failedIndexes')) && isTrue(now, 'Failed') && !isTrue(now, 'FailureTarget'))
    errors.push(wrong(conditions, 'cannot set Failed=True condition without the FailureTarget=true condition'))
  if (turned('Complete', 'SuccessCriteriaMet') && isComplete && !isTrue(now, 'SuccessCriteriaMet'))
    errors.push(wrong(conditions, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition'))
  return errors
}

function validateFinished({ job, now, old, changed }: Change): FieldError[] {
  if (!isFinished(now)) return []
  const ended = !isFinished(old)
  const errors: FieldError[] = []
  if ((ended || changed('active')) && (now.active ?? 0) > 0)
    errors.push(invalidValue(at.child('active'), now.active, 'active>0 is invalid for finished job'))
  const neverRan = job.spec?.suspend === true && job.spec.completions === 0
  if ((ended || changed('startTime')) && !neverRan && now.startTime === undefined)
    errors.push(required(at.child('startTime'), 'startTime is required for finished job'))
  const uncounted = now.uncountedTerminatedPods
  const left = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length
  if ((ended || changed('uncountedTerminatedPods')) && uncounted !== undefined && left > 0) {
    const shown = internalJson('io.k8s.api.batch.v1.UncountedTerminatedPods', uncounted)
    errors.push(invalidValue(at.child('uncountedTerminatedPods'), shown, 'must be empty for finished job'))
  }
  return errors
}

function validateIndexes({ job, now, old, changed }: Change): FieldError[] {
  const { completions, completionMode, backoffLimitPerIndex } = job.spec ?? {}
  const { completedIndexes = '', failedIndexes } = now
  const errors: FieldError[] = []
  const completedChanged = changed('completedIndexes')
  const failedChanged = changed('failedIndexes')
  const check = (field: 'completedIndexes' | 'failedIndexes', text: string) => {
    const parsed = indexesOf(text, completions ?? 0)
    if (typeof parsed === 'string')
      errors.push(invalidValue(at.child(field), text, `error parsing ${field}: ${parsed}`))
  }
  if (completedChanged && completions !== undefined) check('completedIndexes', completedIndexes)
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined)
    check('failedIndexes', failedIndexes)
  if (completedChanged && completedIndexes !== '' && completionMode !== 'Indexed')
    errors.push(
      invalidValue(
        at.child('completedIndexes'),
        completedIndexes,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    )
  const failedAt = at.child('failedIndexes')
  if (failedChanged && backoffLimitPerIndex === undefined && failedIndexes !== undefined)
    errors.push(
      invalidValue(failedAt, failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
    )
  if ((failedChanged || completedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const index = overlapOf(completedIndexes, failedIndexes, completions)
    if (index !== undefined)
      errors.push(
        invalidValue(failedAt, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${index}`),
      )
  }
  const ended = isFinished(now) !== isFinished(old)
  if ((ended || changed('terminating')) && (now.terminating ?? 0) > 0 && isFinished(now))
    errors.push(invalidValue(at.child('terminating'), now.terminating, 'terminating>0 is invalid for finished job'))
  if (changed('ready', 'active') && now.ready !== undefined && now.ready > (now.active ?? 0))
    errors.push(invalidValue(at.child('ready'), now.ready, 'cannot set more ready pods than active'))
  return errors
}

function validateSuccess({ job, now }: Change): FieldError[] {
  const isMet = isTrue(now, 'SuccessCriteriaMet')
  const errors: FieldError[] = []
  if (isMet && isTrue(now, 'Failed'))
    errors.push(wrong(conditions, 'cannot set SuccessCriteriaMet=True and Failed=true conditions'))
  if (isMet && isTrue(now, 'FailureTarget'))
    errors.push(wrong(conditions, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'))
  if (job.spec?.successPolicy !== undefined && !isMet && isTrue(now, 'Complete'))
    errors.push(wrong(conditions, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'))
  return errors
}

function validateTransition({ job, now, old, changed }: Change): FieldError[] {
  const { completionMode, completions, parallelism, suspend } = job.spec ?? {}
  const errors = ['Failed', 'Complete', 'FailureTarget']
    .filter((type) => isTrue(old, type) && !isTrue(now, type))
    .map((type) => wrong(conditions, `cannot disable the terminal ${type}=True condition`))
  if ((now.failed ?? 0) < (old.failed ?? 0))
    errors.push(invalidValue(at.child('failed'), now.failed ?? 0, 'cannot decrease the failed counter'))
  const mayShrink = completionMode === 'Indexed' && completions === parallelism
  if (!mayShrink && (now.succeeded ?? 0) < (old.succeeded ?? 0))
    errors.push(invalidValue(at.child('succeeded'), now.succeeded ?? 0, 'cannot decrease the succeeded counter'))
  if (now.completionTime !== undefined && old.completionTime !== undefined && changed('completionTime'))
    errors.push(invalidValue(at.child('completionTime'), now.completionTime, 'field is immutable'))
  const isResuming = isTrue(old, 'Suspended') && has(now, 'Suspended', 'False')
  if (changed('startTime') && !isResuming && old.startTime !== undefined && suspend !== true)
    errors.push(invalidValue(at.child('startTime'), now.startTime, 'field is immutable for unsuspended job once set'))
  if (isTrue(old, 'SuccessCriteriaMet') && !isTrue(now, 'SuccessCriteriaMet'))
    errors.push(wrong(conditions, 'cannot disable the SuccessCriteriaMet=True condition'))
  if (isTrue(old, 'Complete') && !isTrue(old, 'SuccessCriteriaMet') && isTrue(now, 'SuccessCriteriaMet'))
    errors.push(wrong(conditions, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'))
  return errors
}
