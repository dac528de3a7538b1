/**
 * metadata.managedFields: which manager owns which fields, and how a write changes that (apimachinery's
 * pkg/util/managedfields). `trackUpdate` is for plain writes: create, update, patches, status and other subresources;
 * server-side apply is in apply.ts.
 */
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject, ManagedFieldsEntry } from '../api/object.ts'
import type { Atom } from '../schema/atom.ts'
import { atomOf } from '../schema/atom.ts'
import { canonical } from '../schema/canonical.ts'
import type { StructType } from '../schema/structural.ts'
import { compareText } from '../schema/value-order.ts'
import { FieldSet } from './field-set.ts'
import type { ResetFields } from './reset-fields.ts'
import { checkType, compare, reconciled } from './typed.ts'
import type { Comparison } from './typed.ts'

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

/** An object of the version that its type describes. */
export interface Typed {
  readonly type: StructType
  readonly object: Json
}

/** The object in another version of its kind; undefined where there is no such version. */
export type ConvertVersion = (object: Json, apiVersion: string) => Typed | undefined

export interface Write {
  /** Type of the version of the request. */
  readonly type: StructType
  /** The object as it is stored, in the version of the request; undefined when it is created. */
  readonly live: KubeObject | undefined
  /** The object as it is to be stored, in the version of the request, with the managedFields that the client sent. */
  readonly object: KubeObject
  /** The fieldManager parameter, or `managerOfUserAgent`. */
  readonly manager: string
  /** Of the request: `apps/v1`. */
  readonly apiVersion: string
  /** '' for the main resource. */
  readonly subresource: string
  readonly now: Date
  /** What this write can't change (resetFieldsOf). */
  readonly resetFields?: ResetFields | undefined
  readonly convert?: ConvertVersion | undefined
}

/**
 * The managedFields of the object after a plain write; undefined for none.
 * Where ownership can't be worked out, nothing is owned any more: a write does not fail for that.
 */
export function trackUpdate(write: Write): ManagedFieldsEntry[] | undefined {
  const { live, object } = write
  const managers = managersBefore(write)
  // an object that is not tracked stays so, until somebody applies
  if (managers.size === 0 && live?.metadata.uid) return undefined
  try {
    const versions = versionsOf({ ...write, live: live ?? emptyObject(write.type, write.apiVersion) }, object)
    return encodeManagers(cappedUpdaters(updatedManagers(write, versions, managers)))
  } catch {
    return undefined
  }
}

/** The manager of a request without a fieldManager parameter: its User-Agent up to the first slash. */
export function managerOfUserAgent(userAgent: string): string {
  let manager = ''
  let bytes = 0
  for (const character of userAgent.split('/', 1)[0]!) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) continue
    bytes += new TextEncoder().encode(character).length
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
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  return [...managers.values()]
    .sort(
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

/** What an object is compared with that did not exist: the zero value of its Go type, or nothing for custom ones. */
export const emptyObject = (type: StructType, apiVersion: string): KubeObject =>
  // the zero value has metadata, as every kind that is stored has
  canonical(type, { apiVersion, kind: type.gvk?.kind ?? '', metadata: {} }) as unknown as KubeObject

/** A pair of objects in one version after the other, as the owners of the fields wrote them. */
export interface Versions {
  /** In the version of the request. */
  readonly own: VersionPair
  /** Undefined where the kind has no such version. */
  in(apiVersion: string): VersionPair | undefined
}

export interface VersionPair {
  readonly atom: Atom
  readonly before: Json
  readonly after: Json
  readonly comparison: Comparison
}

type VersionFacts = Pick<Write, 'type' | 'apiVersion' | 'resetFields' | 'convert'> & { readonly live: KubeObject }

export function versionsOf(facts: VersionFacts, after: KubeObject): Versions {
  const { type, apiVersion, live, convert } = facts
  const own = pairOf(type, withoutManagedFields(live), withoutManagedFields(after), apiVersion, facts.resetFields)
  const pairs = new Map<string, VersionPair | undefined>([[apiVersion, own]])
  return {
    own,
    in(version) {
      if (!pairs.has(version)) {
        const before = convert?.(own.before, version)
        const converted = before && convert?.(own.after, version)
        pairs.set(
          version,
          before && converted && pairOf(before.type, before.object, converted.object, version, facts.resetFields),
        )
      }
      return pairs.get(version)
    },
  }
}

function pairOf(
  type: StructType,
  live: Json,
  object: Json,
  apiVersion: string,
  resetFields: ResetFields | undefined,
): VersionPair {
  const atom = atomOf(type)
  const [before, after] = [canonical(type, live), canonical(type, object)]
  checkType(atom, before, 'allowed')
  checkType(atom, after, 'allowed')
  return { atom, before, after, comparison: filtered(compare(atom, before, after), resetFields?.(apiVersion)) }
}

function filtered(comparison: Comparison, filter: ((fields: FieldSet) => FieldSet) | undefined): Comparison {
  if (filter === undefined) return comparison
  const { added, modified, removed } = comparison
  return { added: filter(added), modified: filter(modified), removed: filter(removed) }
}

export function withoutManagedFields(object: KubeObject): Json {
  const { managedFields: _, ...metadata } = object.metadata
  // an API object is JSON; its interface only names some of its members
  return { ...object, metadata } as unknown as JsonObject
}

/** The others lose what this write changed or removed; its manager gets what it added or changed. */
function updatedManagers(write: Write, versions: Versions, before: Managers): Managers {
  const { manager, apiVersion, subresource, now, resetFields } = write
  const managers = losing(reconciledManagers(before, versions), versions, undefined)
  const { added, modified } = versions.own.comparison
  const filter = resetFields?.(apiVersion)
  let gained = modified.union(added)
  if (filter !== undefined) gained = filter(gained)
  gained = gained.difference(neverOwned)
  if (gained.isEmpty) return managers
  const entry = { manager: manager || 'unknown', operation: 'Update' as const, apiVersion, subresource }
  const key = managerKey(entry)
  const previous = managers.get(key)
  managers.set(key, {
    ...entry,
    time: timeText(now),
    fields: previous === undefined ? gained : gained.union(previous.fields),
  })
  return managers
}

/** Entries of versions that the kind does not have go. */
export function reconciledManagers(managers: Managers, versions: Versions): Map<string, Owned> {
  const result = new Map<string, Owned>()
  for (const [key, owned] of managers) {
    const pair = versions.in(owned.apiVersion)
    if (pair !== undefined) result.set(key, { ...owned, fields: reconciled(pair.atom, owned.fields) })
  }
  return result
}

/** @param except key of the manager that writes, whose entry stays as it is */
export function losing(managers: Managers, versions: Versions, except: string | undefined): Map<string, Owned> {
  const result = new Map<string, Owned>()
  for (const [key, owned] of managers) {
    if (key === except) {
      if (!owned.fields.isEmpty) result.set(key, owned)
      continue
    }
    const pair = versions.in(owned.apiVersion)
    if (pair === undefined) continue
    const { added, modified, removed } = pair.comparison
    const fields = owned.fields.difference(owned.fields.intersection(modified.union(added))).difference(removed)
    if (!fields.isEmpty) result.set(key, { ...owned, fields })
  }
  return result
}

/** Type and identity are nobody's, nor is what the server itself writes. */
export const neverOwned: FieldSet = FieldSet.of(
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
)

const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/**
 * Of too many updaters the oldest of each version are put together into one entry. As in the reference, the entry gets
 * the time of the last one that went into it.
 */
function cappedUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  updaters.sort(([a, x], [b, y]) => seconds(x) - seconds(y) || compareText(a, b))
  const result = new Map(managers)
  const firstOfVersion = new Map<string, string>()
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
    let oldest = result.get(bucketKey)
    if (oldest === undefined) {
      oldest = result.get(first)!
      result.delete(first)
    }
    result.set(bucketKey, { ...bucket, time: owned.time, fields: owned.fields.union(oldest.fields) })
    result.delete(key)
    count--
  }
  return result
}
