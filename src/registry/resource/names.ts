/** Validates names of drivers, pools and devices, and of the attributes and capacities of devices. */
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, named, required, tooLong, tooMany } from '../../api/field.ts'
import { ownValue } from '../../base/own.ts'
import { problems, validateSubdomain } from '../../validation/field-rules.ts'
import { regexText } from '../../validation/names.ts'
import { byteLength } from '../../base/utf8.ts'
import { validateCsiDriverName } from '../../validation/pod/volume-sources.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'
import { append } from '../../base/append.ts'
import type { Weight } from '../../base/parts.ts'
import { kept } from '../../base/parts.ts'

/** The limit for requests, constraints, selectors and configurations. */
export const MAX_ENTRIES = 32
const MAX_POOL_BYTES = 253
const MAX_IDENTIFIER_BYTES = 32

/** The rules are those of CSI drivers. */
export const driverNameErrors = (name: string, at: FieldPath): FieldError[] => validateCsiDriverName(at, name)

/** A pool's name is one subdomain, or several with slashes between them. */
export function poolNameErrors(name: string, at: FieldPath): FieldError[] {
  if (name === '') return [required(at)]
  return [
    ...(byteLength(name) > MAX_POOL_BYTES ? [tooLong(at, MAX_POOL_BYTES)] : []),
    ...name.split('/').flatMap((part) => validateSubdomain(at, part)),
  ]
}

/** Validates `[DOMAIN/]IDENTIFIER`. Like kube-apiserver, it accepts any name with more than one slash. */
export function qualifiedNameErrors(name: string, at: FieldPath): FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (more.length > 0) return []
  if (second === undefined) return identifierErrors(first, at)
  return [
    ...(first === '' ? [invalidValue(at, '', 'the domain must not be empty')] : driverNameErrors(first, at)),
    ...(second === '' ? [invalidValue(at, '', 'the name must not be empty')] : identifierErrors(second, at)),
  ]
}

export function fullyQualifiedNameErrors(name: string, at: FieldPath): FieldError[] {
  const errors = qualifiedNameErrors(name, at)
  if (!name.includes('/'))
    errors.push(
      invalidValue(at, named(name), 'a fully qualified name must be a domain and a name separated by a slash'),
    )
  return errors
}

const IDENTIFIER = '[A-Za-z_][A-Za-z0-9_]*'
const identifier = new RegExp(`^${IDENTIFIER}$`)
const IDENTIFIER_TEXT = regexText(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  IDENTIFIER,
  'my_name',
  'MY_NAME',
  'MyName',
)

const identifierErrors = (name: string, at: FieldPath): FieldError[] => [
  ...(byteLength(name) > MAX_IDENTIFIER_BYTES ? [tooLong(at, MAX_IDENTIFIER_BYTES)] : []),
  ...problems(at, name, identifier.test(name) ? [] : [IDENTIFIER_TEXT]),
]

type ItemRule<T> = (item: T, at: FieldPath) => FieldError[]

/** A list that is too long gets only that error. */
export const listErrors = <T>(
  items: readonly T[] = [],
  max: number,
  at: FieldPath,
  rule: ItemRule<T>,
  weight?: Weight<T>,
): FieldError[] =>
  items.length > max
    ? [tooMany(at, items.length, max)]
    : errorsOf(items, (item, index) => rule(item, at.index(index)), weight)

/**
 * Validates a list whose items have unique keys.
 * @param keyOf a text, or the part of the item that the message prints
 */
export function setErrors<T>(
  items: readonly T[] = [],
  max: number,
  at: FieldPath,
  rule: ItemRule<T>,
  keyOf: (item: T) => unknown,
): FieldError[] {
  const errors = listErrors(items, max, at, rule)
  if (items.length > max) return errors
  const known = kept(items, () => new Set<string>())
  append(
    errors,
    errorsOf(items, (item, index) => {
      const errors: FieldError[] = []
      const key = keyOf(item)
      const text = JSON.stringify(key)
      if (known.has(text)) errors.push(duplicate(at.index(index), key))
      known.add(text)
      return errors
    }),
  )
  return errors
}

/** Validates a map, in the order of its keys. @param maxKey paths leave out the middle of longer keys */
export function mapErrors<T>(
  map: Readonly<Record<string, T>> = {},
  max: number,
  maxKey: number,
  at: FieldPath,
  keyRule: ItemRule<string>,
  rule: ItemRule<T>,
): FieldError[] {
  const count = max === Infinity ? 0 : kept(map, () => Object.keys(map).length)
  if (count > max) return [tooMany(at, count, max)]
  return errorsByName(map, (key) => [...keyRule(key, at), ...rule(ownValue(map, key)!, at.key(shortened(key, maxKey)))])
}

function shortened(text: string, max: number): string {
  if (text.length <= max) return text
  const rest = max - 3
  return `${text.slice(0, Math.ceil(rest / 2))}...${text.slice(text.length - Math.floor(rest / 2))}`
}
