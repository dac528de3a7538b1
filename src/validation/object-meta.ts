import { goQuote } from '../go/quote.ts'
import { ownValue } from '../base/own.ts'
import { kept } from '../base/parts.ts'
import { validateFieldManager } from '../api/field-manager.ts'
/** Validates object metadata and its updates (apimachinery's pkg/api/validation). */
import { append } from '../base/append.ts'
import type { FieldError } from '../api/field.ts'
import { forbiddenField, invalidValue, path, required, tooLong } from '../api/field.ts'
import type { FieldPath } from '../api/field.ts'
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../api/object.ts'
import { sentField } from '../schema/emptied.ts'
import type { NameRule } from './names.ts'
import { dns1123Label, labelValueProblems, qualifiedNameProblems } from './names.ts'
import { byteLength } from '../base/utf8.ts'
import { errorsByName, errorsOf } from './errors-of.ts'

const TOTAL_ANNOTATION_BYTES = 256 * 1024
const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])
export const isStandardFinalizer = (name: string): boolean => STANDARD_FINALIZERS.has(name)
export const FIELD_IS_IMMUTABLE = 'field is immutable'

const metadata = path('metadata')

/** Validates metadata of built-in kinds: the generic rules, and finalizers without a domain must be standard ones. */
export function validateObjectMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
  at: FieldPath = metadata,
): FieldError[] {
  return [...validateAnyMeta(meta, namespaced, nameRule, at), ...unknownFinalizers(meta, at)]
}

/** Validates an update of the metadata of built-in kinds. */
export function validateKindMetaUpdate(meta: ObjectMeta, old: ObjectMeta, at: FieldPath = metadata): FieldError[] {
  return [...validateObjectMetaUpdate(meta, old, at), ...unknownFinalizers(meta, at)]
}

const unknownFinalizers = (meta: ObjectMeta, at: FieldPath): FieldError[] =>
  errorsOf(meta.finalizers ?? [], (finalizer, index) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)
      ? []
      : [invalidValue(at.child('finalizers').index(index), finalizer, NOT_A_FINALIZER)],
  )

export const NOT_A_FINALIZER = 'name is neither a standard finalizer name nor is it fully qualified'

const notInTemplates = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const

/** A template's metadata has labels and annotations only. The objects made from it get their own names. */
export const validateTemplateMeta = (meta: ObjectMeta, at: FieldPath): FieldError[] => [
  ...validateAnnotations(meta.annotations ?? {}, at.child('annotations')),
  ...validateLabels(meta.labels ?? {}, at.child('labels')),
  ...notInTemplates
    .filter((field) => (sentField(meta, field) ?? undefined) !== undefined)
    // kube-apiserver derives the path from Go's field name UID
    .map((field) => forbiddenField(at.child(field === 'uid' ? 'uID' : field), 'cannot be set')),
]

/** Validates the metadata of all objects, including custom resources. */
export function validateAnyMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
  at: FieldPath = metadata,
): FieldError[] {
  const errors: FieldError[] = []
  if (meta.generateName) {
    for (const problem of nameRule(meta.generateName, true))
      errors.push(invalidValue(at.child('generateName'), meta.generateName, problem))
  }
  if (!meta.name) errors.push(required(at.child('name'), 'name or generateName is required'))
  else for (const problem of nameRule(meta.name, false)) errors.push(invalidValue(at.child('name'), meta.name, problem))

  if (namespaced) {
    if (!meta.namespace) errors.push(required(at.child('namespace')))
    else
      for (const problem of dns1123Label(meta.namespace))
        errors.push(invalidValue(at.child('namespace'), meta.namespace, problem))
  } else if (meta.namespace) errors.push(forbiddenField(at.child('namespace'), 'not allowed on this type'))

  if ((meta.generation ?? 0) < 0)
    errors.push(invalidValue(at.child('generation'), meta.generation, 'must be greater than or equal to 0'))
  append(errors, [
    ...validateLabels(meta.labels ?? {}, at.child('labels')),
    ...validateAnnotations(meta.annotations ?? {}, at.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], at.child('ownerReferences')),
    ...validateFinalizers(meta.finalizers ?? [], at.child('finalizers')),
    ...validateManagedFields(meta.managedFields ?? [], at.child('managedFields')),
  ])
  return errors
}

export function validateLabels(labels: Readonly<Record<string, string>>, at: FieldPath): FieldError[] {
  return errorsByName(labels, (key) => [
    ...qualifiedNameProblems(key).map((problem) => invalidValue(at, key, problem)),
    ...labelValueProblems(ownValue(labels, key)!).map((problem) => invalidValue(at, ownValue(labels, key)!, problem)),
  ])
}

/** Annotation keys are label keys that may have capitals. The bytes of all keys and values have one limit. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, at: FieldPath): FieldError[] {
  const bytes = kept(annotations, () => ({ left: TOTAL_ANNOTATION_BYTES }))
  const errors = errorsByName(annotations, (key) => {
    bytes.left -= byteLength(key) + byteLength(ownValue(annotations, key)!)
    return qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue(at, key, problem))
  })
  return bytes.left < 0 ? [...errors, tooLong(at, TOTAL_ANNOTATION_BYTES)] : errors
}

function validateOwnerReferences(owners: readonly OwnerReference[], at: FieldPath): FieldError[] {
  const first = owners.find(({ controller }) => controller === true)
  return errorsOf(owners, (owner) => {
    const errors: FieldError[] = []
    const [version = '', ...more] = (owner.apiVersion ?? '').split('/').reverse()
    if (version === '' || more.length > 1)
      errors.push(invalidValue(at.child('apiVersion'), owner.apiVersion ?? '', 'version must not be empty'))
    if (!owner.kind) errors.push(invalidValue(at.child('kind'), owner.kind ?? '', 'must not be empty'))
    if (!owner.name) errors.push(invalidValue(at.child('name'), owner.name ?? '', 'must not be empty'))
    if (!owner.uid) errors.push(invalidValue(at.child('uid'), owner.uid ?? '', 'must not be empty'))
    if (owner.apiVersion === 'v1' && owner.kind === 'Event')
      errors.push(invalidValue(at, inOrder(owner), `/v1, Kind=Event is disallowed from being an owner`))
    if (owner.controller === true && first !== undefined && owner !== first)
      errors.push(
        invalidValue(
          at,
          owners.map(inOrder),
          `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${owner.kind}/${owner.name}`,
        ),
      )
    return errors
  })
}

/** Error texts have an owner's fields in the order of its type, not in the order that the client sent. */
const inOrder = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference) => ({
  apiVersion: apiVersion ?? '',
  kind: kind ?? '',
  name: name ?? '',
  uid: uid ?? '',
  ...(controller === undefined ? {} : { controller }),
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
})

function validateFinalizers(finalizers: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  append(
    errors,
    errorsOf(finalizers, (finalizer) => {
      const errors: FieldError[] = []
      for (const problem of qualifiedNameProblems(finalizer)) errors.push(invalidValue(at, finalizer, problem))
      return errors
    }),
  )
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(invalidValue(at, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  return errors
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  append(
    errors,
    errorsOf(entries, (entry, index) => {
      const errors: FieldError[] = []
      const here = at.index(index)
      if (entry.operation !== 'Apply' && entry.operation !== 'Update')
        errors.push(invalidValue(here.child('operation'), entry.operation ?? '', 'must be `Apply` or `Update`'))
      if (entry.fieldsType && entry.fieldsType !== 'FieldsV1')
        errors.push(invalidValue(here.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'))
      append(errors, validateFieldManager(entry.manager ?? '', here.child('manager')))
      if (byteLength(entry.subresource ?? '') > 256) errors.push(tooLong(here.child('subresource'), 256))
      return errors
    }),
  )
  return errors
}

/** Refuses changes of immutable metadata. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, at: FieldPath = metadata): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers)
    const added = (meta.finalizers ?? []).filter((finalizer) => !before.has(finalizer)).sort()
    if (added.length > 0)
      errors.push(
        forbiddenField(
          at.child('finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map(goQuote).join(', ')}}`,
        ),
      )
  }
  const immutable: (keyof ObjectMeta)[] = [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]
  if ((meta.generation ?? 0) < (old.generation ?? 0))
    errors.push(invalidValue(at.child('generation'), meta.generation ?? 0, 'must not be decremented'))
  for (const field of immutable)
    if (meta[field] !== old[field]) errors.push(invalidValue(at.child(field), meta[field] ?? '', FIELD_IS_IMMUTABLE))
  append(errors, [
    ...validateLabels(meta.labels ?? {}, at.child('labels')),
    ...validateAnnotations(meta.annotations ?? {}, at.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], at.child('ownerReferences')),
    ...validateManagedFields(meta.managedFields ?? [], at.child('managedFields')),
  ])
  return errors
}
