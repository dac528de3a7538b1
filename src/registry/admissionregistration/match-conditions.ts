import type { MatchCondition } from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, required, tooMany } from '../../api/field.ts'
import { validateQualifiedName } from '../../validation/field-rules.ts'

const MAX_CONDITIONS = 64

/** Conditions have names, each its own, and expressions. */
export function matchConditionErrors(conditions: readonly MatchCondition[] = [], at: FieldPath): FieldError[] {
  const names = conditions.map(({ name = '' }) => name)
  return [
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(at, conditions.length, MAX_CONDITIONS)] : []),
    ...conditions.flatMap(({ name = '', expression = '' }, index) => {
      const here = at.index(index)
      return [
        ...expressionErrors(expression, here.child('expression')),
        ...(name === '' ? [required(here.child('name'))] : validateQualifiedName(here.child('name'), name)),
        ...(name !== '' && names.indexOf(name) < index ? [duplicate(here.child('name'), name)] : []),
      ]
    }),
  ]
}

/** There is an expression. */
export const expressionErrors = (expression: string | undefined, at: FieldPath, detail = ''): FieldError[] =>
  expression === undefined || expression.trim() === '' ? [required(at, detail)] : []
