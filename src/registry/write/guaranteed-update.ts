/** Read, change, compare-and-swap (apiserver's GuaranteedUpdate and the Update of its generic registry's Store). */
import { goQuote } from '../../go/quote.ts'
import { cloneInParts } from '../../json/clone-json.ts'
import { invalidValue, path } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { OBJECT_HAS_CHANGED, conflict, invalid, notFound, plainError } from '../../api/status.ts'
import type { Live, WriteResult } from '../../codec/stored-object.ts'
import { sameButTimes } from '../../patch/managers.ts'
import { asReadBack } from '../converted.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { knownLive, readLive, referenceKey } from '../store.ts'
import type { FinalObject } from '../stored-form.ts'
import { changesContent, isUnchanged, removeUndeclared } from '../stored-form.ts'
import { admitted, allocating } from './allocate.ts'
import type { WriteMode } from './allocate.ts'
import { commitUpdate, encode } from './commit.ts'
import { fillSystemFields, insert } from './create-object.ts'
import { isWithoutFinalizers, removeEmptied } from './delete.ts'
import { beforeCreate, beforeUpdate } from './prepare.ts'
import { untilWritten } from './until-written.ts'
import { walked } from '../../request/turns.ts'
import { noteFault } from '../../request/fault.ts'

export interface Updated {
  readonly result: WriteResult
  readonly created: boolean
}

export interface UpdateRequest extends WriteMode {
  /** Whether a PUT or apply to an absent name may create the object. */
  readonly mayCreate: boolean
  /** The UID in the written object. It is compared with the stored UID before all other checks. */
  readonly uid?: string | undefined
  /** Makes the new object from the live one; undefined: the object is absent. Runs again on conflict. */
  readonly transform: (live: KubeObject | undefined) => Promise<KubeObject>
  /** The stored form of the object as the caller just read it. With it, the first attempt reads nothing. */
  readonly known?: KubeObject | undefined
  /** Whether the new object may have fields that its schema does not declare. They count as a change, but are not kept. */
  readonly mayHaveUndeclared?: boolean | undefined
  /** Checks the permission to create. It runs only if the object is absent. */
  readonly authorizeCreate?: (() => Promise<void>) | undefined
}

/** Reads, changes, and compares and swaps: again on conflict, unless the client named a resourceVersion. */
export const guaranteedUpdate = (scope: ResourceScope, name: string, update: UpdateRequest): Promise<Updated> =>
  untilWritten(scope, name, async (isFirst) => {
    const live = isFirst && update.known !== undefined ? knownLive(update.known) : await readLive(scope, name)
    if (live === undefined) return createOnUpdate(scope, name, update)
    return { result: await updateLive(scope, name, live, update), created: false }
  })

async function createOnUpdate(scope: ResourceScope, name: string, update: UpdateRequest): Promise<Updated> {
  if (!update.mayCreate) throw notFound(scope.resource.gvr, name)
  if (update.uid) throw uidPreconditionFailed(scope, name, update, '')
  await update.authorizeCreate?.()
  const object = await update.transform(undefined)
  givenVersion(object)
  // there is no version to compare with: the server accepts any version, and a dry run returns it
  if (!update.options.dryRun) delete object.metadata.resourceVersion
  fillSystemFields(scope, object)
  const result = await allocating(scope, object, undefined, update, async () => {
    await beforeCreate(scope, object, update)
    await leaveOutUndeclared(scope, object, update)
    return admitted(scope, update, object, undefined, (final) => insert(scope, object, update, final))
  })
  return { result, created: true }
}

/** Whether only times in managedFields differ, which is no change. A strategy may have restored every changed field. */
async function isUnchangedButTimes(scope: ResourceScope, object: KubeObject, live: Live): Promise<boolean> {
  const managedFields = await walked(scope.request, () =>
    sameButTimes(object.metadata.managedFields, live.object.metadata.managedFields),
  )
  if (managedFields === undefined) return false
  const withOldTimes = { ...object, metadata: { ...object.metadata, managedFields } }
  return isUnchanged((await encode(scope, withOldTimes)).value, live)
}

async function updateLive(scope: ResourceScope, name: string, live: Live, update: UpdateRequest): Promise<WriteResult> {
  const old = live.object
  if (update.uid && update.uid !== old.metadata.uid)
    throw uidPreconditionFailed(scope, name, update, old.metadata.uid ?? '')
  const object = await update.transform(await walked(scope.request, () => cloneInParts(old)))
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
  await leaveOutUndeclared(scope, object, update)
  return admitted(scope, update, object, old, (final) => put(scope, object, live, update, final))
}

/** kube-apiserver drops such fields when it reads the stored object, and so from the answer. */
async function leaveOutUndeclared(
  { request, resource: { storageType } }: ResourceScope,
  object: KubeObject,
  { mayHaveUndeclared }: UpdateRequest,
): Promise<void> {
  if (mayHaveUndeclared) await walked(request, () => removeUndeclared(storageType, object))
}

async function put(
  scope: ResourceScope,
  object: KubeObject,
  live: Live,
  update: UpdateRequest,
  final: FinalObject | undefined,
): Promise<WriteResult> {
  const old = live.object
  if (isWithoutFinalizers(scope, object, old)) return { object: await removeEmptied(scope, object, live, update) }
  const encoded = await encode(scope, object, final)
  const isNoChange =
    isUnchanged(encoded.value, live) ||
    // a walk over all managedFields, and another encoding of the object
    (!changesContent(encoded.value, live) && (await isUnchangedButTimes(scope, object, live)))
  if (isNoChange && live.stored.isStale !== true) return { object: old }
  if (update.options.dryRun) return { object: await asReadBack(scope, object) }
  const result = await commitUpdate(scope, encoded, live)
  if (scope.resource.strategy.afterUpdate !== undefined && scope.place.subresource === '')
    await afterUpdate(scope, result.object, old)
  return result
}

async function afterUpdate(scope: ResourceScope, object: KubeObject, old: KubeObject): Promise<void> {
  try {
    await scope.resource.strategy.afterUpdate?.(object, old, scope.strategyContext(false))
  } catch (error) {
    noteFault('renewal', error, scope.request)
  }
}

const uidPreconditionFailed = (scope: ResourceScope, name: string, { uid, options }: UpdateRequest, found: string) =>
  conflict(
    scope.resource.gvr,
    name,
    `StorageError: invalid object, Code: 4, Key: ${options.dryRun ? '' : '/registry'}${referenceKey(scope, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`,
  )

/**
 * The resourceVersion in a written object is a precondition. Without one the write is unconditional, if the kind allows
 * it.
 */
function checkVersion(scope: ResourceScope, name: string, object: KubeObject, old: KubeObject): void {
  const given = givenVersion(object)
  if (given === 0n) {
    if (scope.resource.strategy.allowUnconditionalUpdate === false)
      throw invalid({ group: scope.resource.gvr.group, kind: scope.resource.gvr.resource }, name, [
        { ...invalidValue(path('metadata', 'resourceVersion'), 0, 'must be specified for an update') },
      ])
  } else if (given !== BigInt(old.metadata.resourceVersion ?? '0'))
    throw conflict(scope.resource.gvr, name, OBJECT_HAS_CHANGED)
  object.metadata.resourceVersion = old.metadata.resourceVersion
}

/** The resourceVersion in a written object; 0 if it has none. @throws 500 for text that is no version */
function givenVersion({ metadata: { resourceVersion: given = '' } }: KubeObject): bigint {
  if (given === '') return 0n
  const parsing = `strconv.ParseUint: parsing ${goQuote(given)}`
  if (!/^\d+$/.test(given)) throw plainError(`${parsing}: invalid syntax`)
  const version = BigInt(given)
  if (version > 18446744073709551615n) throw plainError(`${parsing}: value out of range`)
  return version
}
