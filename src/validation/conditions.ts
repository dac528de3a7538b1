/** Validates conditions of type metav1.Condition, which most kinds use. */
import { append } from '../base/append.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { duplicate, invalidValue, notSupported, required, tooLong } from '../api/field.ts'
import type { Condition } from '../api/meta/v1.ts'
import { validateQualifiedName } from './field-rules.ts'
import { regexText } from './names.ts'
import { byteLength } from '../base/utf8.ts'
import { errorsOf } from './errors-of.ts'
import { kept } from '../base/parts.ts'

const STATUSES = ['False', 'True', 'Unknown']
const MAX_REASON = 1024
const MAX_MESSAGE = 32 * 1024
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'

export function validateConditions(at: FieldPath, conditions: readonly Condition[]): FieldError[] {
  const seen = kept(conditions, () => new Set<string>())
  return errorsOf(conditions, (condition, index) => {
    const here = at.index(index)
    const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition
    const errors = seen.has(type) ? [duplicate(here.child('type'), type)] : []
    seen.add(type)
    append(errors, validateQualifiedName(here.child('type'), type))
    if (!STATUSES.includes(status)) errors.push(notSupported(here.child('status'), status, STATUSES))
    if (observedGeneration < 0)
      errors.push(
        invalidValue(here.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'),
      )
    if (!lastTransitionTime) errors.push(required(here.child('lastTransitionTime')))
    if (reason === '') errors.push(required(here.child('reason')))
    else if (!new RegExp(`^${REASON}$`).test(reason)) {
      const text =
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
      errors.push(
        invalidValue(
          here.child('reason'),
          reason,
          regexText(text, REASON, 'my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'),
        ),
      )
    }
    if (byteLength(reason) > MAX_REASON) errors.push(tooLong(here.child('reason'), MAX_REASON))
    if (byteLength(message) > MAX_MESSAGE) errors.push(tooLong(here.child('message'), MAX_MESSAGE))
    return errors
  })
}
