/**
 * Schemas of custom resources are structural. Types stand outside of allOf, anyOf, oneOf and not, and each field that
 * these constrain has a type (apiextensions' schema validation and completeness).
 */
import { append } from '../../base/append.ts'
import type { JSONSchemaProps } from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, required } from '../../api/field.ts'
import { isEmpty, ownValue } from '../../base/own.ts'
import { sentField } from '../../schema/emptied.ts'
import { goPatternError } from '../../validation/go-pattern.ts'
import { oneSchema } from './schema-validation.ts'
import { findSchema } from './schemas-below.ts'
import { errorsByName, errorsOf } from '../../validation/errors-of.ts'

type Level = 'root' | 'item' | 'field'

/** Returns the errors in the order of their texts. */
export function validateStructural(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  const errors = [...invariantProblems(schema, 'root', at), ...completeness(schema, schema, at, at)]
  const text = ({ field, message }: FieldError) => `${field}: ${message}`
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0))
}

const hasMembers = (map: object | undefined): boolean => map !== undefined && !isEmpty(map)

/** A keyword that no structural schema may have. */
function unsupported(schema: JSONSchemaProps): string | undefined {
  if (schema.id) return 'id'
  if (schema.$schema) return 'schema'
  if (schema.$ref) return '$ref'
  if (hasMembers(schema.patternProperties)) return 'patternProperties'
  if (hasMembers(schema.dependencies)) return 'dependencies'
  if (schema.additionalItems !== undefined) return 'additionalItems'
  if (hasMembers(schema.definitions)) return 'definitions'
  return undefined
}

/** Why the server cannot read a schema as a structural one. */
export function structuralError(schema: JSONSchemaProps | undefined): string | undefined {
  const found = schema && findSchema(schema, (one) => ownError(one) !== undefined, structuralBelow)
  return found && ownError(found)
}

function ownError(schema: JSONSchemaProps): string | undefined {
  const keyword = unsupported(schema)
  if (keyword !== undefined) return `OpenAPIV3Schema '${keyword}' is not supported`
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  return undefined
}

function structuralBelow(schema: JSONSchemaProps): JSONSchemaProps[] {
  const below: JSONSchemaProps[] = []
  if (schema.not !== undefined) below.push(schema.not)
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf]) if (list !== undefined) append(below, list)
  const items = schema.items === undefined ? undefined : oneSchema(schema.items)
  if (items !== undefined) below.push(items)
  if (schema.properties !== undefined) append(below, Object.values(schema.properties))
  const more = schema.additionalProperties === undefined ? undefined : oneSchema(schema.additionalProperties)
  if (more !== undefined) below.push(more)
  return below
}

const hasAdditional = ({ additionalProperties }: JSONSchemaProps): boolean =>
  additionalProperties !== undefined && additionalProperties !== null && additionalProperties !== false

function invariantProblems(schema: JSONSchemaProps | undefined, level: Level, at: FieldPath): FieldError[] {
  if (schema === undefined) return []
  const errors: FieldError[] = []
  const { type = '', properties = {} } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  const items = oneSchema(schema.items)
  if (type === 'array' && items === undefined) errors.push(required(at.child('items'), 'must be specified'))
  append(errors, invariantProblems(items, 'item', at.child('items')))
  append(
    errors,
    errorsByName(properties, (name) =>
      invariantProblems(ownValue(properties, name), 'field', at.child('properties').key(name)),
    ),
  )
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== null) {
    const here = at.child('additionalProperties')
    if (level === 'root') errors.push(forbiddenField(here, 'must not be used at the root'))
    append(errors, invariantProblems(oneSchema(schema.additionalProperties), 'field', here))
  }
  if (isIntOrString && preserves)
    errors.push(
      invalidValue(
        at.child('x-kubernetes-preserve-unknown-fields'),
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    )
  if (isIntOrString && isEmbedded)
    errors.push(
      invalidValue(
        at.child('x-kubernetes-embedded-resource'),
        true,
        'must be false if x-kubernetes-int-or-string is true',
      ),
    )
  append(errors, valueProblems(schema, isIntOrStringAnyOf(schema), isIntOrStringAnyOf(schema.allOf?.[0]), at))
  append(errors, typeProblems(schema, level, at))
  if (isEmbedded && hasAdditional(schema))
    errors.push(
      forbiddenField(at.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    )
  const isObject = level === 'root' || isEmbedded
  for (const name of ['kind', 'apiVersion']) {
    const property = ownValue(properties, name)
    if (isObject && property !== undefined && property.type !== 'string')
      errors.push(invalidValue(at.child('properties').key(name).child('type'), property.type ?? '', 'must be string'))
  }
  if (properties['metadata'] !== undefined)
    append(errors, metadataProblems(properties['metadata'], isObject, level, at.child('properties').key('metadata')))
  if (isEmbedded && !preserves && Object.keys(properties).length === 0)
    errors.push(
      required(
        at.child('properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  return errors
}

function typeProblems(schema: JSONSchemaProps, level: Level, at: FieldPath): FieldError[] {
  const { type = '' } = schema
  const here = at.child('type')
  const errors: FieldError[] = []
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(here, why) : invalidValue(here, type, why))
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields'])
    errors.push(required(here, mustHaveType[level]))
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalidValue(here, type, 'must be object at the root'))
  return errors
}

const mustHaveType = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
} satisfies Record<Level, string>

/** At the root, a schema may constrain only name and generateName of the metadata. */
function metadataProblems(schema: JSONSchemaProps, isObject: boolean, level: Level, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (isObject && schema.type !== 'object')
    errors.push(invalidValue(at.child('type'), schema.type ?? '', 'must be object'))
  if (level !== 'root') return errors
  const { type: _type, default: _default, properties = {}, ...rest } = schema
  const names = Object.keys(properties)
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName')
  const isEmpty = Object.values(rest).every((value) => value === undefined || value === false || value === '')
  if (!onlyNames || !isEmpty)
    errors.push(
      forbiddenField(
        at,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    )
  return errors
}

const keptEmpty = ['required', 'properties', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'] as const

/** The only alternatives that may name types: anyOf an integer or a string. */
function isIntOrStringAnyOf(schema: JSONSchemaProps | undefined): boolean {
  const isTypeAlone = (one: JSONSchemaProps) => {
    // false is no additionalProperties here, but these lists and maps are there even if they are empty
    const names = Object.keys(one).filter(
      (name) => name !== 'additionalProperties' || one.additionalProperties !== false,
    )
    return names.length === 1 && keptEmpty.every((name) => sentField(one, name) === undefined)
  }
  const types = (schema?.anyOf ?? []).map((one) => (isTypeAlone(one) ? one.type : undefined))
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string'
}

function valueProblems(
  schema: JSONSchemaProps,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const each = (name: 'anyOf' | 'oneOf' | 'allOf') =>
    (schema[name] ?? []).forEach((one, index) =>
      append(
        errors,
        nestedProblems(one, name === 'allOf' && index === 0 && skipsFirstAllOf, at.child(name).index(index)),
      ),
    )
  if (!skipsAnyOf) each('anyOf')
  each('allOf')
  each('oneOf')
  append(errors, nestedProblems(schema.not, false, at.child('not')))
  const problem = schema.pattern ? goPatternError(schema.pattern, schema) : undefined
  if (problem !== undefined)
    errors.push(
      invalidValue(at.child('pattern'), schema.pattern, `must be a valid regular expression, but isn't: ${problem}`),
    )
  return errors
}

const mustBeEmpty: readonly [keyof JSONSchemaProps, string][] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

/** In Go these keywords are pointers, or JSON: an empty value is one. */
const pointers: ReadonlySet<string> = new Set(['default', 'x-kubernetes-list-type', 'x-kubernetes-map-type'])

const isZero = (value: unknown): boolean =>
  value === '' || value === false || (Array.isArray(value) && value.length === 0)

/** Checks a schema within allOf, anyOf, oneOf or not. */
function nestedProblems(schema: JSONSchemaProps | undefined, skipsAnyOf: boolean, at: FieldPath): FieldError[] {
  if (schema === undefined) return []
  const errors = [
    ...valueProblems(schema, skipsAnyOf, false, at),
    ...nestedProblems(oneSchema(schema.items), false, at.child('items')),
    ...errorsByName(schema.properties ?? {}, (name) =>
      nestedProblems(ownValue(schema.properties, name), false, at.child('properties').key(name)),
    ),
  ]
  for (const [keyword, why] of mustBeEmpty) {
    const value = schema[keyword] ?? undefined
    const isEmpty = value === undefined || (isZero(value) && !pointers.has(keyword))
    if (!isEmpty) errors.push(forbiddenField(at.child(keyword), why))
  }
  if (schema.properties?.['metadata'] !== undefined)
    errors.push(forbiddenField(at.child('properties').key('metadata'), 'must not be specified in a nested context'))
  return errors
}

/**
 * @param schema constrains values
 * @param structure declares the types
 */
function completeness(
  schema: JSONSchemaProps,
  structure: JSONSchemaProps | undefined,
  structureAt: FieldPath,
  at: FieldPath,
): FieldError[] {
  const each = (name: 'allOf' | 'anyOf' | 'oneOf') =>
    errorsOf(schema[name] ?? [], (one, index) =>
      nestedCompleteness(one, structure, structureAt, at.child(name).index(index)),
    )
  return [
    ...nestedCompleteness(schema.not, structure, structureAt, at.child('not')),
    ...each('allOf'),
    ...each('anyOf'),
    ...each('oneOf'),
  ]
}

function nestedCompleteness(
  schema: JSONSchemaProps | undefined,
  structure: JSONSchemaProps | undefined,
  structureAt: FieldPath,
  at: FieldPath,
): FieldError[] {
  if (schema === undefined) return []
  if (structure === undefined) return [required(structureAt, `because it is defined in ${at}`)]
  return [
    ...completeness(schema, structure, structureAt, at),
    ...nestedCompleteness(
      oneSchema(schema.items),
      oneSchema(structure.items),
      structureAt.child('items'),
      at.child('items'),
    ),
    ...errorsByName(schema.properties ?? {}, (name) =>
      nestedCompleteness(
        ownValue(schema.properties, name),
        ownValue(structure.properties, name),
        structureAt.child('properties').key(name),
        at.child('properties').key(name),
      ),
    ),
  ]
}
