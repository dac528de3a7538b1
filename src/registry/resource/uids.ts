import type { FieldError, FieldPath } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { invalidValue } from '../../api/field.ts'
import { byteLength } from '../../base/utf8.ts'

const NORMAL = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Validates a UID in the form that RFC 4122 calls normalized. */
export function uidErrors(uid: string, at: FieldPath): FieldError[] {
  if (NORMAL.test(uid)) return []
  const problem = parseProblem(uid)
  if (problem !== undefined) return [invalidValue(at, uid, `error validating uid: ${problem}`)]
  return [
    invalidValue(
      at,
      uid,
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    ),
  ]
}

/**
 * kube-apiserver also parses these forms, and then refuses them with another message: URN, braces, no dashes, upper
 * case.
 */
function parseProblem(uid: string): string | undefined {
  const FORMAT = 'invalid UUID format'
  const isPlain = (text: string) => (new RegExp(NORMAL, 'i').test(text) ? undefined : FORMAT)
  const length = byteLength(uid)
  switch (length) {
    case 32:
      return /^[0-9a-f]{32}$/i.test(uid) ? undefined : FORMAT
    case 36:
      return isPlain(uid)
    case 38:
      return /^\{.*\}$/s.test(uid) ? isPlain(uid.slice(1, -1)) : 'invalid bracketed UUID format'
    case 45:
      return /^urn:uuid:/i.test(uid) ? isPlain(uid.slice(9)) : `invalid urn prefix: ${goQuote(uid.slice(0, 9))}`
    default:
      return `invalid UUID length: ${length}`
  }
}
