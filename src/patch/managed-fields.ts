/**
 * metadata.managedFields: which manager owns which fields, and how a write changes that (apimachinery's
 * pkg/util/managedfields). `trackUpdate` handles plain writes: create, update, patches, status and other
 * subresources. apply.ts handles server-side apply.
 */
import { byteLength } from '../base/utf8.ts'
import { isJsonObject } from '../api/object.ts'
import type { KubeObject, ManagedFieldsEntry } from '../api/object.ts'
import { inParts, mapParts } from '../base/parts.ts'
import { atOnce } from '../base/slices.ts'
import type { Steps } from '../base/slices.ts'
import { isPrint } from '../base/unicode.ts'
import type { StructType } from '../schema/structural.ts'
import { compareText } from '../json/value-order.ts'
import { FieldSet, workOn } from './field-set.ts'
import { asWritten, checkingType, emptyObject } from './object-forms.ts'
import type { ResetFields } from './reset-fields.ts'
import { reconciled } from './fields-of-value.ts'
import type { Managers, Owned } from './managers.ts'
import {
  decodeManagersOrNone,
  encodeManagers,
  managerKey,
  managerSlices,
  neverOwned,
  seconds,
  timeText,
} from './managers.ts'
import type { ConvertVersion, Versions } from './object-versions.ts'
import { versionConverter, versionsOf, withoutManagedFields } from './object-versions.ts'

export interface Write {
  /** The type in the version of the request. */
  readonly type: StructType
  /** The object as it is stored, in the version of the request; undefined when it is created. */
  readonly live: KubeObject | undefined
  /**
   * The object in the version of the request, with defaults and with the managedFields that the client sent.
   * Admission has not changed it yet, and the strategy has not restored fields that may not change.
   */
  readonly object: KubeObject
  /** The fieldManager parameter, or `managerOfUserAgent`. */
  readonly manager: string
  /** The version of the request: `apps/v1`. */
  readonly apiVersion: string
  /** '' for the main resource. */
  readonly subresource: string
  readonly now: Date
  /** Fields that this write cannot change. */
  readonly resetFields?: ResetFields | undefined
  readonly convert?: ConvertVersion | undefined
  /** Called with the reason why ownership could not be computed. */
  failed(error: unknown): void
}

/**
 * The managedFields of the object after a plain write; undefined for none. Where ownership can't be computed the
 * write still succeeds, and the object loses its managedFields.
 */
export const trackUpdate = (write: Write): ManagedFieldsEntry[] | undefined => atOnce(tracking(write))

export function* tracking(write: Write): Steps<ManagedFieldsEntry[] | undefined> {
  const { live } = write
  const managers = yield* inParts(() => managersBefore(write))
  // an object without managedFields gets none until the first apply
  if (managers.size === 0 && live?.metadata.uid) return undefined
  try {
    const after = yield* stepsAfter(write, managers)
    return yield* inParts(() => encodeManagers(after))
  } catch (error) {
    write.failed(error)
    return undefined
  }
}

/** @throws Error where the objects are not of their type */
export function* stepsAfter(write: Omit<Write, 'failed'>, before: Managers): Steps<Managers> {
  const { type, apiVersion, live, object } = write
  const was = yield* inParts(() =>
    live === undefined ? emptyObject(type, apiVersion) : asWritten(type, withoutManagedFields(live)),
  )
  const is = yield* inParts(() => asWritten(type, withoutManagedFields(object)))
  yield* checkingType(type, [was, is])
  const versions = yield* inParts(() =>
    versionsOf(
      { type, apiVersion, value: was },
      { type, apiVersion, value: is },
      versionConverter(write.convert),
      write.resetFields,
    ),
  )
  return yield* cappedUpdaters(yield* updatedManagers(write, versions, before))
}

/** The manager of a request without a fieldManager parameter: its User-Agent up to the first slash. */
export function managerOfUserAgent(userAgent: string): string {
  let manager = ''
  let bytes = 0
  for (const character of userAgent.split('/', 1)[0]!) {
    if (!isPrint(character)) continue
    bytes += byteLength(character)
    if (bytes > MANAGER_MAX_BYTES) break
    manager += character
  }
  return manager
}

const MANAGER_MAX_BYTES = 128

/**
 * The managers that the client sent, where the list is there and readable, else those of the stored object. A write
 * to a subresource ignores the client's list. An empty list, or a list of one empty entry, removes all managers.
 */
function managersBefore({ live, object, subresource }: Write): Managers {
  const stored = () => decodeManagersOrNone(live?.metadata.managedFields)
  if (subresource !== '') return stored()
  const sent: unknown = object.metadata.managedFields
  if (isReset(sent)) return new Map()
  const managers = decodeManagersOrNone(sent)
  return managers.size === 0 ? stored() : managers
}

const isReset = (sent: unknown): boolean =>
  Array.isArray(sent) && (sent.length === 0 || (sent.length === 1 && isEmptyEntry(sent[0])))

const isEmptyEntry = (entry: unknown): boolean =>
  isJsonObject(entry) && Object.values(entry).every((value) => value === '' || value === null || value === undefined)

/**
 * Other managers lose the fields that this write changed or removed. Its own manager gets those that it added or
 * changed.
 */
function* updatedManagers(write: Omit<Write, 'failed'>, versions: Versions, before: Managers): Steps<Managers> {
  const { manager, apiVersion, subresource, now } = write
  const managers = yield* losing(yield* reconciledManagers(before, versions), versions, undefined)
  yield workOn([versions.own.gained])
  const gained = versions.own.gained.difference(neverOwned())
  if (gained.isEmpty) return managers
  const entry = { manager: manager || 'unknown', operation: 'Update' as const, apiVersion, subresource }
  const key = managerKey(entry)
  const previous = managers.get(key)?.fields ?? FieldSet.empty
  yield workOn([gained, previous])
  managers.set(key, { ...entry, time: timeText(now), fields: gained.union(previous) })
  return managers
}

/** Adapts the fields to the present type. Drops the entries of versions that the kind does not have. */
export function* reconciledManagers(managers: Managers, versions: Versions): Steps<Map<string, Owned>> {
  const result = new Map<string, Owned>()
  for (const slice of managerSlices(managers)) {
    const sets = yield* inParts(() =>
      mapParts(slice, ([, owned]) => {
        const pair = versions.in(owned.apiVersion)
        return pair && reconciled(pair.atom, owned.fields)
      }),
    )
    for (const [at, [key, owned]] of slice.entries()) {
      const fields = sets[at]
      if (fields !== undefined) result.set(key, { ...owned, fields })
    }
  }
  return result
}

/** @param except key of the writing manager, whose entry stays as it is */
export function* losing(managers: Managers, versions: Versions, except: string | undefined): Steps<Map<string, Owned>> {
  const result = new Map<string, Owned>()
  for (const slice of managerSlices(managers)) {
    const pairs = yield* inParts(() =>
      mapParts(slice, ([key, { apiVersion }]) => (key === except ? undefined : versions.in(apiVersion))),
    )
    yield workOn(slice.map(([, { fields }]) => fields))
    for (const [at, [key, owned]] of slice.entries()) {
      const pair = pairs[at]
      if (pair === undefined && key !== except) continue
      const fields = pair === undefined ? owned.fields : owned.fields.difference(pair.gained).difference(pair.removed)
      if (!fields.isEmpty) result.set(key, { ...owned, fields })
    }
  }
  return result
}

const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/**
 * Merges the oldest updaters of each version into one entry when there are too many. As in kube-apiserver, the entry
 * gets the time of the last one that was merged.
 */
function* cappedUpdaters(managers: Managers): Steps<Managers> {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  updaters.sort(([a, x], [b, y]) => seconds(x) - seconds(y) || compareText(a, b))
  const result = new Map(managers)
  const firstOfVersion = new Map<string, string>()
  const setsOf = new Map<string, FieldSet[]>()
  let count = updaters.length
  for (const [key, owned] of updaters) {
    if (count <= MAX_UPDATERS) break
    const { apiVersion } = owned
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, key)
      continue
    }
    const bucket = { manager: ANCIENT, operation: 'Update' as const, apiVersion, subresource: '' }
    const bucketKey = managerKey(bucket)
    const oldest = result.get(bucketKey) ?? result.get(first)
    const sets = setsOf.get(bucketKey) ?? (oldest === undefined ? [] : [oldest.fields])
    if (!result.has(bucketKey)) result.delete(first)
    sets.push(owned.fields)
    setsOf.set(bucketKey, sets)
    result.set(bucketKey, { ...bucket, time: owned.time, fields: FieldSet.empty })
    if (key !== bucketKey) result.delete(key)
    count--
  }
  for (const [key, sets] of setsOf) result.set(key, { ...result.get(key)!, fields: yield* FieldSet.unionOf(sets) })
  return result
}
