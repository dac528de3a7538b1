/**
 * Formats that types declare for their fields (k8s:format=…), for kinds with declarative validation only. The error
 * texts resemble those of names, but count lengths in bytes.
 */
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue, required, tooLong } from '../api/field.ts'
import { problems } from './field-rules.ts'
import { dns1123Label, dns1123Subdomain, pathSegmentName, regexText } from './names.ts'
import { byteLength } from '../base/utf8.ts'

const MAX_NAME = 253
const MAX_POOL = 253

const inBytes = (texts: readonly string[]): string[] => texts.map((text) => text.replace(/ characters$/, ' bytes'))

type Format = (value: string) => readonly string[]

export const longName: Format = (value) => inBytes(dns1123Subdomain(value))
export const shortName: Format = (value) => inBytes(dns1123Label(value))
export const pathSegment: Format = (value) => pathSegmentName(value, false)

const PART = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${PART}(\\.${PART})*`
const anyCase = new RegExp(`^${SUBDOMAIN}$`, 'i')
const ANY_CASE_TEXT =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"

/** A long name, which may have capitals. */
export const longNameCaseless: Format = (value) => [
  ...(byteLength(value) > MAX_NAME ? [`must be no more than ${MAX_NAME} bytes`] : []),
  ...(anyCase.test(value) ? [] : [regexText(ANY_CASE_TEXT, SUBDOMAIN, 'Example.com')]),
]

/** A required field with the format. */
export const requiredFormat = (at: FieldPath, value: string | undefined, format: Format): FieldError[] =>
  value ? problems(at, value, format(value)) : [required(at)]

/** An optional field with the format: a pointer in Go. */
export const optionalFormat = (at: FieldPath, value: string | undefined, format: Format): FieldError[] =>
  value === undefined ? [] : problems(at, value, format(value))

/** The name of a device pool: long names with slashes between them. */
export function poolNameFormat(at: FieldPath, value: string): FieldError[] {
  const segments = value.split('/').flatMap((segment, index) => {
    const prefixed = (text: string) => `segment ${index}: ${text}`
    return segment === ''
      ? [invalidValue(at, value, prefixed('must not be empty'))]
      : problems(at, segment, longName(segment).map(prefixed))
  })
  return [...(byteLength(value) > MAX_POOL ? [tooLong(at, MAX_POOL)] : []), ...segments]
}
