/** Field paths and field errors (apimachinery's pkg/util/validation/field). */
import { goFloat } from '../go/float.ts'
import { goQuote } from '../go/quote.ts'
import type { StatusCause } from './status.ts'

/** A path such as `spec.containers[0].ports` or `metadata.labels[a/b]`. The root is the empty path. */
export class FieldPath {
  static readonly root = new FieldPath('')

  private readonly text: string

  private constructor(text: string) {
    this.text = text
  }

  child(...names: string[]): FieldPath {
    const tail = names.join('.')
    return new FieldPath(this.text === '' ? tail : `${this.text}.${tail}`)
  }

  index(index: number): FieldPath {
    return new FieldPath(`${this.text}[${index}]`)
  }

  key(key: string): FieldPath {
    return new FieldPath(`${this.text}[${key}]`)
  }

  toString(): string {
    return this.text === '' ? '<nil>' : this.text
  }
}

export const path = (...names: string[]): FieldPath => FieldPath.root.child(...names)

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError'
  | 'FieldValueTypeInvalid'

/** One validation error. `message` does not contain the path. */
export interface FieldError {
  readonly type: FieldErrorType
  readonly field: string
  readonly message: string
}

export const required = (at: FieldPath, detail = ''): FieldError =>
  made('FieldValueRequired', at, 'Required value', detail)

export const invalidValue = (at: FieldPath, value: unknown, detail: string): FieldError =>
  invalidValueText(at, valueText(value), detail)

/** Like invalidValue, for a value that is already formatted. */
export const invalidValueText = (at: FieldPath, value: string, detail: string): FieldError =>
  made('FieldValueInvalid', at, `Invalid value: ${value}`, detail)

/** Like invalidValue, without the value because it is long or secret. */
export const invalidOmitted = (at: FieldPath, detail: string): FieldError =>
  made('FieldValueInvalid', at, 'Invalid value', detail)

/** A text of a named Go type, or behind a pointer: kube-apiserver writes it as JSON. */
export const named = (value: string): { toJSON(): string } => ({ toJSON: () => value })

/** Nearly all closed sets of texts have a named Go type. */
export const notSupported = (at: FieldPath, value: unknown, supported: readonly string[]): FieldError =>
  notSupportedText(at, typeof value === 'string' ? jsonText(value) : valueText(value), supported)

/** Like notSupported, for a text whose Go type is plain string. */
export const notSupportedString = (at: FieldPath, value: string, supported: readonly string[]): FieldError =>
  notSupportedText(at, goQuote(value), supported)

/** Like notSupported, for a value that is already formatted. */
export const notSupportedText = (at: FieldPath, value: string, supported: readonly string[]): FieldError =>
  made(
    'FieldValueNotSupported',
    at,
    `Unsupported value: ${value}`,
    supported.length === 0 ? '' : `supported values: ${supported.map((value) => JSON.stringify(value)).join(', ')}`,
  )

export const duplicate = (at: FieldPath, value: unknown): FieldError =>
  made('FieldValueDuplicate', at, `Duplicate value: ${valueText(value)}`, '')

/** Like duplicate, without the value. */
export const duplicateOmitted = (at: FieldPath): FieldError => made('FieldValueDuplicate', at, 'Duplicate value', '')

export const forbiddenField = (at: FieldPath, detail: string): FieldError =>
  made('FieldValueForbidden', at, 'Forbidden', detail)

export const notFoundField = (at: FieldPath, value: unknown): FieldError =>
  made('FieldValueNotFound', at, `Not found: ${valueText(value)}`, '')

/** @param max the limit in bytes; below 0 the message names no limit */
export const tooLong = (at: FieldPath, max: number): FieldError =>
  made(
    'FieldValueTooLong',
    at,
    'Too long',
    max >= 0 ? `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}` : 'value is too long',
  )

export const tooMany = (at: FieldPath, actual: number, max: number): FieldError =>
  made(
    'FieldValueTooMany',
    at,
    `Too many: ${actual}`,
    max >= 0 ? `must have at most ${max} ${max === 1 ? 'item' : 'items'}` : 'has too many items',
  )

export const typeInvalid = (at: FieldPath, value: unknown, detail: string): FieldError =>
  made('FieldValueTypeInvalid', at, `Invalid value: ${valueText(value)}`, detail)

export const internalFieldError = (at: FieldPath, why: string): FieldError =>
  made('InternalError', at, `Internal error: ${why}`, '')

function made(type: FieldErrorType, at: FieldPath, text: string, detail: string): FieldError {
  return { type, field: at.toString(), message: detail === '' ? text : `${text}: ${detail}` }
}

/** Formats a value as in kube-apiserver's messages: strings as Go's %q, all other values as compact JSON. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'bigint') return value.toString()
  // kube-apiserver has a float64 here: the number had a fraction or an exponent
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return goFloat(value)
  return jsonText(value)
}

/** Compact JSON with Go's escapes. */
export const jsonText = (value: object | string | number | boolean): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Joins errors as `a: Required value`, or `[a: …, b: …]` for several. A repeated text appears once. */
export function messageOf(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}

export function causesOf(errors: readonly FieldError[]): StatusCause[] {
  return errors.map(({ type, field, message }) => ({ reason: type, message, field }))
}
