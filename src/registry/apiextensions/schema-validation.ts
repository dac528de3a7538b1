/**
 * Validates the schemas of a CustomResourceDefinition (apiextensions' ValidateCustomResourceDefinitionOpenAPISchema).
 * structural-validation.ts checks that a schema is structural, and RuleScope checks the expressions of its rules.
 */
import type { RuleScope } from '../../expressions/rule-scope.ts'
import { append } from '../../base/append.ts'
import type { JSONSchemaProps, ValidationRule } from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, notSupportedString, required } from '../../api/field.ts'
import type { Json } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { sentField } from '../../schema/emptied.ts'

import { errorsByName } from '../../validation/errors-of.ts'
import { internalItems } from '../../validation/apiextensions/internal-form.ts'
import { pathProblem } from '../../validation/apiextensions/schema-path.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

/** Facts about a schema that depend on its place. */
interface Place {
  readonly isRoot: boolean
  /** Absent if validation does not check expressions. */
  readonly rules?: RuleScope | undefined
  /** Why this place allows no defaults. */
  readonly forbidsDefaults?: string
  /** The schema is within kind, apiVersion or metadata of an object. */
  readonly isInMeta?: boolean
}

/** Errors of the old schema, which an update may keep. */
export interface SchemaLeniency {
  readonly invalidTypes?: boolean
  readonly nonAtomicSets?: boolean
  readonly mapKeys?: boolean
}

/** Reads a value whose type also allows a list or a boolean, where only one schema is valid. */
export const oneSchema = (value: Json | undefined): JSONSchemaProps | undefined =>
  isJsonObject(value) ? (value as JSONSchemaProps) : undefined

export function validateSchema(
  schema: JSONSchemaProps | undefined,
  at: FieldPath,
  lenient: SchemaLeniency = {},
  place: Place = { isRoot: true },
): FieldError[] {
  if (schema === undefined) return []
  const { isRoot: _, rules, ...same } = place
  const below: Place = { ...same, isRoot: false }
  const each = (name: 'allOf' | 'oneOf' | 'anyOf') =>
    errorsOf(schema[name] ?? [], (one, index) => validateSchema(one, at.child(name).index(index), lenient, below))
  const { items } = schema
  const item = oneSchema(items)
  const errors = [
    ...keywordProblems(schema, at, place, lenient),
    ...(schema.uniqueItems
      ? [
          forbiddenField(
            at.child('uniqueItems'),
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...additionalProblems(schema, at, lenient, place, below),
    ...propertyProblems(schema, at, lenient, place, below),
    ...validateSchema(schema.not, at.child('not'), lenient, below),
    ...each('allOf'),
    ...each('oneOf'),
    ...each('anyOf'),
    ...errorsByName(schema.definitions ?? {}, (name) =>
      validateSchema(ownValue(schema.definitions!, name), at.child('definitions').key(name), lenient, below),
    ),
    ...validateSchema(item, at.child('items'), lenient, { ...below, rules: item && rules?.items(item, at) }),
    ...errorsOf(Array.isArray(items) ? items : [], (one, index) =>
      validateSchema(oneSchema(one), at.child('items').index(index), lenient, below),
    ),
    ...extensionProblems(schema, at, lenient),
    ...errorsOf(schema['x-kubernetes-validations'] ?? [], (rule, index) =>
      ruleProblems(schema, rule, at.child('x-kubernetes-validations').index(index)),
    ),
  ]
  if (errors.length === 0 && schema['x-kubernetes-validations']?.length) rules?.check(at)
  return errors
}

function keywordProblems(
  schema: JSONSchemaProps,
  at: FieldPath,
  { forbidsDefaults, isInMeta }: Place,
  { invalidTypes }: SchemaLeniency,
): FieldError[] {
  const errors: FieldError[] = []
  const { type = '' } = schema
  if (type !== '' && !TYPES.includes(type) && !invalidTypes)
    errors.push(notSupportedString(at.child('type'), type, TYPES))
  if (schema.default !== undefined && schema.default !== null && forbidsDefaults !== undefined)
    errors.push(forbiddenField(at.child('default'), `must not be set ${forbidsDefaults}`))
  const unsupported = (name: string) => errors.push(forbiddenField(at.child(name), `${name} is not supported`))
  if (schema.id) unsupported('id')
  if (schema.additionalItems !== undefined) unsupported('additionalItems')
  if (Object.keys(schema.patternProperties ?? {}).length > 0) unsupported('patternProperties')
  if (Object.keys(schema.definitions ?? {}).length > 0) unsupported('definitions')
  if (sentField(schema, 'dependencies') !== undefined) unsupported('dependencies')
  if (schema.$ref !== undefined) unsupported('$ref')
  if (type === 'null')
    errors.push(forbiddenField(at.child('type'), 'type cannot be set to null, use nullable as an alternative'))
  if (Array.isArray(schema.items) && schema.items.length > 0)
    errors.push(forbiddenField(at.child('items'), 'items must be a schema object and not an array'))
  if (isInMeta && schema['x-kubernetes-embedded-resource'])
    errors.push(forbiddenField(at.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'))
  return errors
}

function additionalProblems(
  schema: JSONSchemaProps,
  at: FieldPath,
  lenient: SchemaLeniency,
  place: Place,
  below: Place,
): FieldError[] {
  const { additionalProperties, properties = {} } = schema
  if (additionalProperties === undefined || additionalProperties === null) return []
  const here = at.child('additionalProperties')
  const isBoth = Object.keys(properties).length > 0 && additionalProperties !== true
  const inside = place.isInMeta
    ? { ...below, forbidsDefaults: 'inside additionalProperties applying to object metadata' }
    : below
  const values = oneSchema(additionalProperties)
  return [
    ...(isBoth ? [forbiddenField(here, 'additionalProperties and properties are mutual exclusive')] : []),
    ...validateSchema(values, here, lenient, { ...inside, rules: values && place.rules?.values(values) }),
  ]
}

function propertyProblems(
  schema: JSONSchemaProps,
  at: FieldPath,
  lenient: SchemaLeniency,
  { isRoot, rules }: Place,
  below: Place,
): FieldError[] {
  const problemsOf = (name: string): FieldError[] => {
    const property = ownValue(schema.properties!, name)!
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && OBJECT_MEMBERS.has(name)
    const place: Place = {
      ...below,
      rules: rules?.property(property, name, at),
      ...(isMeta ? { isInMeta: true } : {}),
      ...(isMeta && isRoot ? { forbidsDefaults: `in top-level ${name}` } : {}),
    }
    return validateSchema(property, at.child('properties').key(name), lenient, place)
  }
  return errorsByName(schema.properties ?? {}, problemsOf)
}

function extensionProblems(schema: JSONSchemaProps, at: FieldPath, lenient: SchemaLeniency): FieldError[] {
  const errors: FieldError[] = []
  const { type = '' } = schema
  const listType = schema['x-kubernetes-list-type']
  const mapType = schema['x-kubernetes-map-type']
  const mustBe = (wanted: string, keyword: string) =>
    type === ''
      ? required(at.child('type'), `must be ${wanted} if ${keyword} is specified`)
      : invalidValue(at.child('type'), type, `must be ${wanted} if ${keyword} is specified`)
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalidValue(at.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  if (mapType !== undefined && type !== 'object') errors.push(mustBe('object', 'x-kubernetes-map-type'))
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular')
    errors.push(notSupportedString(at.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']))
  if (listType !== undefined && type !== 'array') errors.push(mustBe('array', 'x-kubernetes-list-type'))
  else if (listType === 'set' && !lenient.nonAtomicSets) append(errors, setProblems(schema, at))
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType))
    errors.push(notSupportedString(at.child('x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']))
  append(errors, mapListProblems(schema, at))
  if (!lenient.mapKeys) append(errors, mapKeyProblems(schema, at))
  return errors
}

function setProblems(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  const item = oneSchema(schema.items)
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = item?.['x-kubernetes-list-type']
  if (item?.type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalidValue(at.child('items', 'x-kubernetes-list-type'), listType, why)]
  if (item?.type === 'object' && item['x-kubernetes-map-type'] !== 'atomic')
    return [invalidValue(at.child('items', 'x-kubernetes-map-type'), listType ?? null, why)]
  return []
}

/** Whether the server cannot compare the items of a set with one another. Older releases allowed such sets. */
export const isNonAtomicSet = (schema: JSONSchemaProps, at: FieldPath): boolean =>
  schema['x-kubernetes-list-type'] === 'set' && setProblems(schema, at).length > 0

function mapListProblems(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const why = 'must be map if x-kubernetes-list-map-keys is non-empty'
  if (keys.length > 0 && listType !== 'map')
    errors.push(
      listType === undefined
        ? required(at.child('x-kubernetes-list-type'), why)
        : invalidValue(at.child('x-kubernetes-list-type'), listType, why),
    )
  if (listType !== 'map') return errors
  const here = at.child('x-kubernetes-list-map-keys')
  if (keys.length === 0) errors.push(required(here, 'must not be empty if x-kubernetes-list-type is map'))
  const items = sentField(schema, 'items')
  const item = oneSchema(items)
  if (items === undefined)
    errors.push(required(at.child('items'), 'must have a schema if x-kubernetes-list-type is map'))
  else if (item === undefined)
    errors.push(
      invalidValue(
        at.child('items'),
        internalItems(items),
        'must only have a single schema if x-kubernetes-list-type is map',
      ),
    )
  if (item === undefined) return errors
  if (item.type !== 'object')
    return [
      ...errors,
      invalidValue(
        at.child('items', 'type'),
        item.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ]
  const repeats = repeatsIn(keys)
  append(
    errors,
    errorsOf(keys, (key, index) => {
      const errors: FieldError[] = []
      const property = ownValue(item.properties, key)
      if (property === undefined) errors.push(invalidValue(here, keys, 'entries must all be names of item properties'))
      else if (property.type === 'array' || property.type === 'object')
        errors.push(
          invalidValue(
            at.child('items', 'properties').key(key).child('type'),
            item.type,
            "must be a scalar type if parent array's x-kubernetes-list-type is map",
          ),
        )
      if (repeats.has(index)) errors.push(invalidValue(here, keys, 'must not contain duplicate entries'))
      return errors
    }),
  )
  return errors
}

export function mapKeyProblems(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  const listType = schema['x-kubernetes-list-type']
  const item = oneSchema(schema.items)
  if (item === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  if (item.nullable)
    errors.push(
      forbiddenField(at.child('items', 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    )
  if (listType !== 'map') return errors
  const isRequired = new Set(item.required)
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = ownValue(item.properties, key)
    if (property === undefined) continue
    const here = at.child('items', 'properties').key(key)
    if (!isRequired.has(key) && (property.default === undefined || property.default === null))
      errors.push(
        required(
          here.child('default'),
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
    if (property.nullable)
      errors.push(
        forbiddenField(
          here.child('nullable'),
          'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        ),
      )
  }
  return errors
}

const hasLineBreak = (text: string) => /[\n\r]/.test(text)

/** Checks the form of a rule, but not its expression. */
function ruleProblems(
  schema: JSONSchemaProps,
  { rule = '', message = '', messageExpression = '', reason, fieldPath = '' }: ValidationRule,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (rule.trim() === '') errors.push(required(at.child('rule'), 'rule is not specified'))
  else if (message !== '' && message.trim() === '')
    errors.push(invalidValue(at.child('message'), message, 'must be non-empty if specified'))
  else if (hasLineBreak(message.trim()))
    errors.push(invalidValue(at.child('message'), message, 'must not contain line breaks'))
  else if (hasLineBreak(rule.trim()) && message.trim() === '')
    errors.push(required(at.child('message'), 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(at.child('messageExpression'), 'messageExpression must be non-empty if specified'))
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(at.child('reason'), reason, REASONS))
  const here = at.child('fieldPath')
  if (fieldPath !== '' && fieldPath.trim() === '')
    errors.push(invalidValue(here, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreak(fieldPath)) errors.push(invalidValue(here, fieldPath, 'must not contain line breaks'))
  if (fieldPath !== '' && typeof pathProblem(schema, fieldPath, true) === 'string')
    errors.push(invalidValue(here, fieldPath, 'must be a valid path'))
  return errors
}
