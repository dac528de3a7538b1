/** Checks of one value that many kinds use. Each returns the errors of its field; a valid value has none. */
import type { FieldError, FieldPath } from '../api/field.ts'
import { invalidValue, named, required } from '../api/field.ts'
import { FIELD_IS_IMMUTABLE } from './object-meta.ts'
import { dns1123Label, dns1123Subdomain, qualifiedNameProblems, regexText } from './names.ts'

export const NOT_NEGATIVE = 'must be greater than or equal to 0'
export const POSITIVE = 'must be greater than zero'
export const MAX_INT32 = 2 ** 31 - 1

export const rangeText = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`

/** One error for each message about a value. */
export const problems = (at: FieldPath, value: unknown, texts: readonly string[]): FieldError[] =>
  texts.map((text) => invalidValue(at, value, text))

export const nonNegative = (at: FieldPath, value: number | bigint | undefined): FieldError[] =>
  value !== undefined && value < 0 ? [invalidValue(at, value, NOT_NEGATIVE)] : []

export const positive = (at: FieldPath, value: number | bigint): FieldError[] =>
  value <= 0 ? [invalidValue(at, value, POSITIVE)] : []

export const inRange = (at: FieldPath, value: number | bigint, low: number, high: number): FieldError[] =>
  value < low || value > high ? [invalidValue(at, value, rangeText(low, high))] : []

/** Validates a user ID or group ID. */
export const validateId = (at: FieldPath, value: number | bigint | undefined): FieldError[] =>
  value === undefined ? [] : inRange(at, value, 0, MAX_INT32)

export const requiredText = (at: FieldPath, value: string | undefined, detail = ''): FieldError[] =>
  value ? [] : [required(at, detail)]

export const validateLabelText = (at: FieldPath, value: string): FieldError[] =>
  problems(at, value, dns1123Label(value))
export const validateSubdomain = (at: FieldPath, value: string): FieldError[] =>
  problems(at, value, dns1123Subdomain(value))

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"
const isPath = new RegExp(`^${PATH}$`)

/** Validates a path behind a domain: `acme.io/foo`. */
export function validateDomainPath(at: FieldPath, value: string): FieldError[] {
  if (value === '') return [required(at)]
  const slash = value.indexOf('/')
  const rest = value.slice(slash + 1)
  if (slash <= 0 || rest === '')
    return [invalidValue(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  const errors = validateSubdomain(at, value.slice(0, slash))
  return isPath.test(rest) ? errors : [...errors, invalidValue(at, rest, regexText('Invalid path', PATH))]
}

export const validateQualifiedName = (at: FieldPath, value: string): FieldError[] =>
  problems(at, value, qualifiedNameProblems(value))

/** Like validateQualifiedName, for a name of a named Go type. */
export const validateNamed = (at: FieldPath, name: string): FieldError[] =>
  problems(at, named(name), qualifiedNameProblems(name))

export const portNumberProblems = (port: number): string[] => (port >= 1 && port <= 65535 ? [] : [rangeText(1, 65535)])

export function portNameProblems(name: string): string[] {
  const texts: string[] = []
  if (name.length > 15) texts.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(name)) texts.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) texts.push('must contain at least one letter (a-z)')
  if (name.includes('--')) texts.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) texts.push('must not begin or end with a hyphen')
  return texts
}

export const validatePort = (at: FieldPath, port: number | string): FieldError[] =>
  problems(at, port, typeof port === 'number' ? portNumberProblems(port) : portNameProblems(port))

const PERCENT = /^[0-9]+%$/

/** A whole number from 0 or a percentage. */
export function validateIntOrPercent(at: FieldPath, value: number | string): FieldError[] {
  if (typeof value === 'number') return nonNegative(at, value)
  if (PERCENT.test(value)) return []
  const text = "a valid percent string must be a numeric string followed by an ending '%'"
  return [invalidValue(at, named(value), regexText(text, '[0-9]+%', '1%', '93%'))]
}

export const atMost100Percent = (at: FieldPath, value: number | string): FieldError[] =>
  typeof value === 'string' && PERCENT.test(value) && percentage(value) > 100
    ? [invalidValue(at, named(value), 'must not be greater than 100%')]
    : []

/** The number in `5` or `5%`; 0 for texts that are neither. */
export const amountOf = (value: number | string): number =>
  typeof value === 'number'
    ? value
    : PERCENT.test(value)
      ? percentage(value)
      : /^[-+]?\d+$/.test(value)
        ? Number(value)
        : 0

const percentage = (text: string): number => Number(text.slice(0, -1))

/**
 * @param value the value for the error, or for large values a function that makes it
 * @param same whether the update leaves the field unchanged
 */
export const immutable = (at: FieldPath, value: unknown, same: boolean): FieldError[] =>
  same ? [] : [invalidValue(at, typeof value === 'function' ? (value as () => unknown)() : value, FIELD_IS_IMMUTABLE)]

/** Like immutable, for a text of a named Go type. */
export const immutableNamed = (at: FieldPath, value: string | undefined, before: string | undefined): FieldError[] =>
  immutable(at, value === undefined ? undefined : named(value), value === before)
