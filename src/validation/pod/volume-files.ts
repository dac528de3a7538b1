/** Validates the files of a volume: modes, keys and paths. */
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { invalidValue, required } from '../../api/field.ts'
import { requiredText } from '../field-rules.ts'
import { nonReservedPath } from '../local-paths.ts'
import { FIELDS_IN_FILES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts'
import { errorsOf } from '../errors-of.ts'

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive'

export const validateFileMode = (at: FieldPath, mode: number | undefined): FieldError[] =>
  mode !== undefined && (mode > 0o777 || mode < 0) ? [invalidValue(at, mode, FILE_MODE)] : []

export function validateKeyToPath(at: FieldPath, { key, path = '', mode }: CoreV1.KeyToPath): FieldError[] {
  return [
    ...requiredText(at.child('key'), key),
    ...requiredText(at.child('path'), path),
    ...nonReservedPath(at.child('path'), path),
    ...validateFileMode(at.child('mode'), mode),
  ]
}

export const validateItems = (at: FieldPath, items: readonly CoreV1.KeyToPath[] = []): FieldError[] =>
  errorsOf(items, (item, index) => validateKeyToPath(at.index(index), item))

export function validateDownwardFile(at: FieldPath, file: CoreV1.DownwardAPIVolumeFile): FieldError[] {
  const { path = '', fieldRef, resourceFieldRef, mode } = file
  const errors = [...requiredText(at.child('path'), path), ...nonReservedPath(at.child('path'), path)]
  if (fieldRef !== undefined) {
    append(errors, validateFieldRef(at.child('fieldRef'), fieldRef, FIELDS_IN_FILES))
    if (resourceFieldRef !== undefined)
      errors.push(invalidValue(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (resourceFieldRef !== undefined)
    append(errors, validateResourceFieldRef(at.child('resourceFieldRef'), resourceFieldRef, true))
  else errors.push(required(at, 'one of fieldRef and resourceFieldRef is required'))
  return [...errors, ...validateFileMode(at.child('mode'), mode)]
}
