/** Validates a CustomResourceDefinition in the order of apiextensions' pkg/apis/apiextensions/validation. */
import { kept } from '../../base/parts.ts'
import { append } from '../../base/append.ts'
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  JSONSchemaProps,
} from '../../api/apiextensions/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupportedString, path, required } from '../../api/field.ts'
import { dns1035Label, dns1123Subdomain, subdomainName } from '../../validation/names.ts'
import { immutableNamed } from '../../validation/field-rules.ts'
import { FIELD_IS_IMMUTABLE, validateAnyMeta } from '../../validation/object-meta.ts'
import { webhookClientErrors } from '../../validation/webhook-client.ts'
import { authorityProblem } from '../../x509/authority-bundle.ts'
import type { Json } from '../../api/object.ts'
import { valuesEqual } from '../../json/value-order.ts'
import { firstBy, repeatsIn } from '../../base/lookup.ts'
import { isConditionTrue, versionsOf } from '../custom-resources/definition.ts'
import type { RuleEngine } from '../custom-resources/rules.ts'
import { approvalOf, APPROVED_BY, isProtectedGroup } from './approval.ts'
import { isPruned } from './default-validation.ts'
import { internalSpec, internalVersions } from '../../validation/apiextensions/internal-form.ts'
import { someSchema } from './schemas-below.ts'
import { isNonAtomicSet, mapKeyProblems } from './schema-validation.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { STRICT } from './leniency.ts'
import type { Checks, Leniency } from './leniency.ts'
import {
  MAX_SELECTABLE,
  columnProblems,
  schemaProblems,
  selectableProblems,
  subresourceProblems,
  versionProblems,
} from './version-validation.ts'

/** @param engine undefined if no version has rules */
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
          ...immutableNamed(at.child('scope'), spec.scope ?? '', before.scope ?? ''),
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
  const anywhere = (test: (schema: JSONSchemaProps) => boolean): boolean =>
    schemas.some((schema) => someSchema(schema, test))
  const nowhere = path()
  const versionsBefore = firstBy(versionsOf(old), ({ name = '' }) => name)
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
        const before = versionsBefore.get(name)
        // schemas are JSON, but their interface does not say so
        const isSame = valuesEqual(schema as Json | undefined, before?.schema as Json | undefined)
        return before !== undefined && isSame ? [name] : []
      }),
    ),
    tooManyFields: new Set(
      versionsOf(definition).flatMap(({ name = '', selectableFields = [] }) => {
        const before = versionsBefore.get(name)?.selectableFields ?? []
        const isSame = JSON.stringify(before) === JSON.stringify(selectableFields)
        return before.length > MAX_SELECTABLE && isSame ? [name] : []
      }),
    ),
  }
}

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

const hasDefault = (schema: JSONSchemaProps | undefined): boolean =>
  schema !== undefined && someSchema(schema, (one) => one.default !== undefined && one.default !== null)

function specProblems(spec: CustomResourceDefinitionSpec, checks: Checks): FieldError[] {
  const { lenient } = checks
  const at = path('spec')
  const { group = '', scope = '', names = {} } = spec
  const internal = kept(spec, () => internalSpec(spec))
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
    append(
      errors,
      errorsOf(versions, ({ schema }, index) =>
        schema?.openAPIV3Schema === undefined
          ? [required(at.child('versions').index(index).child('schema', 'openAPIV3Schema'))]
          : [],
      ),
    )
  if (
    preserves &&
    versions.some(({ schema }) => hasDefault(schema?.openAPIV3Schema ?? internal.validation?.openAPIV3Schema))
  )
    errors.push(
      invalidValue(at.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema'),
    )
  append(
    errors,
    errorsOf(versions, (version, index) => {
      const errors: FieldError[] = []
      const { name = '' } = version
      const here = at.child('versions').index(index)
      const problems = dns1035Label(name)
      if (problems.length > 0) errors.push(invalidValue(here.child('name'), name, problems.join(',')))
      const subresources = internal.subresources ?? version.subresources
      append(errors, versionProblems(version, here, subresources?.status !== undefined, checks))
      return errors
    }),
  )
  if (new Set(versions.map(({ name = '' }) => name)).size < versions.length)
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
  append(
    errors,
    errorsOf(internal.additionalPrinterColumns, (column, index) =>
      columnProblems(column, at.child('additionalPrinterColumns').index(index)),
    ),
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
  return accepted.includes(value) ? [] : [notSupportedString(at, value, accepted)]
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
    append(
      errors,
      errorsOf(names[name] ?? [], (value, index) => {
        const errors: FieldError[] = []
        const problems = dns1035Label(value)
        if (problems.length > 0) errors.push(invalidValue(at.child(name).index(index), value, problems.join(',')))
        return errors
      }),
    )
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
  append(
    errors,
    errorsOf(versions, (version, index) => {
      const errors: FieldError[] = []
      if (repeats.has(index)) errors.push(invalidValue(at.index(index), version, 'duplicate version'))
      else for (const problem of dns1035Label(version)) errors.push(invalidValue(at.index(index), version, problem))
      return errors
    }),
  )
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
  append(
    errors,
    errorsOf(versionsOf(definition), ({ name = '', storage }, index) => {
      const errors: FieldError[] = []
      // kube-apiserver finds a stored version once: a second version of the same name counts as not stored
      if (storage && (!isStored.has(name) || repeats.has(index)))
        errors.push(invalidValue(here, storedVersions, `must have the storage version ${name}`))
      return errors
    }),
  )
  append(
    errors,
    errorsOf(storedVersions, (version, index) => {
      const errors: FieldError[] = []
      if (!isNamed.has(version))
        errors.push(
          invalidValue(
            here.index(index),
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
          ),
        )
      return errors
    }),
  )
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
