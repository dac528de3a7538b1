/**
 * DELETE: preconditions, grace period, finalizers, and work for the garbage collector (apiserver's
 * registry/generic/registry Store.Delete and registry/rest BeforeDelete).
 */
import { durationOf } from '../../go/duration.ts'
import { nextInt64 } from '../../go/int.ts'
import { cloneInParts } from '../../json/clone-json.ts'
import { walked } from '../../request/turns.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError, conflict, forbidden, notFound } from '../../api/status.ts'
import { keyOf } from '../resource-scope.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { StorageError } from '../../storage/errors.ts'
import { statusFor } from '../../storage/storage-status.ts'
import type { StoredValue } from '../../storage/storage.ts'
import type { DeleteOptions } from '../../request/options.ts'
import type { Live } from '../../codec/stored-object.ts'
import { newValueOf } from '../stored-form.ts'
import { timeText } from '../../schema/time.ts'
import { asksToRead } from '../converted.ts'
import { knownLive, readLive, readStored } from '../store.ts'
import type { Admission } from './admission.ts'
import type { WriteMode } from './allocate.ts'
import { undoing } from './undo.ts'
import { commitDelete, commitUpdate, encode } from './commit.ts'
import { untilWritten } from './until-written.ts'

const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

export interface Deleted {
  readonly object: KubeObject
  /**
   * True if storage has removed the object. False if it waits for finalizers, its grace period or the garbage
   * collector.
   */
  readonly gone: boolean
}

interface DeleteCall {
  readonly namespace?: string
  /** The object as the caller just read it; the compare-and-swap finds later changes. */
  readonly known?: KubeObject
  /** In the same way, as it is stored. */
  readonly stored?: StoredValue
  /** The DELETE is that of a collection. */
  readonly ofCollection?: boolean
}

export async function deleteObject(
  scope: ResourceScope,
  name: string,
  options: DeleteOptions,
  admission: Admission,
  { namespace = scope.place.namespace, known, stored, ofCollection = false }: DeleteCall = {},
): Promise<Deleted> {
  const kept = ofCollection ? undefined : scope.resource.strategy.keepsName?.(name)
  if (kept !== undefined) throw forbidden(scope.resource.gvr, name, kept)
  const read = (isFirst: boolean): Live | Promise<Live | undefined> => {
    if (isFirst && known !== undefined) return knownLive(known)
    return isFirst && stored !== undefined ? readStored(scope, stored) : readLive(scope, name, namespace)
  }
  return untilWritten(scope, name, async (isFirst) => {
    const live = await read(isFirst)
    if (live === undefined) throw notFound(scope.resource.gvr, name)
    return deleteLive(scope, live, options, admission, ofCollection)
  })
}

/** Objects of a DELETE of many that are read in one call. */
const READ_TOGETHER = 64

/**
 * Deletes one object after the other, as kube-apiserver's DELETE of a collection does. The first refusal ends it. Reads
 * some objects in one call; the compare-and-swap finds later changes.
 * @param objects those with a uid only if the name still has it
 * @param goOn is called before each deletion, and ends them where it throws
 */
export async function deleteEach(
  scope: ResourceScope,
  objects: readonly { readonly name: string; readonly uid?: string | undefined }[],
  options: DeleteOptions,
  admission: Admission,
  goOn = (): void => {},
): Promise<void> {
  for (let at = 0; at < objects.length; at += READ_TOGETHER) {
    const targets = new Map(
      objects.slice(at, at + READ_TOGETHER).map((target) => [keyOf(scope, target.name), target] as const),
    )
    // another client may have deleted the others meanwhile
    for await (const [key, stored] of readEach(scope, [...targets.keys()])) {
      const { name, uid } = targets.get(key)!
      goOn()
      try {
        if (uid === undefined) await deleteObject(scope, name, options, admission, { stored, ofCollection: true })
        else await deleteObject(scope, name, { ...options, preconditions: { uid } }, admission, { stored })
      } catch (error) {
        if (!(error instanceof StatusError) || error.code !== 404) throw error
      }
    }
  }
}

async function* readEach(
  { storage, collection, resource: { gvr } }: ResourceScope,
  keys: readonly string[],
): AsyncGenerator<readonly [key: string, stored: StoredValue]> {
  try {
    yield* storage.several(collection, keys)
  } catch (error) {
    throw error instanceof StorageError ? statusFor(error, gvr, '') : error
  }
}

async function deleteLive(
  scope: ResourceScope,
  live: Live,
  options: DeleteOptions,
  admission: Admission,
  ofCollection: boolean,
): Promise<Deleted> {
  const dryRun = (options.dryRun ?? []).length > 0
  checkPreconditions(scope, live.object, options)
  const grace = graceOf(scope, live.object, options)
  if (grace === 'pending' || isTerminating(scope, live.object)) return { object: live.object, gone: false }
  const admitted = { ...(ofCollection ? options : filledOptions(scope, live.object, options, grace)), dryRun }
  await admission.mutate(scope, 'DELETE', admitted, { oldObject: live.object })
  const undo = await admission.validate(scope, 'DELETE', admitted, { oldObject: live.object })
  const work = () => markOrRemove(scope, live, options, grace, { options: admitted, admission })
  return undo ? undoing(scope.request, work, undo) : work()
}

async function markOrRemove(
  scope: ResourceScope,
  live: Live,
  options: DeleteOptions,
  grace: Grace | undefined,
  mode: WriteMode,
): Promise<Deleted> {
  const { dryRun } = mode.options
  const object = await walked(scope.request, () => cloneInParts(live.object))
  if (scope.resource.strategy.markFirst?.(object, scope.strategyContext(dryRun)))
    return { object: dryRun ? object : (await writeIfChanged(scope, object, live)).object, gone: false }
  const { metadata } = object
  const finalizers = finalizersFor(scope, object, options)
  const finalizersChange = JSON.stringify(finalizers) !== JSON.stringify(metadata.finalizers ?? [])
  if (finalizersChange) {
    if (finalizers.length > 0) metadata.finalizers = finalizers
    else delete metadata.finalizers
  }
  const stays = finalizers.length > 0 || !(scope.resource.strategy.readyToGo?.(object) ?? true)
  if (grace !== undefined || stays || finalizersChange) {
    if (grace !== undefined) markUntil(object, grace)
    else if (stays) markNow(scope, object)
    await scope.resource.strategy.prepareForDelete?.(object, scope.strategyContext(dryRun))
    const gone = !stays && (metadata.deletionGracePeriodSeconds ?? 0) === 0
    if (dryRun) return { object, gone }
    const marked = await writeIfChanged(scope, object, live)
    if (gone) return remove(scope, marked, mode)
    return { object: marked === live ? live.object : await servedForm(scope, marked), gone: false }
  }
  await scope.resource.strategy.prepareForDelete?.(object, scope.strategyContext(dryRun))
  if (dryRun) return { object, gone: true }
  return remove(scope, live, mode)
}

/** Whether the object is a namespace that is being deleted and has finalizers in its spec: a DELETE changes nothing. */
const isTerminating = ({ resource: { strategy } }: ResourceScope, object: KubeObject): boolean =>
  strategy.marksOnDelete === true &&
  object.metadata.deletionTimestamp !== undefined &&
  strategy.readyToGo?.(object) === false

/** kube-apiserver's storage of namespaces and of definitions has its own DELETE, with its own messages. */
const hasOwnDelete = ({ resource: { strategy } }: ResourceScope): boolean =>
  strategy.marksOnDelete === true || strategy.markFirst !== undefined

function checkPreconditions(scope: ResourceScope, { metadata }: KubeObject, { preconditions }: DeleteOptions): void {
  const isOwn = hasOwnDelete(scope)
  const { gvr, storageKind } = scope.resource
  const check = (
    what: 'UID' | 'ResourceVersion',
    given: string | undefined,
    found: string | undefined,
    why: string,
  ) => {
    if (given === undefined || given === found) return
    const resource = isOwn ? gvr : { group: storageKind.group, resource: storageKind.kind }
    const failed = isOwn
      ? `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${found}`
      : `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). ${why}`
    throw conflict(resource, metadata.name ?? '', failed)
  }
  check('UID', preconditions?.uid, metadata.uid, 'The object might have been deleted and then recreated')
  check(
    'ResourceVersion',
    preconditions?.resourceVersion,
    metadata.resourceVersion,
    'The object might have been modified',
  )
}

/**
 * The options as admission sees them. kube-apiserver's storage fills them before it asks. In the DELETE of a collection it
 * fills copies, which admission does not see.
 */
function filledOptions(
  scope: ResourceScope,
  { metadata }: KubeObject,
  options: DeleteOptions,
  grace: Grace | undefined,
): DeleteOptions {
  const isFirst = metadata.deletionTimestamp === undefined
  const { gracePeriodSeconds: asked, preconditions = {} } = options
  if (hasOwnDelete(scope)) return { ...options, preconditions: { uid: metadata.uid!, ...preconditions } }
  if (isFirst && grace !== undefined) return { ...options, gracePeriodSeconds: grace.seconds }
  return asked !== undefined && asked < 0 ? { ...options, gracePeriodSeconds: 1 } : options
}

/** The finalizers of the object, after the propagation policy has added or removed its own. */
function finalizersFor(scope: ResourceScope, { metadata }: KubeObject, options: DeleteOptions): string[] {
  const present = metadata.finalizers ?? []
  if (scope.resource.strategy.ignoresCollector) return [...present]
  const policy = policyOf(scope, metadata.finalizers ?? [], options)
  const others = present.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN)
  const own = policy === 'Foreground' ? FOREGROUND : policy === 'Orphan' ? ORPHAN : undefined
  if (own === undefined) return others
  return present.includes(own)
    ? present.filter((f) => f === own || (f !== FOREGROUND && f !== ORPHAN))
    : [...others, own]
}

function policyOf(scope: ResourceScope, finalizers: readonly string[], options: DeleteOptions): string {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background'
  if (options.propagationPolicy !== undefined) return options.propagationPolicy
  if (finalizers.includes(ORPHAN)) return 'Orphan'
  if (finalizers.includes(FOREGROUND)) return 'Foreground'
  return scope.resource.strategy.defaultPropagation ?? 'Background'
}

interface Grace {
  readonly seconds: number | bigint
  readonly until: Date
}

/**
 * The grace period that this DELETE gives the object, if its kind has one. A second DELETE can only shorten it. If it
 * does not, the first one is pending and nothing changes.
 */
function graceOf(
  { request, resource: { strategy } }: ResourceScope,
  object: KubeObject,
  { gracePeriodSeconds }: DeleteOptions,
): Grace | 'pending' | undefined {
  const asked = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds
  const { deletionTimestamp, deletionGracePeriodSeconds: current } = object.metadata
  const now = request.now.getTime()
  if (deletionTimestamp === undefined) {
    const seconds = strategy.gracePeriod?.(object, asked)
    return seconds === undefined ? undefined : { seconds, until: new Date(now + durationOf(seconds)) }
  }
  if (strategy.gracePeriod === undefined || current === undefined || current === 0) return undefined
  if (asked === undefined || asked >= current) return 'pending'
  const until = Date.parse(deletionTimestamp) - durationOf(current) + durationOf(asked)
  if (until >= now) return { seconds: asked, until: new Date(until) }
  // the grace period has ended; a client that watches the object still sees its deletionTimestamp first
  return { seconds: asked === 0 ? 0 : 1, until: request.now }
}

function markUntil({ metadata }: KubeObject, { seconds, until }: Grace): void {
  countMark(metadata)
  metadata.deletionTimestamp = timeText(until)
  metadata.deletionGracePeriodSeconds = seconds
}

/** Marks an object that waits for finalizers or a controller, but not for a grace period. */
function markNow({ request, resource: { strategy } }: ResourceScope, { metadata }: KubeObject): void {
  countMark(metadata)
  const { deletionTimestamp } = metadata
  if (deletionTimestamp === undefined || Date.parse(deletionTimestamp) > request.now.getTime())
    metadata.deletionTimestamp = timeText(request.now)
  if (!strategy.marksOnDelete) metadata.deletionGracePeriodSeconds = 0
}

/** The first mark raises the generation. */
function countMark(metadata: KubeObject['metadata']): void {
  const { deletionTimestamp, generation = 0 } = metadata
  if (deletionTimestamp === undefined && generation > 0) metadata.generation = nextInt64(generation)
}

async function writeIfChanged(scope: ResourceScope, object: KubeObject, live: Live): Promise<Live> {
  const { request, resource } = scope
  const textOf = (one: KubeObject) =>
    walked(request, () => newValueOf(resource.storageType, one, resource.strategy).text)
  if ((await textOf(object)) === (await textOf(live.object))) return live
  return commitUpdate(scope, await encode(scope, object), live)
}

async function remove(scope: ResourceScope, live: Live, { admission }: WriteMode): Promise<Deleted> {
  const last = await commitDelete(scope, live)
  await scope.resource.strategy.afterDelete?.(live.object, { ...scope.strategyContext(false), admission })
  return { object: await servedForm(scope, last), gone: true }
}

/** What the answer encodes of a stored object. It converts by itself, unless that asks a webhook. */
async function servedForm(scope: ResourceScope, { object }: Live): Promise<KubeObject> {
  if (!asksToRead(scope)) return object
  const [served] = await scope.resource.converter!.toServed([object], 'stored')
  return served!
}

/** Whether this write removes the last finalizer or grace period that kept the object. */
export function isWithoutFinalizers(scope: ResourceScope, object: KubeObject, old: KubeObject): boolean {
  if (old.metadata.deletionTimestamp === undefined || (object.metadata.finalizers ?? []).length > 0) return false
  if ((object.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false
  if (!(scope.resource.strategy.readyToGo?.(object) ?? true)) return false
  return (old.metadata.finalizers ?? []).length > 0 || !(scope.resource.strategy.readyToGo?.(old) ?? true)
}

/**
 * A write that removes the last finalizer removes the object instead. Watches get DELETED with the state before the
 * write. The client gets the object that it wrote, with the version that it had.
 */
export async function removeEmptied(
  scope: ResourceScope,
  object: KubeObject,
  live: Live,
  mode: WriteMode,
): Promise<KubeObject> {
  if (!mode.options.dryRun) await remove(scope, live, mode)
  return object
}
