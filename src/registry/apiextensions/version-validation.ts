/** Validates each version of a CustomResourceDefinition: its schema, subresources, columns and selectable fields. */
import { append } from '../../base/append.ts'
import { ownValue } from '../../base/own.ts'
import { apart, kept } from '../../base/parts.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
} from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, required, tooMany } from '../../api/field.ts'
import { isPrint } from '../../base/unicode.ts'
import type { RuleEngine } from '../custom-resources/rules.ts'
import { DefaultRules, validateDefaults } from './default-validation.ts'
import { internalSchema, zeroSchema } from '../../validation/apiextensions/internal-form.ts'
import { pathProblem } from '../../validation/apiextensions/schema-path.ts'
import { validateSchema } from './schema-validation.ts'
import { structuralError, validateStructural } from './structural-validation.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import type { Checks, Leniency } from './leniency.ts'

export function versionProblems(
  version: CustomResourceDefinitionVersion,
  at: FieldPath,
  hasStatus: boolean,
  checks: Checks,
): FieldError[] {
  const { lenient } = checks
  const { name = '', schema, selectableFields = [], additionalPrinterColumns = [] } = version
  const errors = [
    ...deprecationProblems(version, at.child('deprecationWarning')),
    ...schemaProblems(schema, hasStatus, at.child('schema'), checks, lenient.unchangedVersions.has(name)),
    ...subresourceProblems(version.subresources, at.child('subresources')),
    ...errorsOf(additionalPrinterColumns, (column, index) =>
      columnProblems(column, at.child('additionalPrinterColumns').index(index)),
    ),
  ]
  if (selectableFields.length === 0) return errors
  const here = at.child('selectableFields')
  if (schema?.openAPIV3Schema === undefined)
    return [...errors, invalidValue(here, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')]
  const isAllowed = lenient.tooManyFields.has(name)
  return [...errors, ...selectableProblems(selectableFields, schema.openAPIV3Schema, here, isAllowed, at)]
}

function deprecationProblems(
  { deprecated, deprecationWarning: warning }: CustomResourceDefinitionVersion,
  at: FieldPath,
): FieldError[] {
  if (warning === undefined) return []
  const problem = (why: string) => invalidValue(at, warning, why)
  if (!deprecated) return [problem('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  const bytes = new TextEncoder().encode(warning)
  if (bytes.length > 256) errors.push(problem('must be <= 256 characters long'))
  if (bytes.length === 0) errors.push(problem('must not be an empty string'))
  const odd = [...warning].findIndex((character) => !isPrint(character))
  if (odd >= 0) {
    const index = new TextEncoder().encode([...warning].slice(0, odd).join('')).length
    errors.push(
      problem(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`),
    )
  }
  return errors
}

/** The fields that the root of a schema may have if the status subresource is enabled. */
const AT_ROOT = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
]

export function schemaProblems(
  validation: CustomResourceValidation | undefined,
  hasStatus: boolean,
  at: FieldPath,
  { lenient, engine }: Checks,
  isUnchanged: boolean,
): FieldError[] {
  const schema = validation?.openAPIV3Schema
  if (schema === undefined) return []
  const here = at.child('openAPIV3Schema')
  const errors: FieldError[] = []
  if (hasStatus) append(errors, rootProblems(schema, at))
  if (schema.nullable)
    errors.push(forbiddenField(at.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'))
  const unreadable = structuralError(schema)
  // an update cannot keep this error, because the server prunes fields by the structural schema
  const structural = unreadable === undefined ? structuralProblems(schema, here, lenient, engine) : []
  append(errors, structural)
  const rules = kept(schema, () =>
    unreadable === undefined && structural.length === 0 ? engine?.definitionRules(schema, isUnchanged) : undefined,
  )
  append(
    errors,
    apart(schema, () => validateSchema(schema, here, lenient.schema, { isRoot: true, rules: rules?.root })),
  )
  append(errors, rules?.errors ?? [])
  if (errors.length === 0 && unreadable !== undefined) errors.push(invalidValue(here, '', unreadable))
  append(errors, rules?.totalErrors(here) ?? [])
  return errors
}

function structuralProblems(
  schema: JSONSchemaProps,
  at: FieldPath,
  lenient: Leniency,
  engine: RuleEngine | undefined,
): FieldError[] {
  const errors = apart(schema, () => validateStructural(schema, at))
  if (errors.length > 0) return errors
  // kept, so that the walk spends the cost limit only once if it runs again
  const rules = kept(schema, () => engine && new DefaultRules(engine))
  return apart(schema, () => validateDefaults(schema, at, !lenient.unprunedDefaults, rules))
}

function rootProblems(schema: JSONSchemaProps, at: FieldPath): FieldError[] {
  const internal = internalSchema(schema) as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(internal)) {
    if (name === 'Type') {
      if (value === 'object') continue
      if (value === '') continue
      return [
        invalidValue(
          at.child('openAPIV3Schema.type'),
          value,
          'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
        ),
      ]
    }
    if (value === ownValue(zeroSchema(), name) || AT_ROOT.includes(name)) continue
    return [
      invalidValue(
        at.child('openAPIV3Schema'),
        internal,
        `only [${AT_ROOT.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`,
      ),
    ]
  }
  return []
}

function simplePathProblems(text: string, at: FieldPath): FieldError[] {
  return text.startsWith('.') ? [] : [invalidValue(at, text, 'must be a simple json path starting with .')]
}

export function subresourceProblems(subresources: CustomResourceSubresources | undefined, at: FieldPath): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined) return []
  const replicas = (name: 'specReplicasPath' | 'statusReplicasPath', under: '.spec' | '.status'): FieldError[] => {
    const here = at.child(`scale.${name}`)
    const text = scale[name] ?? ''
    if (text === '') return [required(here)]
    const problems = simplePathProblems(text, here)
    if (problems.length > 0) return problems
    return text.startsWith(`${under}.`) ? [] : [invalidValue(here, text, `should be a json path under ${under}`)]
  }
  const errors = [...replicas('specReplicasPath', '.spec'), ...replicas('statusReplicasPath', '.status')]
  const selector = scale.labelSelectorPath ?? ''
  if (selector === '') return errors
  const here = at.child('scale.labelSelectorPath')
  const problems = simplePathProblems(selector, here)
  if (problems.length > 0) return [...errors, ...problems]
  return selector.startsWith('.spec.') || selector.startsWith('.status.')
    ? errors
    : [...errors, invalidValue(here, selector, 'should be a json path under either .spec or .status')]
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function columnProblems(
  { name, type = '', format = '', jsonPath = '' }: CustomResourceColumnDefinition,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (!name) errors.push(required(at.child('name')))
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  if (type === '') errors.push(required(at.child('type'), types))
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalidValue(at.child('type'), type, types))
  if (format !== '' && !COLUMN_FORMATS.includes(format))
    errors.push(invalidValue(at.child('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  if (jsonPath === '') errors.push(required(at.child('JSONPath')))
  else append(errors, simplePathProblems(jsonPath, at.child('JSONPath')))
  return errors
}

export const MAX_SELECTABLE = 8

export function selectableProblems(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  at: FieldPath,
  allowsMore: boolean,
  around: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const unreadable = structuralError(schema)
  if (unreadable !== undefined) errors.push(invalidValue(around.child('schema.openAPIV3Schema'), '', unreadable))
  const seen = kept(fields, () => new Set<string>())
  const ofFields = errorsOf(fields, ({ jsonPath = '' }, index) => {
    const here = at.index(index).child('jsonPath')
    if (jsonPath === '') return [required(here)]
    const found = pathProblem(schema, jsonPath, false)
    if (typeof found === 'string') return [invalidValue(here, jsonPath, `is an invalid path: ${found}`)]
    const wrong: FieldError[] = []
    if (found.names[0] === 'metadata') wrong.push(invalidValue(here, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? ''))
      wrong.push(
        invalidValue(
          here,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      )
    const key = found.names.join('.')
    if (seen.has(key)) wrong.push(duplicate(here, jsonPath))
    seen.add(key)
    return wrong
  })
  append(errors, ofFields)
  if (seen.size > MAX_SELECTABLE && !allowsMore) errors.push(tooMany(at, seen.size, MAX_SELECTABLE))
  return errors
}
