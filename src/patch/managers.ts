/** The entries of metadata.managedFields as managers with the fields that each owns, and back. */
import { lazy } from '../base/lazy.ts'
import type { Json, JsonObject, ManagedFieldsEntry } from '../api/object.ts'
import { mapParts, PART } from '../base/parts.ts'
import { slicesByLength } from '../base/slices.ts'
import { compareText, valuesEqual, valuesEqualApart } from '../json/value-order.ts'
import { FieldSet } from './field-set.ts'

/** The fields of one manager, in the version that it wrote. */
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

/** Appliers have one entry for all versions; updaters have one for each version. */
export const managerKey = (owned: Pick<Owned, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string =>
  JSON.stringify({
    ...(owned.manager === '' ? {} : { manager: owned.manager }),
    operation: owned.operation,
    ...(owned.operation === 'Apply' ? {} : { apiVersion: owned.apiVersion }),
    ...(owned.subresource === '' ? {} : { subresource: owned.subresource }),
  })

/** In slices of few fields, or of one manager: others have their turn between two of them, and not after each manager. */
export const managerSlices = (managers: Managers): Iterable<readonly (readonly [key: string, owned: Owned])[]> =>
  slicesByLength([...managers], ([, { fields }]) => 1 + fields.size, PART)

export function decodeManagersOrNone(entries: unknown): Managers {
  try {
    return decodeManagers(entries)
  } catch {
    return new Map()
  }
}

/** The error of a list of entries; undefined where it is valid. */
export function managedFieldsProblem(entries: unknown): string | undefined {
  try {
    decodeManagers(entries)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** @throws Error where the list is invalid */
export function decodeManagers(entries: unknown): Managers {
  const managers = new Map<string, Owned>()
  if (!Array.isArray(entries)) return managers
  // the entries were decoded as ManagedFieldsEntry, whose strings may have any value
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

export const seconds = ({ time }: Owned): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000))

/** metadata writes times in whole seconds. */
export const timeText = (now: Date): string => `${now.toISOString().slice(0, 19)}Z`

/**
 * The old entries, where the new ones differ only in their times. A write that changes nothing else keeps the old
 * times, so that it makes no new version of the object.
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

/** Fields that no manager owns: the type, the identity, and the fields that the server writes. */
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
