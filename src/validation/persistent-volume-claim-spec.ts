/** Validates the spec of a PersistentVolumeClaim or of a claim template. */
import { append } from '../base/append.ts'
import type * as CoreV1 from '../api/core/v1.ts'
import type { FieldError, FieldPath } from '../api/field.ts'
import { forbiddenField, invalidValue, notSupported, required } from '../api/field.ts'
import { Quantity } from '../schema/quantity.ts'
import { POSITIVE, problems, requiredText } from './field-rules.ts'
import { validateLabelSelector } from './label-selectors.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'
import { validateTemplateMeta } from './object-meta.ts'
import { errorsOf } from './errors-of.ts'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const VOLUME_MODES = ['Block', 'Filesystem']

export function validateClaimTemplate(at: FieldPath, template: CoreV1.PersistentVolumeClaimTemplate): FieldError[] {
  const { metadata = {}, spec = {} } = template
  return [...validateTemplateMeta(metadata, at.child('metadata')), ...validateClaimSpec(at.child('spec'), spec)]
}

export interface ClaimRules {
  readonly allowInvalidSelectorValues?: boolean
  /** Accepts an API group that is no DNS subdomain, because the stored object has one. */
  readonly allowInvalidDataSourceGroup?: boolean
}

export function validateClaimSpec(
  at: FieldPath,
  spec: CoreV1.PersistentVolumeClaimSpec,
  rules: ClaimRules = {},
): FieldError[] {
  const { accessModes = [], selector, resources = {}, storageClassName, volumeMode, dataSource, dataSourceRef } = spec
  const errors: FieldError[] = []
  const modes = at.child('accessModes')
  if (accessModes.length === 0) errors.push(required(modes, 'at least 1 access mode is required'))
  append(
    errors,
    validateLabelSelector(at.child('selector'), selector, {
      allowInvalidValues: rules.allowInvalidSelectorValues ?? false,
    }),
  )
  append(
    errors,
    errorsOf(accessModes, (mode) => (!ACCESS_MODES.includes(mode) ? [notSupported(modes, mode, ACCESS_MODES)] : [])),
  )
  const others = accessModes.filter((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))
  if (accessModes.includes('ReadWriteOncePod') && others.length > 0)
    errors.push(forbiddenField(modes, 'may not use ReadWriteOncePod with other access modes'))
  const storage = resources.requests?.storage
  const storageAt = at.child('resources').key('storage')
  if (storage === undefined) errors.push(required(storageAt))
  else if (Quantity.parse(storage).sign <= 0) errors.push(invalidValue(storageAt, storage, POSITIVE))
  if (storageClassName)
    append(errors, problems(at.child('storageClassName'), storageClassName, dns1123Subdomain(storageClassName)))
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode))
    errors.push(notSupported(at.child('volumeMode'), volumeMode, VOLUME_MODES))
  const lenient = rules.allowInvalidDataSourceGroup ?? false
  if (dataSource) append(errors, validateDataSource(at.child('dataSource'), dataSource, lenient))
  if (dataSourceRef) {
    append(errors, validateDataSource(at.child('dataSourceRef'), dataSourceRef, lenient))
    const { namespace } = dataSourceRef
    if (namespace) append(errors, problems(at.child('dataSourceRef', 'namespace'), namespace, dns1123Label(namespace)))
  }
  if (dataSource && dataSourceRef?.namespace)
    errors.push(invalidValue(at, {}, 'may not be specified when dataSourceRef.namespace is specified'))
  else if (dataSource && dataSourceRef && !sameSource(dataSource, dataSourceRef))
    errors.push(invalidValue(at, {}, 'must match dataSourceRef'))
  const attributes = spec.volumeAttributesClassName
  if (attributes)
    append(errors, problems(at.child('volumeAttributesClassName'), attributes, dns1123Subdomain(attributes)))
  return errors
}

const sameSource = (a: CoreV1.TypedLocalObjectReference, b: CoreV1.TypedObjectReference): boolean =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name

function validateDataSource(
  at: FieldPath,
  { name, kind = '', apiGroup = '' }: CoreV1.TypedLocalObjectReference,
  allowInvalidGroup: boolean,
): FieldError[] {
  return [
    ...requiredText(at.child('name'), name),
    ...requiredText(at.child('kind'), kind),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalidValue(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...(apiGroup === '' || allowInvalidGroup
      ? []
      : problems(at.child('apiGroup'), apiGroup, dns1123Subdomain(apiGroup))),
  ]
}
