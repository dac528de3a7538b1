import type { MatchCondition } from '../../api/admissionregistration/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, required, tooMany } from '../../api/field.ts'
import type { PolicyExpressions } from '../../expressions/policy-expressions.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { validateQualifiedName } from '../../validation/field-rules.ts'
import { compilationErrors, expressionErrors } from './expressions.ts'
import { errorsOf, weightOfExpressions } from '../../validation/errors-of.ts'

const MAX_CONDITIONS = 64

/** Each condition needs a unique name and an expression that compiles. */
export function matchConditionErrors(
  conditions: readonly MatchCondition[],
  at: FieldPath,
  compiler: PolicyExpressions,
): FieldError[] {
  const repeats = repeatsIn(conditions.map(({ name = '' }) => name))
  return [
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(at, conditions.length, MAX_CONDITIONS)] : []),
    ...errorsOf(
      conditions,
      ({ name = '', expression }, index) => {
        const here = at.index(index)
        const expressionAt = here.child('expression')
        return [
          ...expressionErrors(expression, expressionAt, '', (text) =>
            compilationErrors(compiler, 'matchCondition', text.trim(), expressionAt),
          ),
          ...(name === '' ? [required(here.child('name'))] : validateQualifiedName(here.child('name'), name)),
          ...(name !== '' && repeats.has(index) ? [duplicate(here.child('name'), name)] : []),
        ]
      },
      ({ expression }) => weightOfExpressions(expression),
    ),
  ]
}
