/**
 * metadata.managedFields: which manager owns which fields, and how a write changes that (apimachinery's
 * pkg/util/managedfields). `trackUpdate` is for plain writes: create, update, patches, status and other subresources;
 * server-side apply is in apply.ts.
 */
import { byteLength } from '../api/utf8.ts'
import { parseApiVersion } from '../api/group-version.ts'
import { lazy } from '../api/lazy.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject, ManagedFieldsEntry } from '../api/object.ts'
import { inParts, mapParts } from '../api/parts.ts'
import { atOnce } from '../api/slices.ts'
import type { Steps } from '../api/slices.ts'
import { isPrint } from '../api/unicode.ts'
import type { Atom } from '../schema/atom.ts'
import { atomOf } from '../schema/atom.ts'
import type { StructType } from '../schema/structural.ts'
import { compareText, valuesEqual, valuesEqualApart } from '../api/value-order.ts'
import { FieldSet } from './field-set.ts'
import { asWritten, checkingType, emptyObject, inNormalForm } from './object-forms.ts'
import type { ResetFields } from './reset-fields.ts'
import { checkType, compare, reconciled } from './typed.ts'

/** What one manager owns, in the version that it wrote. */
export interface Owned {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** RFC 3339, in seconds; absent where the manager has changed nothing yet. */
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** By `managerKey`. */
export type Managers = ReadonlyMap<string, Owned>

/** Appliers have one entry in whatever version they apply; updaters have one for each version. */
export const managerKey = (owned: Pick<Owned, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string =>
  JSON.stringify({
    ...(owned.manager === '' ? {} : { manager: owned.manager }),
    operation: owned.operation,
    ...(owned.operation === 'Apply' ? {} : { apiVersion: owned.apiVersion }),
    ...(owned.subresource === '' ? {} : { subresource: owned.subresource }),
  })

/**
 * An object in another version of its kind, and the type of that; undefined where there is no such version. The
 * object says which version it is in.
 */
export type ConvertVersion = (
  object: JsonObject,
  apiVersion: string,
) => { readonly type: StructType; readonly object: JsonObject } | undefined

export interface Write {
  /** Type of the version of the request. */
  readonly type: StructType
  /** The object as it is stored, in the version of the request; undefined when it is created. */
  readonly live: KubeObject | undefined
  /**
   * The object as the client wants it, in the version of the request, with defaults and with the managedFields that
   * the client sent: as it is before admission and before a strategy puts back what may not change.
   */
  readonly object: KubeObject
  /** The fieldManager parameter, or `managerOfUserAgent`. */
  readonly manager: string
  /** Of the request: `apps/v1`. */
  readonly apiVersion: string
  /** '' for the main resource. */
  readonly subresource: string
  readonly now: Date
  /** What this write can't change. */
  readonly resetFields?: ResetFields | undefined
  readonly convert?: ConvertVersion | undefined
  /** Told why ownership could not be worked out. */
  failed(error: unknown): void
}

/**
 * The managedFields of the object after a plain write; undefined for none.
 * Where ownership can't be worked out, nothing is owned any more: a write does not fail for that.
 */
export const trackUpdate = (write: Write): ManagedFieldsEntry[] | undefined => atOnce(tracking(write))

export function* tracking(write: Write): Steps<ManagedFieldsEntry[] | undefined> {
  const { live } = write
  const managers = yield* inParts(() => managersBefore(write))
  // an object that is not tracked stays so, until somebody applies
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
  return cappedUpdaters(yield* updatedManagers(write, versions, before))
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
 * Those that the client sent, if it did and they can be read, else those of the stored object. A subresource takes no
 * ownership from clients. One empty entry, or a list of none, forgets all.
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

export function decodeManagersOrNone(entries: unknown): Managers {
  try {
    return decodeManagers(entries)
  } catch {
    return new Map()
  }
}

/** What is wrong with a list; undefined for nothing. */
export function managedFieldsProblem(entries: unknown): string | undefined {
  try {
    decodeManagers(entries)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** @throws Error that says what is wrong with the list */
export function decodeManagers(entries: unknown): Managers {
  const managers = new Map<string, Owned>()
  if (!Array.isArray(entries)) return managers
  // entries have been decoded as ManagedFieldsEntry, whatever strings they hold
  for (const [at, entry] of (entries as (ManagedFieldsEntry | null)[]).entries()) {
    const { manager = '', operation, apiVersion, time, fieldsType, fieldsV1, subresource = '' } = entry ?? {}
    if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`')
    if (!apiVersion) throw new Error('apiVersion must not be empty')
    if (!fieldsType) throw new Error(`missing fieldsType in managed fields entry ${at}`)
    if (fieldsType !== 'FieldsV1')
      throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${at}`)
    const owned: Owned = {
      manager,
      operation,
      apiVersion,
      subresource,
      time: time || undefined,
      // FieldsV1 is JSON that no type describes
      fields: FieldSet.fromFieldsV1((fieldsV1 ?? {}) as Json),
    }
    managers.set(managerKey(owned), owned)
  }
  return managers
}

/** Appliers before updaters, then by time (none first), manager, version and subresource. */
export const encodeManagers = (managers: Managers): ManagedFieldsEntry[] | undefined =>
  encodeOwned([...managers.values()])

export function encodeOwned(owned: readonly Owned[]): ManagedFieldsEntry[] | undefined {
  if (owned.length === 0) return undefined
  return owned
    .toSorted(
      (a, b) =>
        compareText(a.operation, b.operation) ||
        seconds(a) - seconds(b) ||
        compareText(a.manager, b.manager) ||
        compareText(a.apiVersion, b.apiVersion) ||
        compareText(a.subresource, b.subresource),
    )
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      ...(manager === '' ? {} : { manager }),
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.toFieldsV1(),
      ...(subresource === '' ? {} : { subresource }),
    }))
}

const seconds = ({ time }: Owned): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000))

/** Times have seconds, as all of metadata. */
export const timeText = (now: Date): string => `${now.toISOString().slice(0, 19)}Z`

/**
 * The old entries, where the new ones differ from them in times alone. A write that changes nothing else must not
 * change these either: it would make a new version of the object.
 */
export function sameButTimes(
  entries: readonly ManagedFieldsEntry[] | undefined,
  old: readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  if (entries === undefined || old === undefined || entries.length !== old.length) return undefined
  const isSame = mapParts(entries, (entry, at) => {
    const { time: _, fieldsV1: fields, ...rest } = entry
    const { time: __, fieldsV1: fieldsBefore, ...before } = old[at]!
    // entries are JSON
    return (
      valuesEqual(rest as JsonObject, before as JsonObject) && valuesEqualApart(fields as Json, fieldsBefore as Json)
    )
  }).every((one) => one)
  return isSame && entries.some(({ time }, at) => time !== old[at]!.time) ? [...old] : undefined
}

/** A value of a version of its kind. */
export interface Versioned {
  readonly type: StructType
  readonly apiVersion: string
  readonly value: Json
}

/** A pair of objects in one version after the other, as the owners of the fields wrote them. */
export interface Versions {
  /** In the version of the request. */
  readonly own: VersionPair
  /** Undefined where the kind has no such version. */
  in(apiVersion: string): VersionPair | undefined
}

export interface VersionPair {
  readonly atom: Atom
  /** What was added or modified. */
  readonly gained: FieldSet
  readonly removed: FieldSet
}

/**
 * @param convert a value in another version; undefined where there is no such version
 * @throws TypeMismatch
 */
export function versionsOf(
  before: Versioned,
  after: Versioned,
  convert: (value: Versioned, apiVersion: string) => Versioned | undefined,
  resetFields: ResetFields | undefined,
): Versions {
  const own = pairOf(before, after, resetFields)
  const pairs = new Map<string, VersionPair | undefined>([[before.apiVersion, own]])
  return {
    own,
    in(version) {
      if (!pairs.has(version)) {
        const converted = convert(before, version)
        const convertedAfter = converted && convert(after, version)
        pairs.set(version, converted && convertedAfter && pairOf(converted, convertedAfter, resetFields))
      }
      return pairs.get(version)
    },
  }
}

function pairOf(before: Versioned, after: Versioned, resetFields: ResetFields | undefined): VersionPair {
  const atom = atomOf(before.type)
  const { added, modified, removed } = compare(atom, before.value, after.value)
  const filter = resetFields?.(before.apiVersion) ?? ((fields: FieldSet) => fields)
  return { atom, gained: filter(modified.union(added)), removed: filter(removed) }
}

/** The caller's conversion, of and into values as they are written. */
export const versionConverter =
  (convert: ConvertVersion | undefined) =>
  (versioned: Versioned, apiVersion: string): Versioned | undefined => {
    if (versioned.apiVersion === apiVersion) return versioned
    if (parseApiVersion(apiVersion) === undefined) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
    const converted = convert?.(inNormalForm(versioned.type, versioned.value), apiVersion)
    if (converted === undefined) return undefined
    const { type } = converted
    const value = asWritten(type, converted.object)
    // unlike in its own version, kube-apiserver takes no duplicates here
    checkType(atomOf(type), value, 'refused')
    return { type, apiVersion, value }
  }

export function withoutManagedFields(object: KubeObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata
  // an API object is JSON; its interface only names some of its members
  return { ...object, metadata } as unknown as JsonObject
}

/** The others lose what this write changed or removed; its manager gets what it added or changed. */
function* updatedManagers(write: Omit<Write, 'failed'>, versions: Versions, before: Managers): Steps<Managers> {
  const { manager, apiVersion, subresource, now } = write
  const managers = yield* losing(yield* reconciledManagers(before, versions), versions, undefined)
  yield
  const gained = versions.own.gained.difference(neverOwned())
  if (gained.isEmpty) return managers
  const entry = { manager: manager || 'unknown', operation: 'Update' as const, apiVersion, subresource }
  const key = managerKey(entry)
  const previous = managers.get(key)
  yield
  managers.set(key, {
    ...entry,
    time: timeText(now),
    fields: previous === undefined ? gained : gained.union(previous.fields),
  })
  return managers
}

/** Entries of versions that the kind does not have go. */
export function* reconciledManagers(managers: Managers, versions: Versions): Steps<Map<string, Owned>> {
  const result = new Map<string, Owned>()
  for (const [key, owned] of managers) {
    const fields = yield* inParts(() => {
      const pair = versions.in(owned.apiVersion)
      return pair && reconciled(pair.atom, owned.fields)
    })
    if (fields !== undefined) result.set(key, { ...owned, fields })
  }
  return result
}

/** @param except key of the manager that writes, whose entry stays as it is */
export function* losing(managers: Managers, versions: Versions, except: string | undefined): Steps<Map<string, Owned>> {
  const result = new Map<string, Owned>()
  for (const [key, owned] of managers) {
    if (key === except) {
      if (!owned.fields.isEmpty) result.set(key, owned)
      continue
    }
    const pair = versions.in(owned.apiVersion)
    if (pair === undefined) continue
    yield
    const fields = owned.fields.difference(pair.gained).difference(pair.removed)
    if (!fields.isEmpty) result.set(key, { ...owned, fields })
  }
  return result
}

/** Type and identity are nobody's, nor is what the server itself writes. */
export const neverOwned = lazy(() =>
  FieldSet.of(
    ['f:apiVersion'],
    ['f:kind'],
    ['f:metadata'],
    ...[
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ].map((name) => ['f:metadata', `f:${name}`]),
  ),
)

const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/**
 * Of too many updaters the oldest of each version are put together into one entry. As in kube-apiserver, the entry gets
 * the time of the last one that went into it.
 */
function cappedUpdaters(managers: Managers): Managers {
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
  for (const [key, sets] of setsOf) result.set(key, { ...result.get(key)!, fields: FieldSet.unionOf(sets) })
  return result
}
