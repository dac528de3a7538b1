/** An object before and after a write, in each version in which some manager owns fields of it. */
import { parseApiVersion } from '../api/group-version.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import type { Atom } from '../schema/atom.ts'
import { atomOf } from '../schema/atom.ts'
import type { StructType } from '../schema/structural.ts'
import { FieldSet } from './field-set.ts'
import { asWritten, inNormalForm } from './object-forms.ts'
import type { ResetFields } from './reset-fields.ts'
import { compare } from './compare.ts'
import { checkType } from './type-problems.ts'

/**
 * Converts an object to another version of its kind. Returns it with its type; undefined where there is no such
 * version. The object names its own version.
 */
export type ConvertVersion = (
  object: JsonObject,
  apiVersion: string,
) => { readonly type: StructType; readonly object: JsonObject } | undefined

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
  /** Added and modified fields. */
  readonly gained: FieldSet
  readonly removed: FieldSet
}

/**
 * @param convert converts a value to another version; undefined where there is no such version
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
