/** Validates the spec of a Job, and of a CronJob's job template. */
import { append } from '../../base/append.ts'
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../../api/batch/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, notSupported, required, tooLong, tooMany } from '../../api/field.ts'
import { nonNegative, validateDomainPath, validateQualifiedName } from '../../validation/field-rules.ts'
import { byteLength } from '../../base/utf8.ts'
import { internalJson } from '../../validation/pod/internal-json.ts'
import { validatePodTemplate } from '../../validation/pod/pod-template.ts'
import { templateWarnings } from '../../validation/pod/pod-warnings.ts'
import type { PodRules } from '../../validation/pod/rules.ts'
import { oneOf } from '../../validation/pod/security-context.ts'
import { indexesOf } from './indexes.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { kept } from '../../base/parts.ts'

const MANY = 100_000
const MAX_PARALLEL_WITH_MANY = 10_000

/** An error whose message quotes no value. */
export const wrong = (at: FieldPath, text: string): FieldError => ({
  type: 'FieldValueInvalid',
  field: at.toString(),
  message: `Invalid value: ${text}`,
})

export function validateJobSpec(at: FieldPath, spec: JobSpec, rules: PodRules): FieldError[] {
  const { backoffLimitPerIndex, maxFailedIndexes, managedBy, podFailurePolicy, successPolicy } = spec
  const isIndexed = spec.completionMode === 'Indexed'
  const errors = counts.flatMap((field) => nonNegative(at.child(field), spec[field]))
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined)
    errors.push(required(at.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
  if (managedBy !== undefined) {
    append(errors, validateDomainPath(at.child('managedBy'), managedBy))
    if (byteLength(managedBy) > 63) errors.push(tooLong(at.child('managedBy'), 63))
  }
  append(errors, oneOf(at.child('completionMode'), spec.completionMode, ['NonIndexed', 'Indexed']))
  if (isIndexed) append(errors, validateIndexed(at, spec))
  else if (spec.completionMode === undefined || spec.completionMode === 'NonIndexed')
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
      if (spec[field] !== undefined)
        errors.push(invalidValue(at.child(field), spec[field], 'requires indexed completion mode'))
  if (podFailurePolicy !== undefined) append(errors, validateFailurePolicy(at.child('podFailurePolicy', 'rules'), spec))
  if (successPolicy !== undefined) {
    if (isIndexed) append(errors, validateSuccessPolicy(at.child('successPolicy', 'rules'), spec))
    else {
      const shown = internalJson('io.k8s.api.batch.v1.SuccessPolicy', successPolicy)
      errors.push(invalidValue(at.child('successPolicy'), shown, 'requires indexed completion mode'))
    }
  }
  return [
    ...errors,
    ...oneOf(
      at.child('podReplacementPolicy'),
      spec.podReplacementPolicy,
      podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'],
    ),
    ...validatePodTemplate(at.child('template'), spec.template ?? {}, rules),
    ...validateRestartPolicy(at.child('template', 'spec', 'restartPolicy'), spec),
  ]
}

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const

function validateIndexed(at: FieldPath, spec: JobSpec): FieldError[] {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec
  const errors: FieldError[] = []
  if (completions === undefined) errors.push(required(at.child('completions'), 'when completion mode is Indexed'))
  if (parallelism !== undefined && parallelism > MANY)
    errors.push(
      invalidValue(
        at.child('parallelism'),
        parallelism,
        `must be less than or equal to ${MANY} when completion mode is Indexed`,
      ),
    )
  const failed = at.child('maxFailedIndexes')
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    errors.push(invalidValue(failed, maxFailedIndexes, 'must be less than or equal to completions'))
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MANY)
    errors.push(invalidValue(failed, maxFailedIndexes, `must be less than or equal to ${MANY}`))
  if (completions === undefined || completions <= MANY || backoffLimitPerIndex === undefined) return errors
  const text = `must be less than or equal to ${MAX_PARALLEL_WITH_MANY} when completions are above ${MANY} and used with backoff limit per index`
  if (maxFailedIndexes === undefined)
    errors.push(required(failed, `must be specified when completions is above ${MANY}`))
  if (parallelism !== undefined && parallelism > MAX_PARALLEL_WITH_MANY)
    errors.push(invalidValue(at.child('parallelism'), parallelism, text))
  if (maxFailedIndexes !== undefined && maxFailedIndexes > MAX_PARALLEL_WITH_MANY)
    errors.push(invalidValue(failed, maxFailedIndexes, text))
  return errors
}

function validateRestartPolicy(at: FieldPath, { template, podFailurePolicy }: JobSpec): FieldError[] {
  const policy = template?.spec?.restartPolicy ?? ''
  if (policy === 'Always' || policy === '') return [required(at, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(at, policy, ['OnFailure', 'Never'])]
  return podFailurePolicy !== undefined && policy !== 'Never'
    ? [invalidValue(at, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : []
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const STATUSES = ['False', 'True', 'Unknown']
const MAX_RULES = 20

const quotedList = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

const neededOneOf = (at: FieldPath, value: string, known: readonly string[]): FieldError[] =>
  value === '' ? [required(at, `valid values: ${quotedList(known)}`)] : oneOf(at, value, known)

function validateFailurePolicy(at: FieldPath, spec: JobSpec): FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? []
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {}
  const names = new Set([...containers, ...initContainers].map(({ name = '' }) => name))
  return [
    ...(rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : []),
    ...errorsOf(rules, (rule, index) => validateFailureRule(at.index(index), rule, spec, names)),
  ]
}

function validateFailureRule(
  at: FieldPath,
  { action = '', onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  spec: JobSpec,
  containers: ReadonlySet<string>,
): FieldError[] {
  const errors = neededOneOf(at.child('action'), action, ACTIONS)
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    errors.push(invalidValue(at.child('action'), action, 'requires the backoffLimitPerIndex to be set'))
  if (onExitCodes !== undefined) append(errors, validateExitCodes(at.child('onExitCodes'), onExitCodes, containers))
  const conditions = at.child('onPodConditions')
  if (onPodConditions.length > MAX_RULES) errors.push(tooMany(conditions, onPodConditions.length, MAX_RULES))
  append(
    errors,
    errorsOf(onPodConditions, ({ type = '', status = '' }, index) => [
      ...validateQualifiedName(conditions.index(index).child('type'), type),
      ...neededOneOf(conditions.index(index).child('status'), status, STATUSES),
    ]),
  )
  if (onExitCodes !== undefined && onPodConditions.length > 0)
    errors.push(wrong(at, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  if (onExitCodes === undefined && onPodConditions.length === 0)
    errors.push(wrong(at, 'specifying one of OnExitCodes and OnPodConditions is required'))
  return errors
}

function validateExitCodes(
  at: FieldPath,
  { operator = '', containerName, values: given }: PodFailurePolicyOnExitCodesRequirement,
  containers: ReadonlySet<string>,
): FieldError[] {
  const values = given ?? []
  const errors = neededOneOf(at.child('operator'), operator, OPERATORS)
  if (containerName !== undefined && !containers.has(containerName))
    errors.push(
      invalidValue(
        at.child('containerName'),
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    )
  const list = at.child('values')
  if (values.length === 0) errors.push(invalidValue(list, given ?? null, 'at least one value is required'))
  else if (values.length > 255) errors.push(tooMany(list, values.length, 255))
  const seen = kept(values, () => new Set<number>())
  append(
    errors,
    errorsOf(values, (value, index) => {
      const errors: FieldError[] = []
      if (operator === 'In' && value === 0)
        errors.push(invalidValue(list.index(index), value, 'must not be 0 for the In operator'))
      if (seen.has(value)) errors.push(duplicate(list.index(index), value))
      seen.add(value)
      return errors
    }),
  )
  if (values.some((value, index) => index > 0 && values[index - 1]! > value))
    errors.push(invalidValue(list, values, 'must be ordered'))
  return errors
}

function validateSuccessPolicy(at: FieldPath, spec: JobSpec): FieldError[] {
  const rules = spec.successPolicy?.rules ?? []
  return [
    ...(rules.length === 0
      ? [required(at, 'at least one rules must be specified when the successPolicy is specified')]
      : []),
    ...(rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : []),
    ...errorsOf(rules, (rule, index) => validateSuccessRule(at.index(index), rule, spec.completions ?? 0)),
  ]
}

const MAX_INDEXES = 64 * 1024

function validateSuccessRule(
  at: FieldPath,
  { succeededCount, succeededIndexes }: SuccessPolicyRule,
  completions: number,
): FieldError[] {
  const errors: FieldError[] = []
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(at, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total = 0
  if (succeededIndexes !== undefined) {
    const here = at.child('succeededIndexes')
    if (byteLength(succeededIndexes) > MAX_INDEXES) errors.push(tooLong(here, MAX_INDEXES))
    const parsed = indexesOf(succeededIndexes, completions)
    if (typeof parsed === 'string')
      errors.push(invalidValue(here, succeededIndexes, `error parsing succeededIndexes: ${parsed}`))
    else total = parsed.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }
  if (succeededCount === undefined) return errors
  const here = at.child('succeededCount')
  append(errors, nonNegative(here, succeededCount))
  if (succeededCount > completions)
    errors.push(
      invalidValue(
        here,
        succeededCount,
        `must be less than or equal to ${completions} (the number of specified completions)`,
      ),
    )
  if (succeededIndexes !== undefined && succeededCount > total)
    errors.push(
      invalidValue(
        here,
        succeededCount,
        `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
      ),
    )
  return errors
}

export function jobSpecWarnings(at: FieldPath, spec: JobSpec): string[] {
  const { completionMode, completions = 0, parallelism = 0, template = {} } = spec
  const isHuge = completionMode === 'Indexed' && completions > MANY && parallelism > MAX_PARALLEL_WITH_MANY
  return [
    ...(isHuge
      ? [
          `${at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
        ]
      : []),
    ...templateWarnings(at.child('template'), template),
  ]
}
