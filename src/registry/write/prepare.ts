/**
 * Prepares an object before storage: fields that the server sets or keeps, the strategy's changes, and validation
 * (apiserver's BeforeCreate and BeforeUpdate of registry/rest). Objects are in the storage version.
 */
import { nextInt64 } from '../../go/int.ts'
import { append } from '../../base/append.ts'
import type { FieldError } from '../../api/field.ts'
import { asJson } from '../../api/object.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { ownValue, setOwn } from '../../base/own.ts'
import { kept, mapParts, PART } from '../../base/parts.ts'
import { badRequest, invalid } from '../../api/status.ts'
import { sameWritten } from '../../codec/encode/same-written.ts'
import { valuesEqualApart } from '../../json/value-order.ts'
import type { HeldAs, StructType } from '../../schema/structural.ts'
import { fillStruct } from '../../schema/zero-values.ts'
import { hasStatus } from '../resource.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { newValueOf } from '../stored-form.ts'
import type { MetadataCheck } from '../strategy.ts'
import type { WriteMode } from './allocate.ts'
import { walked } from '../../request/turns.ts'
import { dropDisabledFields } from '../../schema/disabled-fields.ts'
import { hasEmptied } from '../../schema/emptied.ts'
import { pathSegmentName, subdomainName } from '../../validation/names.ts'
import {
  validateAnyMeta,
  validateKindMetaUpdate,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../validation/object-meta.ts'

export async function beforeCreate(scope: ResourceScope, object: KubeObject, { options }: WriteMode): Promise<void> {
  const {
    resource: { strategy },
  } = scope
  const { metadata } = object
  ensureNamespace(scope, object)
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  if (strategy.hasGeneration) metadata.generation = 1
  if (!strategy.keepsStatusOnCreate && hasStatus(scope.resource.entry)) delete (object as { status?: unknown }).status
  const context = scope.strategyContext(options.dryRun)
  const { request } = scope
  await walked(request, () =>
    dropDisabledFields(scope.resource.storageType, asJson(object), undefined, context.enabled),
  )
  await strategy.prepareForCreate?.(object, context)
  fillStruct(scope.resource.storageType, asJson(object))
  const errors = strategy.leavesNewMetadata ? [] : await walked(request, () => newMetaErrors(scope, metadata))
  append(errors, (await walked(request, () => strategy.validate?.(object, context))) ?? [])
  if (errors.length > 0) throw invalid(scope.resource.storageKind, metadata.name ?? '', errors)
  const common = await walked(request, () => validateAnyMeta(metadata, scope.resource.namespaced, pathSegmentName))
  if (common.length > 0) throw invalid(scope.resource.storageKind, metadata.name ?? '', common)
  strategy.completeOnCreate?.(object, context)
  append(request.warnings, (await walked(request, () => strategy.warningsOnCreate?.(object, context))) ?? [])
}

function newMetaErrors(scope: ResourceScope, metadata: ObjectMeta): FieldError[] {
  const validateMeta = scope.resource.strategy.hasGenericMetadata ? validateAnyMeta : validateObjectMeta
  return validateMeta(metadata, scope.resource.namespaced, scope.resource.strategy.nameRule ?? subdomainName)
}

export async function beforeUpdate(
  scope: ResourceScope,
  object: KubeObject,
  old: KubeObject,
  { options }: WriteMode,
): Promise<void> {
  const {
    resource: { strategy, view },
    place: { subresource },
  } = scope
  ensureNamespace(scope, object)
  const before = old.metadata
  object.metadata.generation = before.generation
  delete object.metadata.selfLink
  // a write through a view changes the main resource
  const isMain = subresource === '' || view !== undefined
  const update = isMain ? strategy : ownValue(strategy.subresources, subresource)
  const context = scope.strategyContext(options.dryRun)
  if (isMain) keepStatus(scope, object, old)
  else if (subresource === 'status') keepAllButStatus(object, old)
  const { request } = scope
  const isOtherAsSent = strategy.countsDropped && !(await walked(request, () => sameSpec(scope, object, old)))
  await walked(request, () =>
    dropDisabledFields(scope.resource.storageType, asJson(object), asJson(old), context.enabled),
  )
  await update?.prepareForUpdate?.(object, old, context)
  fillStruct(scope.resource.storageType, asJson(object))
  // read after the strategy, which may have replaced the metadata
  const meta = object.metadata
  if (
    strategy.hasGeneration &&
    !strategy.generationStays &&
    (isOtherAsSent || !(await walked(request, () => sameSpec(scope, object, old))))
  )
    meta.generation = nextInt64(before.generation ?? 0)
  if (!meta.uid) meta.uid = before.uid
  meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined)
    meta.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  const errors = await walked(request, () => [
    ...validateAnyMeta(meta, scope.resource.namespaced, pathSegmentName),
    ...validateObjectMetaUpdate(meta, before),
    // kube-apiserver's strategies repeat this check, so the error comes twice
    ...metaErrorsAgain(scope, update?.metadataOnUpdate ?? 'as change', meta, before),
  ])
  append(errors, (await walked(request, () => update?.validateUpdate?.(object, old, context))) ?? [])
  if (errors.length > 0) throw invalid(scope.resource.storageKind, meta.name ?? '', errors)
  if (isMain) strategy.completeOnUpdate?.(object, context)
  append(request.warnings, (await walked(request, () => update?.warningsOnUpdate?.(object, old, context))) ?? [])
}

function metaErrorsAgain(scope: ResourceScope, how: MetadataCheck, meta: ObjectMeta, before: ObjectMeta): FieldError[] {
  switch (how) {
    case 'as change':
      return (scope.resource.strategy.hasGenericMetadata ? validateObjectMetaUpdate : validateKindMetaUpdate)(
        meta,
        before,
      )
    case 'as new':
      return newMetaErrors(scope, meta)
    case 'by strategy':
      return []
  }
}

/** The object is in the namespace of the request. @throws StatusError 400 where it says another */
export function ensureNamespace(scope: ResourceScope, { metadata }: KubeObject): void {
  const expected = scope.resource.namespaced ? scope.place.namespace : ''
  if (!metadata.namespace) {
    if (expected !== '') metadata.namespace = expected
  } else if (!scope.resource.namespaced) {
    delete metadata.namespace
  } else if (metadata.namespace !== expected) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

function keepStatus(scope: ResourceScope, object: KubeObject, old: KubeObject): void {
  if (!hasStatus(scope.resource.entry)) return
  const { status } = asJson(old)
  // a member that is undefined is a member, which rules of a schema would look at
  if (status === undefined) delete asJson(object)['status']
  else asJson(object)['status'] = status
}

/** Restores everything but status and metadata. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const target = object as unknown as Record<string, unknown>
  for (const field of Object.keys(target)) if (!statusWrites.has(field)) delete target[field]
  for (const [field, value] of Object.entries(old)) if (!statusWrites.has(field)) setOwn(target, field, value)
}

const statusWrites = new Set(['kind', 'apiVersion', 'metadata', 'status'])

const BESIDE_SPEC = new Set(['metadata', 'status'])

/** Whether everything but metadata and status is unchanged. */
function sameSpec(scope: ResourceScope, object: KubeObject, old: KubeObject): boolean {
  const { countsStatus, countsEmptied, isMoreThanStored } = scope.resource.strategy
  const ignored = { metadata: {}, ...(countsStatus ? {} : { status: undefined }) }
  const bare = kept(object, () => ({ ...object, ...ignored }))
  const before = kept(old, () => ({ ...old, ...ignored }))
  return (
    isSameWritten(scope, bare, before) &&
    !(countsEmptied && hasEmptied(object, BESIDE_SPEC)) &&
    isMoreThanStored?.(object) !== true
  )
}

/** Compares the objects first, because most are equal without encoding. */
function isSameWritten({ resource: { storageType: type } }: ResourceScope, a: KubeObject, b: KubeObject): boolean {
  return valuesEqualApart(asJson(a), asJson(b)) || sameOnceWritten[type.heldAs](type, a, b)
}

const sameOnceWritten = {
  typed: (type, a, b) => sameWritten(type, asJson(a), asJson(b)),
  unstructured(type, a, b) {
    const pair = kept(a, () => [a, b])
    // each text ends with a part that is encoded in one step
    const [text, before] = mapParts(pair, (object) => newValueOf(type, object, {}).text, PART)
    return text === before
  },
} satisfies Record<HeldAs, (type: StructType, a: KubeObject, b: KubeObject) => boolean>
