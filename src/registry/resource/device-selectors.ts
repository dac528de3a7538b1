/** Selectors of devices are CEL expressions. The first selector loads the compiler. */
import type { DeviceClaim, DeviceSelector } from '../../api/resource/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, internalFieldError, invalidValue, required, tooLong } from '../../api/field.ts'
import { inPartsAwaiting, resuming } from '../../base/parts.ts'
import { turnOfOthers } from '../../base/slices.ts'
import { byteLength } from '../../base/utf8.ts'
import { weightOfExpressions } from '../../validation/errors-of.ts'
import type { StrategyContext } from '../strategy.ts'
import { listErrors, MAX_ENTRIES } from './names.ts'

type Problem = ReturnType<typeof import('../../expressions/device-selectors.ts').deviceSelectorProblem>
type ProblemOf = (text: string) => Problem

/** Validates the selectors of one field. */
export type SelectorsErrors = (selectors: readonly DeviceSelector[] | undefined, at: FieldPath) => FieldError[]

const MAX_EXPRESSION_BYTES = 10 * 1024

/**
 * @param selectors all selectors of the object
 * @param check validates the object, with its selectors
 */
export async function withSelectors(
  selectors: readonly DeviceSelector[],
  { enabled }: Pick<StrategyContext, 'enabled'>,
  check: (selectorsErrors: SelectorsErrors) => FieldError[],
): Promise<FieldError[]> {
  const inParts = resuming()
  if (!selectors.some(({ cel }) => cel !== undefined)) return inParts(() => check(errorsBy(undefined)))
  const { deviceSelectorProblem } = await import('../../expressions/device-selectors.ts')
  const withLists = enabled('DRAListTypeAttributes')
  const problemOf: ProblemOf = (text) => deviceSelectorProblem(text, withLists)
  // compiling takes long, whatever the size of the object
  return inPartsAwaiting(() => check(errorsBy(problemOf)), turnOfOthers)
}

const errorsBy =
  (problemOf: ProblemOf | undefined): SelectorsErrors =>
  (some, at) =>
    listErrors(
      some,
      MAX_ENTRIES,
      at,
      ({ cel }, here) =>
        cel === undefined || problemOf === undefined
          ? [required(here.child('cel'))]
          : expressionErrors(cel.expression ?? '', here.child('cel', 'expression'), problemOf),
      ({ cel }) => weightOfExpressions(cel?.expression),
    )

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
