/** Whether a CustomResourceDefinition is one (apiextensions' pkg/apis/apiextensions/validation), in its order. */
import { append } from '../../api/append.ts'
import { apart, kept } from '../../api/parts.ts'
import type {
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
} from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, notSupported, path, required, tooMany } from '../../api/field.ts'
import { isPrint } from '../../api/unicode.ts'
import { dns1035Label, dns1123Subdomain, subdomainName } from '../../validation/names.ts'
import { FIELD_IS_IMMUTABLE, validateAnyMeta } from '../../validation/object-meta.ts'
import { webhookClientErrors } from '../../validation/webhook-client.ts'
import { authorityProblem } from '../../x509/authority-bundle.ts'
import type { Json } from '../../api/object.ts'
import { valuesEqual } from '../../api/value-order.ts'
import { repeatsIn } from '../../api/lookup.ts'
import { isConditionTrue, versionNamed, versionsOf } from '../custom-resources/definition.ts'
import type { RuleEngine } from '../custom-resources/rules.ts'
import { approvalOf, APPROVED_BY, isProtectedGroup } from './approval.ts'
import { DefaultRules, isPruned, validateDefaults } from './default-validation.ts'
import { internalSchema, internalSpec, internalVersions } from '../../validation/apiextensions/internal-form.ts'
import { schemasBelow } from './schemas-below.ts'
import { pathProblem } from '../../validation/apiextensions/schema-path.ts'
import type { SchemaLeniency } from './schema-validation.ts'
import { isNonAtomicSet, mapKeyProblems, validateSchema } from './schema-validation.ts'
import { structuralError, validateStructural } from './structural-validation.ts'

/** What an update need not make right. */
interface Leniency {
  readonly schema: SchemaLeniency
  readonly missingSchemas: boolean
  readonly unprunedDefaults: boolean
  readonly reviewVersions: boolean
  /** Certificates of who converts are not looked at before the definition is established. */
  readonly authorities: boolean
  readonly tooManyFields: ReadonlySet<string>
  /** Versions whose rules may cost what they cost. */
  readonly unchangedVersions: ReadonlySet<string>
}

/** What all versions are checked by. */
interface Checks {
  readonly lenient: Leniency
  /** Undefined where there are no rules. */
  readonly engine: RuleEngine | undefined
}

const STRICT: Leniency = {
  schema: {},
  missingSchemas: false,
  unprunedDefaults: false,
  reviewVersions: false,
  authorities: true,
  tooManyFields: new Set(),
  unchangedVersions: new Set(),
}

/** @param engine undefined where no version has rules */
export function validateDefinition(definition: CustomResourceDefinition, engine: RuleEngine | undefined): FieldError[] {
  const { metadata, spec = {} } = definition
  const { names, group = '' } = spec
  const isNamed = (name: string) => name === `${names?.plural ?? ''}.${group}`
  return [
    ...validateAnyMeta(metadata, false, (name, prefix) => [
      ...subdomainName(name, prefix),
      ...(isNamed(name) ? [] : ['must be spec.names.plural+"."+spec.group']),
    ]),
    ...specProblems(spec, { lenient: STRICT, engine }),
    ...statusProblems(definition),
    ...approvalProblems(definition),
    ...preserveProblems(definition),
  ]
}

export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  engine: RuleEngine | undefined,
): FieldError[] {
  const spec = definition.spec ?? {}
  const before = old.spec ?? {}
  const at = path('spec')
  const unchanged = (value: unknown, was: unknown, where: FieldPath): FieldError[] =>
    value === was ? [] : [invalidValue(where, value ?? '', FIELD_IS_IMMUTABLE)]
  return [
    ...specProblems(spec, { lenient: leniencyOf(definition, old), engine }),
    ...(isConditionTrue(old, 'Established')
      ? [
          ...unchanged(spec.scope, before.scope, at.child('scope')),
          ...unchanged(spec.names?.kind, before.names?.kind, at.child('names', 'kind')),
        ]
      : []),
    ...unchanged(spec.group, before.group, at.child('group')),
    ...unchanged(spec.names?.plural, before.names?.plural, at.child('names', 'plural')),
    ...statusProblems(definition),
    ...approvalProblems(definition, old),
    ...preserveProblems(definition, old),
  ]
}

export const validateDefinitionStatus = ({ status }: CustomResourceDefinition): FieldError[] =>
  nameProblems(status?.acceptedNames ?? {}, path('status', 'acceptedNames'))

const bundleOf = ({ spec }: CustomResourceDefinition): string | undefined =>
  spec?.conversion?.webhook?.clientConfig?.caBundle

function leniencyOf(definition: CustomResourceDefinition, old: CustomResourceDefinition): Leniency {
  const schemas = versionsOf(old).flatMap(({ schema }) => (schema?.openAPIV3Schema ? [schema.openAPIV3Schema] : []))
  const anywhere = (test: (schema: JSONSchemaProps) => boolean): boolean => {
    const visit = (schema: JSONSchemaProps): boolean => test(schema) || schemasBelow(schema).some(visit)
    return schemas.some(visit)
  }
  const nowhere = path()
  const reviews = old.spec?.conversion?.webhook?.conversionReviewVersions ?? []
  return {
    schema: {
      invalidTypes: anywhere(({ type = '' }) => type !== '' && !TYPES.has(type)),
      nonAtomicSets: anywhere((schema) => isNonAtomicSet(schema, nowhere)),
      mapKeys: anywhere((schema) => mapKeyProblems(schema, nowhere).length > 0),
    },
    missingSchemas: versionsOf(old).some(({ schema }) => schema?.openAPIV3Schema === undefined),
    unprunedDefaults: anywhere(
      (schema) => schema.default !== undefined && schema.default !== null && !isPruned(schema, schema.default),
    ),
    authorities: !isConditionTrue(old, 'Established') || authorityProblem(bundleOf(old)) !== undefined,
    reviewVersions: reviews.length > 0 && !reviews.some((version) => REVIEW_VERSIONS.includes(version)),
    unchangedVersions: new Set(
      versionsOf(definition).flatMap(({ name = '', schema }) => {
        const before = versionNamed(old, name)
        // schemas are JSON whose interface does not say so
        const isSame = valuesEqual(schema as Json | undefined, before?.schema as Json | undefined)
        return before !== undefined && isSame ? [name] : []
      }),
    ),
    tooManyFields: new Set(
      versionsOf(definition).flatMap(({ name = '', selectableFields = [] }) => {
        const before = versionNamed(old, name)?.selectableFields ?? []
        const isSame = JSON.stringify(before) === JSON.stringify(selectableFields)
        return before.length > MAX_SELECTABLE && isSame ? [name] : []
      }),
    ),
  }
}

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

const hasDefault = (schema: JSONSchemaProps | undefined): boolean =>
  schema !== undefined &&
  ((schema.default !== undefined && schema.default !== null) || schemasBelow(schema).some(hasDefault))

function specProblems(spec: CustomResourceDefinitionSpec, checks: Checks): FieldError[] {
  const { lenient } = checks
  const at = path('spec')
  const { group = '', scope = '', names = {} } = spec
  const internal = internalSpec(spec)
  const { versions } = internal
  const errors: FieldError[] = []
  if (group === '') errors.push(required(at.child('group')))
  else {
    const problems = dns1123Subdomain(group)
    if (problems.length > 0) errors.push(invalidValue(at.child('group'), group, problems.join(',')))
    else if (!group.includes('.'))
      errors.push(invalidValue(at.child('group'), group, 'should be a domain with at least one dot'))
  }
  append(errors, enumProblems(scope, ['Cluster', 'Namespaced'], at.child('scope')))
  const preserves = spec.preserveUnknownFields === true
  if (!lenient.missingSchemas && internal.validation?.openAPIV3Schema === undefined)
    versions.forEach(({ schema }, index) => {
      if (schema?.openAPIV3Schema === undefined)
        errors.push(required(at.child('versions').index(index).child('schema', 'openAPIV3Schema')))
    })
  if (
    preserves &&
    versions.some(({ schema }) => hasDefault(schema?.openAPIV3Schema ?? internal.validation?.openAPIV3Schema))
  )
    errors.push(
      invalidValue(at.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema'),
    )
  const seen = new Set<string>()
  let isUnique = true
  versions.forEach((version, index) => {
    const { name = '' } = version
    if (seen.has(name)) isUnique = false
    seen.add(name)
    const here = at.child('versions').index(index)
    const problems = dns1035Label(name)
    if (problems.length > 0) errors.push(invalidValue(here.child('name'), name, problems.join(',')))
    const subresources = internal.subresources ?? version.subresources
    append(errors, versionProblems(version, here, subresources?.status !== undefined, checks))
  })
  if (!isUnique)
    errors.push(
      invalidValue(
        at.child('versions'),
        internalVersions(spec.versions && versions),
        'must contain unique version names',
      ),
    )
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(
      invalidValue(
        at.child('versions'),
        internalVersions(spec.versions && versions),
        'must have exactly one version marked as storage version',
      ),
    )
  if (versions.length > 0 && versions[0]!.name) {
    const problems = dns1035Label(versions[0]!.name)
    if (problems.length > 0) errors.push(invalidValue(at.child('version'), versions[0]!.name, problems.join(',')))
  }
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const)
    if (!names[name]) errors.push(required(at.child('names', name)))
  append(errors, nameProblems(names, at.child('names')))
  const hasStatus = [internal.subresources, ...versions.map(({ subresources }) => subresources)].some(
    (subresources) => subresources?.status !== undefined,
  )
  const isFirstUnchanged = lenient.unchangedVersions.has(versions[0]?.name ?? '')
  append(errors, schemaProblems(internal.validation, hasStatus, at.child('validation'), checks, isFirstUnchanged))
  append(errors, subresourceProblems(internal.subresources, at.child('subresources')))
  internal.additionalPrinterColumns.forEach((column, index) =>
    append(errors, columnProblems(column, at.child('additionalPrinterColumns').index(index))),
  )
  if (internal.selectableFields.length > 0) {
    const here = at.child('selectableFields')
    if (internal.validation === undefined)
      errors.push(invalidValue(here, '', 'may only be set when validations.schema is included'))
    else {
      const isAllowed = versions.some(({ name = '' }) => lenient.tooManyFields.has(name))
      append(
        errors,
        selectableProblems(internal.selectableFields, internal.validation.openAPIV3Schema ?? {}, here, isAllowed, at),
      )
    }
  }
  append(errors, conversionProblems(spec.conversion, at.child('conversion'), lenient, preserves))
  return errors
}

function enumProblems(value: string, accepted: readonly string[], at: FieldPath): FieldError[] {
  if (value === '') return [required(at)]
  return accepted.includes(value) ? [] : [notSupported(at, value, accepted)]
}

function versionProblems(
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
    ...additionalPrinterColumns.flatMap((column, index) =>
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

/** Keywords beside the type that may stand at the root of a schema whose status is taken out of it. */
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

function schemaProblems(
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
  const unreadable = apart(schema, () => structuralError(schema))
  // what is structural must be so even where an older definition was not, for fields are pruned by it
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
  return apart(schema, () =>
    validateDefaults(schema, at, !lenient.unprunedDefaults, engine && new DefaultRules(engine)),
  )
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
    if (value === null || value === '' || value === false || AT_ROOT.includes(name)) continue
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

function subresourceProblems(subresources: CustomResourceSubresources | undefined, at: FieldPath): FieldError[] {
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

function columnProblems(
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

const MAX_SELECTABLE = 8

function selectableProblems(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  at: FieldPath,
  allowsMore: boolean,
  around: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  const unreadable = structuralError(schema)
  if (unreadable !== undefined) errors.push(invalidValue(around.child('schema.openAPIV3Schema'), '', unreadable))
  const seen = new Set<string>()
  fields.forEach(({ jsonPath = '' }, index) => {
    const here = at.index(index).child('jsonPath')
    if (jsonPath === '') return void errors.push(required(here))
    const found = pathProblem(schema, jsonPath, false)
    if (typeof found === 'string') return void errors.push(invalidValue(here, jsonPath, `is an invalid path: ${found}`))
    if (found.names[0] === 'metadata') errors.push(invalidValue(here, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? ''))
      errors.push(
        invalidValue(
          here,
          jsonPath,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      )
    const key = found.names.join('.')
    if (seen.has(key)) errors.push(duplicate(here, jsonPath))
    seen.add(key)
  })
  if (seen.size > MAX_SELECTABLE && !allowsMore) errors.push(tooMany(at, seen.size, MAX_SELECTABLE))
  return errors
}

function nameProblems(names: CustomResourceDefinitionNames, at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const name of ['plural', 'singular'] as const) {
    const value = names[name] ?? ''
    const problems = value === '' ? [] : dns1035Label(value)
    if (problems.length > 0) errors.push(invalidValue(at.child(name), value, problems.join(',')))
  }
  for (const name of ['kind', 'listKind'] as const) {
    const value = names[name] ?? ''
    const problems = value === '' ? [] : dns1035Label(value.toLowerCase())
    if (problems.length > 0)
      errors.push(
        invalidValue(at.child(name), value, `may have mixed case, but should otherwise match: ${problems.join(',')}`),
      )
  }
  const each = (name: 'shortNames' | 'categories') =>
    (names[name] ?? []).forEach((value, index) => {
      const problems = dns1035Label(value)
      if (problems.length > 0) errors.push(invalidValue(at.child(name).index(index), value, problems.join(',')))
    })
  each('shortNames')
  if (names.kind && names.kind === names.listKind)
    errors.push(invalidValue(at.child('listKind'), names.listKind, 'kind and listKind may not be the same'))
  each('categories')
  return errors
}

/** Versions of ConversionReview that kube-apiserver knows. */
const REVIEW_VERSIONS = ['v1', 'v1beta1']

function conversionProblems(
  conversion: CustomResourceConversion | undefined,
  at: FieldPath,
  lenient: Leniency,
  preserves: boolean,
): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = '', webhook } = conversion
  const errors: FieldError[] = []
  if (strategy !== 'None' && preserves)
    errors.push(invalidValue(at.child('strategy'), strategy, 'must be None if spec.preserveUnknownFields is true'))
  append(errors, enumProblems(strategy, ['None', 'Webhook'], at.child('strategy')))
  const client = webhook?.clientConfig
  const versions = webhook?.conversionReviewVersions ?? []
  const here = at.child('webhookClientConfig')
  if (strategy !== 'Webhook') {
    if (client !== undefined) errors.push(forbiddenField(here, 'should not be set when strategy is not set to Webhook'))
    if (versions.length > 0)
      errors.push(
        forbiddenField(at.child('conversionReviewVersions'), 'should not be set when strategy is not set to Webhook'),
      )
    return errors
  }
  if (client === undefined) errors.push(required(here, 'required when strategy is set to Webhook'))
  else {
    append(errors, webhookClientErrors(client, here))
    const problem = lenient.authorities ? undefined : authorityProblem(client.caBundle)
    if (problem !== undefined) errors.push(invalidValue(here.child('caBundle'), client.caBundle, problem))
  }
  return [...errors, ...reviewProblems(versions, at.child('conversionReviewVersions'), lenient)]
}

function reviewProblems(versions: readonly string[], at: FieldPath, { reviewVersions }: Leniency): FieldError[] {
  if (versions.length === 0) return [required(at)]
  const errors: FieldError[] = []
  const repeats = repeatsIn(versions)
  versions.forEach((version, index) => {
    if (repeats.has(index)) errors.push(invalidValue(at.index(index), version, 'duplicate version'))
    else for (const problem of dns1035Label(version)) errors.push(invalidValue(at.index(index), version, problem))
  })
  if (!reviewVersions && !versions.some((version) => REVIEW_VERSIONS.includes(version)))
    errors.push(invalidValue(at, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`))
  return errors
}

function statusProblems(definition: CustomResourceDefinition): FieldError[] {
  const { storedVersions = [], acceptedNames = {} } = definition.status ?? {}
  const at = path('status')
  const here = at.child('storedVersions')
  const errors = nameProblems(acceptedNames, at.child('acceptedNames'))
  if (storedVersions.length === 0) return [...errors, invalidValue(here, null, 'must have at least one stored version')]
  const names = versionsOf(definition).map(({ name = '' }) => name)
  const isStored = new Set(storedVersions)
  const isNamed = new Set(names)
  const repeats = repeatsIn(names)
  versionsOf(definition).forEach(({ name = '', storage }, index) => {
    // a name that comes twice is found once
    if (storage && (!isStored.has(name) || repeats.has(index)))
      errors.push(invalidValue(here, storedVersions, `must have the storage version ${name}`))
  })
  storedVersions.forEach((version, index) => {
    if (!isNamed.has(version))
      errors.push(
        invalidValue(
          here.index(index),
          version,
          `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
        ),
      )
  })
  return errors
}

function approvalProblems(definition: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  if (!isProtectedGroup(definition.spec?.group ?? '')) return []
  const { state, why } = approvalOf(definition)
  if (old !== undefined && approvalOf(old).state === state) return []
  const at = path('metadata', 'annotations').key(APPROVED_BY)
  if (state === 'missing') return [required(at, why)]
  return state === 'invalid' ? [invalidValue(at, definition.metadata.annotations?.[APPROVED_BY], why)] : []
}

function preserveProblems({ spec }: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  if (old?.spec?.preserveUnknownFields || !spec?.preserveUnknownFields) return []
  return [
    invalidValue(
      path('spec', 'preserveUnknownFields'),
      true,
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ),
  ]
}
