/** Validates label selectors and matches labels (apimachinery's metav1.LabelSelector). */
import { append } from '../base/append.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { forbiddenField, invalidValue, named, required } from '../api/field.ts'
import type { LabelSelector, LabelSelectorRequirement } from '../api/meta/v1.ts'
import { ownValue } from '../base/own.ts'
import { everyName, everyPart, somePart } from '../base/parts.ts'
import { problems, validateQualifiedName } from './field-rules.ts'
import { labelValueProblems, qualifiedNameProblems } from './names.ts'
import { validateLabels } from './object-meta.ts'
import { errorsOf } from './errors-of.ts'

export interface SelectorRules {
  /** Accepts values that are no valid label values, because the stored object has such values. */
  readonly allowInvalidValues?: boolean
}

export function validateLabelSelector(
  at: FieldPath,
  selector: LabelSelector | undefined,
  rules: SelectorRules = {},
): FieldError[] {
  if (selector === undefined) return []
  return [
    ...validateLabels(selector.matchLabels ?? {}, at.child('matchLabels')),
    ...errorsOf(selector.matchExpressions ?? [], (requirement, index) =>
      validateRequirement(at.child('matchExpressions').index(index), requirement, rules),
    ),
  ]
}

function validateRequirement(at: FieldPath, requirement: LabelSelectorRequirement, rules: SelectorRules): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      errors.push(
        forbiddenField(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      )
  } else errors.push(invalidValue(at.child('operator'), named(operator), 'not a valid selector operator'))
  append(errors, validateQualifiedName(at.child('key'), key))
  if (!rules.allowInvalidValues)
    append(
      errors,
      errorsOf(values, (value, index) => problems(at.child('values').index(index), value, labelValueProblems(value))),
    )
  return errors
}

export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length + matchExpressions.length === 0

/**
 * Whether metav1.LabelSelectorAsSelector accepts it: keys and values are valid, and operators have the values that they
 * need.
 */
export function isUsableSelector(selector: LabelSelector): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector
  const isPair = (key: string) =>
    qualifiedNameProblems(key).length === 0 && labelValueProblems(ownValue(matchLabels, key)!).length === 0
  return (
    everyName(matchLabels, isPair) &&
    everyPart(matchExpressions, ({ key = '', operator = '', values = [] }) => {
      const counted = operator === 'In' || operator === 'NotIn' ? values.length > 0 : values.length === 0
      const isKnown = ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator)
      return isKnown && counted && qualifiedNameProblems(key).length === 0 && !hasWrongText(values)
    })
  )
}

/** An absent selector matches nothing, an empty one everything. */
export function selectorMatches(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  if (selector === undefined) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    everyName(matchLabels, (key) => ownValue(labels, key) === ownValue(matchLabels, key)) &&
    everyPart(matchExpressions, ({ key = '', operator, values = [] }) => {
      const value = ownValue(labels, key)
      if (operator === 'In') return value !== undefined && values.includes(value)
      if (operator === 'NotIn') return value === undefined || !values.includes(value)
      return operator === 'Exists' ? value !== undefined : value === undefined
    })
  )
}

/** Whether a stored selector has an invalid label value. Its updates may then have such values, too. */
export const hasInvalidValue = ({ matchExpressions = [] }: Pick<LabelSelector, 'matchExpressions'>): boolean =>
  somePart(matchExpressions, ({ values = [] }) => hasWrongText(values))

const hasWrongText = (values: readonly string[]): boolean =>
  somePart(values, (value) => labelValueProblems(value).length > 0)
