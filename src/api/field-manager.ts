import { invalidValue, tooLong } from './field.ts'
import type { FieldError, FieldPath } from './field.ts'
import { isPrint } from '../base/unicode.ts'
import { byteLength } from '../base/utf8.ts'

/** A field manager's name has at most 128 bytes, and only printable characters. */
export function validateFieldManager(manager: string, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(manager) > 128) errors.push(tooLong(at, 128))
  let position = 0
  for (const character of manager) {
    if (!isPrint(character)) {
      const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalidValue(at, manager, `invalid character U+${code} (at position ${position})`))
    }
    position += byteLength(character)
  }
  return errors
}
