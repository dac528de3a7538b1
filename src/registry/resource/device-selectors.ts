/** Selectors of devices are CEL expressions. The compiler is loaded with the first one. */
import type { DeviceClaim, DeviceSelector } from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, internalFieldError, invalidValue, required, tooLong } from '../../api/field.ts'
import { byteLength } from '../../api/utf8.ts'
import { listErrors, MAX_ENTRIES } from './names.ts'

type ProblemOf = typeof import('../../expressions/device-selectors.ts').deviceSelectorProblem

/** Checks the selectors of one place. */
export type SelectorsErrors = (selectors: readonly DeviceSelector[] | undefined, at: FieldPath) => FieldError[]

const MAX_EXPRESSION_BYTES = 10 * 1024

/** @param selectors all that the object has */
export async function selectorsValidator(selectors: readonly DeviceSelector[]): Promise<SelectorsErrors> {
  const hasExpressions = selectors.some(({ cel }) => cel !== undefined)
  const problemOf = hasExpressions
    ? (await import('../../expressions/device-selectors.ts')).deviceSelectorProblem
    : undefined
  return (some, at) =>
    listErrors(some, MAX_ENTRIES, at, ({ cel }, here) =>
      cel === undefined || problemOf === undefined
        ? [required(here.child('cel'))]
        : expressionErrors(cel.expression ?? '', here.child('cel', 'expression'), problemOf),
    )
}

export const selectorsOf = ({ requests }: DeviceClaim = {}): DeviceSelector[] =>
  (requests ?? []).flatMap(({ exactly, firstAvailable }) =>
    [exactly, ...(firstAvailable ?? [])].flatMap((wanted) => wanted?.selectors ?? []),
  )

function expressionErrors(expression: string, at: FieldPath, problemOf: ProblemOf): FieldError[] {
  if (byteLength(expression) > MAX_EXPRESSION_BYTES) return [tooLong(at, MAX_EXPRESSION_BYTES)]
  const found = problemOf(expression)
  if (found === undefined) return []
  if (found === 'too expensive') return [forbiddenField(at, 'too complex, exceeds cost limit')]
  return [found.isInternal ? internalFieldError(at, found.problem) : invalidValue(at, expression, found.problem)]
}
