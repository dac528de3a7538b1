/**
 * Any resource in storage (apiserver's registry/generic/registry Store): what every write does before and after it
 * touches a shard. Objects are in the storage version.
 */
import { takeFirstRead } from './first-read.ts'
import { valuesEqual } from '../api/value-order.ts'
import { cloneJson } from '../api/clone-json.ts'
import { append } from '../api/append.ts'
import type { FieldError } from '../api/field.ts'
import { goQuote } from '../go/quote.ts'
import { invalidValue, path } from '../api/field.ts'
import { groupResourceText } from '../api/group-version.ts'
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import { ownValue, setOwn } from '../api/own.ts'
import { LARGE } from '../api/slices.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  notFound,
  OBJECT_HAS_CHANGED,
  plainError,
  StatusError,
} from '../api/status.ts'
import { statusFor } from '../storage/storage-status.ts'
import type { ResourceScope } from './resource-scope.ts'
import { hasStatus, keyOf } from './resource-scope.ts'
import { copyWithEmptied, hasEmptied } from '../schema/emptied.ts'
import { fillStruct } from '../codec/decode.ts'
import { dropDisabledFields } from '../schema/disabled-fields.ts'
import { sameButTimes } from '../patch/managed-fields.ts'
import { timeText } from '../schema/time.ts'
import { StorageError } from '../storage/errors.ts'
import { pathSegmentName, subdomainName } from '../validation/names.ts'
import {
  validateAnyMeta,
  validateKindMetaUpdate,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../validation/object-meta.ts'
import type { MetadataCheck } from './strategy.ts'
import { noteFault } from '../request/fault.ts'
import { walked } from '../request/turns.ts'
import { generatedName } from './generated-name.ts'
import type { WriteResult, Live } from '../codec/stored-object.ts'
import { liveOf } from '../codec/stored-object.ts'
import { asJson } from '../api/object.ts'
import { isUnchanged, newValueOf } from './stored-form.ts'
import type { Undo } from './write/undo.ts'
import { undoing } from './write/undo.ts'
import { commitCreate, commitUpdate, encode } from './write/commit.ts'
import { isWithoutFinalizers, removeEmptied } from './deletion.ts'

const GENERATE_NAME_TRIES = 8
const UPDATE_TRIES = 20

/**
 * Runs after everything that may change the object: validating admission.
 * @returns what takes back what was done beside the object, for a write that fails
 */
export type Validating = (object: KubeObject, old?: KubeObject) => Promise<Undo | undefined | void>

export interface WriteMode {
  readonly dryRun: boolean
}

/** Names that no object can have are refused before storage is asked. @throws 400 */
export function checkNameParameter(name: string): void {
  const [problem] = pathSegmentName(name, false)
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problem}`)
}

export async function readLive(
  scope: ResourceScope,
  name: string,
  namespace = scope.namespace,
): Promise<Live | undefined> {
  const key = keyOf(scope, name, namespace)
  const early = takeFirstRead(scope.request, scope.collection, key)
  const stored = await (early ?? scope.storage.get(scope.collection, key))
  if (stored === undefined) return undefined
  if (stored.text.length > LARGE) scope.request.isLarge = true
  const { object } = liveOf(stored)
  if (scope.converter === undefined)
    return { stored, object: await walked(scope.request, () => scope.currentForm(object)) }
  const [converted] = await scope.converter.toServed([object], 'stored')
  return { stored, object: converted! }
}

/** @returns the object as it is stored now, its resourceVersion in it (none on a dry run) */
export async function createObject(
  scope: ResourceScope,
  wanted: KubeObject,
  mode: WriteMode,
  validating: Validating,
): Promise<WriteResult> {
  fillSystemFields(scope, wanted)
  const generates = !wanted.metadata.name && !!wanted.metadata.generateName
  for (let attempt = 1; ; attempt++) {
    const object = generates ? copyWithEmptied(wanted) : wanted
    if (generates) object.metadata.name = nameFor(scope, wanted.metadata.generateName!)
    try {
      return await allocating(scope, object, undefined, mode, async () => {
        await beforeCreate(scope, object, mode)
        return admitted(scope, validating, object, undefined, () => insert(scope, object, mode))
      })
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (error.code !== 'KeyExists') throw statusFor(error, scope.resource, object.metadata.name ?? '')
      if (generates && attempt < GENERATE_NAME_TRIES) continue
      throw await existsError(scope, object.metadata.name!)
    }
  }
}

const nameFor = ({ strategy }: ResourceScope, prefix: string): string =>
  strategy.generatesNames === false ? prefix : generatedName(prefix)

/** What the object needs beside it is taken before it is looked at, and given back when the write fails. */
async function allocating(
  scope: ResourceScope,
  object: KubeObject,
  old: KubeObject | undefined,
  { dryRun }: WriteMode,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const { strategy, subresource } = scope
  const allocation =
    subresource === '' ? await strategy.allocate?.(object, old, scope.strategyContext(dryRun)) : undefined
  if (allocation === undefined) return write()
  const written = await undoing(scope.request, write, () => allocation.revert())
  await allocation.commit()
  return written
}

/** What admission did beside the object is taken back when the write fails. */
async function admitted(
  scope: ResourceScope,
  validating: Validating,
  object: KubeObject,
  old: KubeObject | undefined,
  write: () => Promise<WriteResult>,
): Promise<WriteResult> {
  const undo = await validating(object, old)
  return undo ? undoing(scope.request, write, undo) : write()
}

async function insert(scope: ResourceScope, object: KubeObject, { dryRun }: WriteMode): Promise<WriteResult> {
  const key = keyOf(scope, object.metadata.name!)
  if (dryRun) {
    if ((await scope.storage.get(scope.collection, key)) !== undefined) throw new StorageError('KeyExists')
    return { object }
  }
  // "0" and what is no number are taken for no version
  if (/^0*[1-9]\d*$/.test(object.metadata.resourceVersion ?? ''))
    throw plainError('resourceVersion should not be set on objects to be created')
  return commitCreate(scope, object)
}

async function existsError(scope: ResourceScope, name: string): Promise<StatusError> {
  const error = alreadyExists(scope.resource, name)
  const live = await readLive(scope, name)
  if (live?.object.metadata.deletionTimestamp === undefined) return error
  return new StatusError(409, 'AlreadyExists', `object is being deleted: ${error.message}`, error.status.details)
}

function fillSystemFields({ request }: ResourceScope, { metadata }: KubeObject): void {
  metadata.creationTimestamp = timeText(request.now)
  metadata.uid = crypto.randomUUID()
}

async function beforeCreate(scope: ResourceScope, object: KubeObject, { dryRun }: WriteMode): Promise<void> {
  const { strategy } = scope
  const { metadata } = object
  ensureNamespace(scope, object)
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  if (strategy.hasGeneration) metadata.generation = 1
  if (!strategy.keepsStatusOnCreate && hasStatus(scope)) delete (object as { status?: unknown }).status
  const context = scope.strategyContext(dryRun)
  const { request } = scope
  await walked(request, () => dropDisabledFields(scope.storageType, asJson(object), undefined, context.enabled))
  await strategy.prepareForCreate?.(object, context)
  append(request.warnings, strategy.warningsOfPreparation?.(object) ?? [])
  fillStruct(scope.storageType, asJson(object))
  const errors = strategy.leavesNewMetadata ? [] : await walked(request, () => newMetaErrors(scope, metadata))
  append(errors, (await walked(request, () => strategy.validate?.(object, context))) ?? [])
  if (errors.length > 0) throw invalid(scope.storageKind, metadata.name ?? '', errors)
  const common = validateAnyMeta(metadata, scope.namespaced, pathSegmentName)
  if (common.length > 0) throw invalid(scope.storageKind, metadata.name ?? '', common)
  strategy.completeOnCreate?.(object, context)
  append(request.warnings, (await walked(request, () => strategy.warningsOnCreate?.(object, context))) ?? [])
}

function newMetaErrors(scope: ResourceScope, metadata: ObjectMeta): FieldError[] {
  const validateMeta = hasKubernetesMeta(scope) ? validateObjectMeta : validateAnyMeta
  return validateMeta(metadata, scope.namespaced, scope.strategy.nameRule ?? subdomainName)
}

/** Some groups, and what extensions define, know only the generic rules of metadata. */
const hasKubernetesMeta = ({ custom, resource }: ResourceScope): boolean =>
  !custom && !genericMetaGroups.has(resource.group)
const genericMetaGroups = new Set([
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'admissionregistration.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
])

export interface Updated {
  readonly result: WriteResult
  readonly created: boolean
}

export interface UpdateRequest {
  readonly dryRun: boolean
  /** PUT or apply to an absent name may create it. */
  readonly mayCreate: boolean
  /** The UID that the written object names, checked against the stored one before anything else. */
  readonly uid?: string | undefined
  /** The new object, made from the live one (undefined: to be created). Runs again when the revision moved. */
  readonly transform: (live: KubeObject | undefined) => Promise<KubeObject>
  readonly validating: Validating
  /** Permission to create, asked for when it comes to that. */
  readonly authorizeCreate?: (() => Promise<void>) | undefined
}

/** Read, change, compare-and-swap; again when somebody else was faster, unless the client named a version. */
export async function guaranteedUpdate(scope: ResourceScope, name: string, update: UpdateRequest): Promise<Updated> {
  for (let attempt = 1; ; attempt++) {
    const live = await readLive(scope, name)
    try {
      if (live === undefined) return await createOnUpdate(scope, name, update)
      return { result: await updateLive(scope, name, live, update), created: false }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      const moved = error.code === 'Conflict' || error.code === 'KeyNotFound' || error.code === 'KeyExists'
      if (!moved || attempt >= UPDATE_TRIES) throw statusFor(error, scope.resource, name)
    }
  }
}

async function createOnUpdate(scope: ResourceScope, name: string, update: UpdateRequest): Promise<Updated> {
  if (!update.mayCreate) throw notFound(scope.resource, name)
  if (update.uid) throw uidPreconditionFailed(scope, name, update, '')
  await update.authorizeCreate?.()
  const object = await update.transform(undefined)
  givenVersion(object)
  // there is no version to compare with: whatever it names is taken, and shown where nothing is written
  if (!update.dryRun) delete object.metadata.resourceVersion
  fillSystemFields(scope, object)
  const result = await allocating(scope, object, undefined, update, async () => {
    await beforeCreate(scope, object, update)
    return admitted(scope, update.validating, object, undefined, () => insert(scope, object, update))
  })
  return { result, created: true }
}

/** Times of managedFields alone are no change: strategies may have put back all that a write was to change. */
async function isUnchangedButTimes(scope: ResourceScope, object: KubeObject, live: Live): Promise<boolean> {
  const managedFields = sameButTimes(object.metadata.managedFields, live.object.metadata.managedFields)
  if (managedFields === undefined) return false
  const withOldTimes = { ...object, metadata: { ...object.metadata, managedFields } }
  return isUnchanged((await encode(scope, withOldTimes)).value, live)
}

async function updateLive(scope: ResourceScope, name: string, live: Live, update: UpdateRequest): Promise<WriteResult> {
  const old = live.object
  if (update.uid && update.uid !== old.metadata.uid)
    throw uidPreconditionFailed(scope, name, update, old.metadata.uid ?? '')
  const object = await update.transform(cloneJson(old))
  checkVersion(scope, name, object, old)
  return allocating(scope, object, old, update, () => replace(scope, object, live, update))
}

async function replace(
  scope: ResourceScope,
  object: KubeObject,
  live: Live,
  update: UpdateRequest,
): Promise<WriteResult> {
  const old = live.object
  await beforeUpdate(scope, object, old, update)
  return admitted(scope, update.validating, object, old, () => put(scope, object, live, update))
}

async function put(scope: ResourceScope, object: KubeObject, live: Live, update: UpdateRequest): Promise<WriteResult> {
  const old = live.object
  if (isWithoutFinalizers(scope, object, old))
    return { object: await removeEmptied(scope, object, live, update.dryRun) }
  const encoded = await encode(scope, object)
  const isNoChange = isUnchanged(encoded.value, live) || (await isUnchangedButTimes(scope, object, live))
  if (isNoChange && live.stored.isStale !== true) return { object: old }
  if (update.dryRun) return { object }
  const result = await commitUpdate(scope, encoded, live)
  if (scope.strategy.afterUpdate !== undefined && scope.subresource === '') await afterUpdate(scope, result.object, old)
  return result
}

async function afterUpdate(scope: ResourceScope, object: KubeObject, old: KubeObject): Promise<void> {
  try {
    await scope.strategy.afterUpdate?.(object, old, scope.strategyContext(false))
  } catch (error) {
    noteFault('renewal', error, scope.request)
  }
}

const uidPreconditionFailed = (scope: ResourceScope, name: string, { uid, dryRun }: UpdateRequest, found: string) =>
  conflict(
    scope.resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${referenceKey(scope, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`,
  )

/** The storage key as kube-apiserver names it in messages, behind `/registry`, which dry runs leave out. */
export function referenceKey(scope: ResourceScope, name: string): string {
  const { group, resource } = scope.resource
  const prefix =
    scope.custom || referenceKeyGroups.has(group)
      ? `${group}/${resource}`
      : (ownValue(referenceKeyNames, groupResourceText(scope.resource)) ?? resource)
  return `/${prefix}/${scope.namespaced ? `${scope.namespace}/` : ''}${name}`
}

const referenceKeyGroups = new Set(['apiregistration.k8s.io', 'apiextensions.k8s.io'])
/** Resources whose key is not their name. */
const referenceKeyNames: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  'ingresses.networking.k8s.io': 'ingress',
  'ingressclasses.networking.k8s.io': 'ingressclasses',
  'events.events.k8s.io': 'events',
}

/** The version in a written object is a precondition; without one the write is unconditional where that is allowed. */
function checkVersion(scope: ResourceScope, name: string, object: KubeObject, old: KubeObject): void {
  const given = givenVersion(object)
  if (given === 0n) {
    if (scope.strategy.allowUnconditionalUpdate === false)
      throw invalid({ group: scope.resource.group, kind: scope.resource.resource }, name, [
        { ...invalidValue(path('metadata', 'resourceVersion'), 0, 'must be specified for an update') },
      ])
  } else if (given !== BigInt(old.metadata.resourceVersion ?? '0'))
    throw conflict(scope.resource, name, OBJECT_HAS_CHANGED)
  object.metadata.resourceVersion = old.metadata.resourceVersion
}

/** The version that a written object names; 0 when it names none. @throws 500 for what is no version */
function givenVersion({ metadata: { resourceVersion: given = '' } }: KubeObject): bigint {
  if (given === '') return 0n
  const parsing = `strconv.ParseUint: parsing ${JSON.stringify(given)}`
  if (!/^\d+$/.test(given)) throw plainError(`${parsing}: invalid syntax`)
  const version = BigInt(given)
  if (version > 18446744073709551615n) throw plainError(`${parsing}: value out of range`)
  return version
}

async function beforeUpdate(
  scope: ResourceScope,
  object: KubeObject,
  old: KubeObject,
  { dryRun }: WriteMode,
): Promise<void> {
  const { strategy, subresource } = scope
  ensureNamespace(scope, object)
  const before = old.metadata
  object.metadata.generation = before.generation
  delete object.metadata.selfLink
  const update = subresource === '' ? strategy : ownValue(strategy.subresources, subresource)
  const context = scope.strategyContext(dryRun)
  if (subresource === '') keepStatus(scope, object, old)
  else if (subresource === 'status') keepAllButStatus(object, old)
  const { request } = scope
  const isOtherAsSent = strategy.countsDropped && !(await walked(request, () => sameSpec(scope, object, old)))
  await walked(request, () => dropDisabledFields(scope.storageType, asJson(object), asJson(old), context.enabled))
  await update?.prepareForUpdate?.(object, old, context)
  fillStruct(scope.storageType, asJson(object))
  // a strategy may have put back all of it
  const meta = object.metadata
  if (
    strategy.hasGeneration &&
    !strategy.generationStays &&
    (isOtherAsSent || !(await walked(request, () => sameSpec(scope, object, old))))
  )
    meta.generation = (before.generation ?? 0) + 1
  if (!meta.uid) meta.uid = before.uid
  meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined)
    meta.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  const errors = await walked(request, () => [
    ...validateAnyMeta(meta, scope.namespaced, pathSegmentName),
    ...validateObjectMetaUpdate(meta, before),
    // the strategies of kube-apiserver check this once more, so the error comes twice
    ...metaErrorsAgain(scope, update?.metadataOnUpdate ?? 'as change', meta, before),
  ])
  append(errors, (await walked(request, () => update?.validateUpdate?.(object, old, context))) ?? [])
  if (errors.length > 0) throw invalid(scope.storageKind, meta.name ?? '', errors)
  if (subresource === '') strategy.completeOnUpdate?.(object, context)
  append(request.warnings, (await walked(request, () => update?.warningsOnUpdate?.(object, old, context))) ?? [])
}

function metaErrorsAgain(scope: ResourceScope, how: MetadataCheck, meta: ObjectMeta, before: ObjectMeta): FieldError[] {
  switch (how) {
    case 'as change':
      return (hasKubernetesMeta(scope) ? validateKindMetaUpdate : validateObjectMetaUpdate)(meta, before)
    case 'as new':
      return newMetaErrors(scope, meta)
    case 'by strategy':
      return []
  }
}

function ensureNamespace(scope: ResourceScope, { metadata }: KubeObject): void {
  const expected = scope.namespaced ? scope.namespace : ''
  if (!metadata.namespace) {
    if (expected !== '') metadata.namespace = expected
  } else if (!scope.namespaced) {
    delete metadata.namespace
  } else if (metadata.namespace !== expected) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

function keepStatus(scope: ResourceScope, object: KubeObject, old: KubeObject): void {
  if (hasStatus(scope)) Object.assign(object, { status: (old as { status?: unknown }).status })
}

/** A write of the status leaves everything else but metadata as it was. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const target = object as unknown as Record<string, unknown>
  for (const field of Object.keys(target)) if (!statusWrites.has(field)) delete target[field]
  for (const [field, value] of Object.entries(old)) if (!statusWrites.has(field)) setOwn(target, field, value)
}

const statusWrites = new Set(['kind', 'apiVersion', 'metadata', 'status'])

const BESIDE_SPEC = new Set(['metadata', 'status'])

/** Whether everything but metadata and status is as it was. */
function sameSpec(scope: ResourceScope, object: KubeObject, old: KubeObject): boolean {
  // a custom resource without a status subresource may call anything `status`
  const ignored = scope.custom && !hasStatus(scope) ? { metadata: {} } : { metadata: {}, status: undefined }
  const bare = { ...object, ...ignored }
  const before = { ...old, ...ignored }
  return encodeSame(scope, bare, before) && !(scope.strategy.countsEmptied && hasEmptied(object, BESIDE_SPEC))
}

/** What is equal need not be encoded to be known so. */
const encodeSame = (scope: ResourceScope, a: KubeObject, b: KubeObject): boolean =>
  valuesEqual(asJson(a), asJson(b)) ||
  newValueOf(scope.storageType, a, {}).text === newValueOf(scope.storageType, b, {}).text
