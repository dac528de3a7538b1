/** Validation that StorageClasses and VolumeAttributesClasses share. */
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, required, tooLong } from '../../api/field.ts'
import { kept } from '../../base/parts.ts'
import { problems } from '../../validation/field-rules.ts'
import { qualifiedNameProblems } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const MAX_PARAMETERS = 512
const MAX_PARAMETER_BYTES = 256 * 1024

/** The provisioner is a qualified name in any case. Messages print it in lower case. */
export const driverErrors = (at: FieldPath, driver = ''): FieldError[] => {
  const lower = driver.toLowerCase()
  return driver === '' ? [required(at)] : problems(at, lower, qualifiedNameProblems(lower))
}

export function parameterErrors(at: FieldPath, parameters: Readonly<Record<string, string>> = {}): FieldError[] {
  if (Object.keys(parameters).length > MAX_PARAMETERS) return [tooLong(at, MAX_PARAMETERS)]
  const entries = kept(parameters, () => Object.entries(parameters))
  const total = kept(parameters, () =>
    entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0),
  )
  return [
    ...errorsOf(entries, ([key]) => (key === '' ? [invalidValue(at, key, 'field can not be empty.')] : [])),
    ...(total > MAX_PARAMETER_BYTES ? [tooLong(at, MAX_PARAMETER_BYTES)] : []),
  ]
}
