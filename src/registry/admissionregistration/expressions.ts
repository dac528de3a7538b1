/**
 * Checks that expressions of policies and match conditions are there and that they compile. The first expression loads
 * the compiler.
 */
import type { FieldError, FieldPath } from '../../api/field.ts'
import { internalFieldError, invalidValue, required } from '../../api/field.ts'
import type { AdmissionExpression, ExpressionUse } from '../../expressions/admission-expressions.ts'
import type { PolicyExpressions, PolicyExpressionsOptions } from '../../expressions/policy-expressions.ts'

export async function policyExpressions(options: PolicyExpressionsOptions): Promise<PolicyExpressions> {
  const { PolicyExpressions } = await import('../../expressions/policy-expressions.ts')
  return new PolicyExpressions(options)
}

/** Checks that the expression is not empty. */
export const expressionErrors = (
  expression: string | undefined,
  at: FieldPath,
  detail: string,
  errorsOf: (expression: string) => FieldError[],
): FieldError[] =>
  expression === undefined || expression.trim() === '' ? [required(at, detail)] : errorsOf(expression)

/** @param shown the expression as the error quotes it */
export const compilationErrors = (
  compiler: PolicyExpressions,
  use: ExpressionUse,
  expression: string,
  at: FieldPath,
  shown = expression,
): FieldError[] => problemErrors(compiler.compile(expression, use), at, shown)

export function problemErrors(compiled: AdmissionExpression, at: FieldPath, shown: string): FieldError[] {
  if (compiled.program !== undefined) return []
  const { problem, isInternal } = compiled
  return [isInternal ? internalFieldError(at, problem) : invalidValue(at, shown, problem)]
}
