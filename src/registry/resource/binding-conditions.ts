import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue } from '../../api/field.ts'
import { sentField } from '../../schema/emptied.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { validateQualifiedName } from '../../validation/field-rules.ts'
import { listErrors } from './names.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_CONDITIONS = 4

interface Conditions {
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
}

/**
 * bindingConditions delay the binding of a pod to the device's node, and bindingFailureConditions make it fail. A
 * device has both lists or neither.
 */
export function bindingConditionErrors(of: Conditions, at: FieldPath): FieldError[] {
  const { bindingConditions: awaited = [], bindingFailureConditions: failures = [] } = of
  const awaitedAt = at.child('bindingConditions')
  const failuresAt = at.child('bindingFailureConditions')
  const name = (condition: string, here: FieldPath) => validateQualifiedName(here, condition)
  const repeated = (conditions: readonly string[], listAt: FieldPath) => {
    const repeats = repeatsIn(conditions)
    return (condition: string, index: number) => (repeats.has(index) ? [duplicate(listAt.index(index), condition)] : [])
  }
  const repeatedFailure = repeated(failures, failuresAt)
  const isAwaited = new Set(awaited)
  const overlap = 'bindingFailureConditions must not overlap with bindingConditions'
  return [
    ...listErrors(awaited, MAX_CONDITIONS, awaitedAt, name),
    ...listErrors(failures, MAX_CONDITIONS, failuresAt, name),
    ...errorsOf(awaited, repeated(awaited, awaitedAt)),
    ...errorsOf(failures, (condition, index) => [
      ...repeatedFailure(condition, index),
      ...(isAwaited.has(condition) ? [invalidValue(failuresAt.index(index), condition, overlap)] : []),
    ]),
    ...(awaited.length === 0 && failures.length > 0
      ? [
          invalidValue(
            awaitedAt,
            sentField(of, 'bindingConditions') ?? null,
            'bindingConditions are required to use bindingFailureConditions',
          ),
        ]
      : []),
    ...(failures.length === 0 && awaited.length > 0
      ? [
          invalidValue(
            failuresAt,
            sentField(of, 'bindingFailureConditions') ?? null,
            'bindingFailureConditions are required to use bindingConditions',
          ),
        ]
      : []),
  ]
}
