/**
 * Whether a line of a backup is an object that this server could have stored there. Another one might lie where no
 * request finds it, have a version that the clock never reaches, or stop its readers.
 */
import { parseApiVersion } from '../../api/group-version.ts'
import { ownValue } from '../../base/own.ts'
import { isJsonObject } from '../../api/object.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { DecodeError } from '../../codec/decode/decode-problems.ts'
import { decodeTyped } from '../../codec/decode/decode-typed.ts'
import { decodeUnstructured } from '../../codec/decode/decode-untyped.ts'
import type { JsonTree } from '../../json/json.ts'
import { parseJson } from '../../json/parse-json.ts'
import { JsonSyntaxError } from '../../json/scanner.ts'
import type { HeldAs, StructType } from '../../schema/structural.ts'
import type { Revision } from '../../storage/storage.ts'
import { dns1123Label, pathSegmentName } from '../../validation/names.ts'

export interface Expected {
  readonly group: string
  /** The revision of the cut. */
  readonly revision: Revision
  /** What is known of the type; undefined where nothing serves it. */
  readonly type?: { readonly kind: string; readonly namespaced: boolean } | undefined
}

const isText = (value: Json | undefined): value is string => typeof value === 'string'
const isFilled = (value: Json | undefined): value is string => isText(value) && value !== ''
const isMapOfTexts = (value: Json): boolean => isJsonObject(value) && Object.values(value).every(isText)
const isListOf =
  (isOne: (value: Json) => boolean) =>
  (value: Json): boolean =>
    Array.isArray(value) && value.every(isOne)

/** Members of the metadata that may be absent. */
const forms: Readonly<Record<string, (value: Json) => boolean>> = {
  labels: isMapOfTexts,
  annotations: isMapOfTexts,
  finalizers: isListOf(isText),
  ownerReferences: isListOf((one) => isJsonObject(one) && isFilled(one['uid']) && isFilled(one['name'])),
  managedFields: isListOf(isJsonObject),
  creationTimestamp: isText,
  deletionTimestamp: isText,
}

/** A definition may have changed since its objects were stored, so these are compared with no schema. */
const readers = {
  typed: decodeTyped,
  unstructured: (_type, tree) => decodeUnstructured(tree),
} satisfies Record<HeldAs, (type: StructType, tree: JsonTree) => unknown>

/** Why it does not read as an object of its type; undefined for one that does. */
export function shapeProblemOf(text: string, type: StructType): string | undefined {
  try {
    readers[type.heldAs](type, parseJson(text))
    return undefined
  } catch (error) {
    // a line may nest deeper than any object
    if (error instanceof DecodeError || error instanceof JsonSyntaxError)
      return `does not read as one: ${error.message}`
    throw error
  }
}

/** What is wrong with the object; undefined for one that is as expected. */
export function problemOf(object: KubeObject, { group, revision, type }: Expected): string | undefined {
  // a line of JSON may say anything
  const { apiVersion, kind, metadata } = object as unknown as Readonly<Record<string, Json | undefined>>
  if (!isFilled(apiVersion) || parseApiVersion(apiVersion)?.group !== group)
    return 'has the apiVersion of another group'
  if (!isFilled(kind) || (type !== undefined && kind !== type.kind)) return 'is of another kind'
  if (!isJsonObject(metadata)) return 'has no metadata'
  const { name, namespace = '', uid, resourceVersion } = metadata
  if (!isFilled(name) || pathSegmentName(name, false).length > 0) return 'has no name, or one that no path can have'
  if (!isText(namespace) || (namespace !== '' && dns1123Label(namespace).length > 0)) return 'has an invalid namespace'
  if (type !== undefined && type.namespaced !== (namespace !== ''))
    return namespace === '' ? 'has no namespace' : 'has a namespace, although its type has none'
  if (!isFilled(uid)) return 'has no uid'
  if (!isText(resourceVersion) || !/^[1-9]\d{0,15}$/.test(resourceVersion)) return 'has no resourceVersion'
  if (!(Number(resourceVersion) <= revision)) return 'is newer than the backup'
  const wrong = Object.keys(forms).find((member) => {
    const value = ownValue(metadata, member)
    return value !== undefined && value !== null && forms[member]?.(value) === false
  })
  return wrong === undefined ? undefined : `has an invalid metadata.${wrong}`
}
