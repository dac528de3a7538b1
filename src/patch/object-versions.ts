/** An object before and after a write, in each version in which a manager owns some of its fields. */
import { parseApiVersion } from '../api/group-version.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import { StatusError, plainError } from '../api/status.ts'
import type { Atom } from '../schema/atom.ts'
import { atomOf } from '../schema/atom.ts'
import type { StructType } from '../schema/structural.ts'
import { FieldSet } from './field-set.ts'
import { asWritten, inNormalForm } from './object-forms.ts'
import type { ResetFields } from './reset-fields.ts'
import { compare } from './compare.ts'
import { TypeMismatch, checkType } from './type-problems.ts'

/**
 * Converts an object to the version that it names, and returns it with its type. Undefined where its kind has no such
 * version, whose managers then lose their fields.
 * @throws StatusError where the object cannot be converted, NeedsAnswer where a webhook has to convert it
 */
export type ConvertVersion = (
  object: JsonObject,
  apiVersion: string,
) => { readonly type: StructType; readonly object: JsonObject } | undefined

/** A value in one version of its kind. */
export interface Versioned {
  readonly type: StructType
  readonly apiVersion: string
  readonly value: Json
}

/** The objects before and after a write, in one version or another. Each pair is made on first use. */
export interface Versions {
  /** The pair in the version of the request. */
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
 * @param convert converts a value to another version; undefined where the kind has no such version
 * @param failed what an error says of the object, before why
 * @throws TypeMismatch, and from `in` a StatusError
 */
export function versionsOf(
  before: Versioned,
  after: Versioned,
  convert: Converter,
  resetFields: ResetFields | undefined,
  failed: { readonly before: string; readonly after: string } = NOTHING_SAID,
): Versions {
  const own = pairOf(before, after, resetFields)
  const pairs = new Map<string, VersionPair | undefined>([[before.apiVersion, own]])
  return {
    own,
    in(version) {
      if (!pairs.has(version)) {
        const converted = saying(failed.before, () => convert(before, version))
        const convertedAfter = converted && saying(failed.after, () => convert(after, version))
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

const NOTHING_SAID = { before: '', after: '' }

/** Puts a text before the reason why a conversion fails. */
export function saying<T>(prefix: string, convert: () => T): T {
  try {
    return convert()
  } catch (error) {
    if (prefix === '' || !(error instanceof TypeMismatch || error instanceof StatusError)) throw error
    throw plainError(`${prefix}: ${error.message}`)
  }
}

export type Converter = (value: Versioned, apiVersion: string) => Versioned | undefined

/** The caller's conversion, wrapped to take and return values in their JSON form. */
export function versionConverter(convert: ConvertVersion | undefined): Converter {
  /** The same object for the same value, by which the caller finds the answer of a webhook. */
  const forms = new WeakMap<object, JsonObject>()
  const formOf = ({ type, value }: Versioned): JsonObject => {
    const known = isJsonObject(value) ? forms.get(value) : undefined
    const form = known ?? inNormalForm(type, value)
    if (isJsonObject(value)) forms.set(value, form)
    return form
  }
  return (versioned, apiVersion) => {
    if (versioned.apiVersion === apiVersion) return versioned
    if (parseApiVersion(apiVersion) === undefined) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
    const converted = convert?.(formOf(versioned), apiVersion)
    if (converted === undefined) return undefined
    const { type } = converted
    const value = asWritten(type, converted.object)
    // kube-apiserver refuses duplicates in a converted object, but not in the version of the request
    checkType(atomOf(type), value, 'refused')
    return { type, apiVersion, value }
  }
}

export function withoutManagedFields(object: KubeObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata
  // an API object is JSON; its interface only names some of its members
  return { ...object, metadata } as unknown as JsonObject
}
