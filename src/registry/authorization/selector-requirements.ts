/** Validates requirements of label and field selectors in objects (meta/v1 validation). */
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, required } from '../../api/field.ts'
import { labelKeyErrors, labelValueErrors } from '../../api/label-syntax.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { append } from '../../base/append.ts'

export interface SelectorRequirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

export function fieldRequirementErrors({ key = '', operator = '', values = [] }: SelectorRequirement, at: FieldPath) {
  return [...(key === '' ? [required(at.child('key'), 'must be specified')] : []), ...countErrors(operator, values, at)]
}

/** An unknown operator is no error, because newer clients may know more operators than this server. */
export function labelRequirementErrors(
  { key = '', operator = '', values = [] }: SelectorRequirement,
  at: FieldPath,
): FieldError[] {
  const errors = countErrors(operator, values, at)
  for (const problem of labelKeyErrors(key)) errors.push(invalidValue(at.child('key'), key, problem))
  append(
    errors,
    errorsOf(values, (value, index) => {
      const errors: FieldError[] = []
      for (const problem of labelValueErrors(value))
        errors.push(invalidValue(at.child('values').index(index), value, problem))
      return errors
    }),
  )
  return errors
}

function countErrors(operator: string, values: readonly string[], at: FieldPath): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbiddenField(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return []
  }
}
