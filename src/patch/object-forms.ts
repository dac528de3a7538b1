/**
 * The forms of an object for patches and for field ownership. kube-apiserver writes a Go struct as JSON before it
 * patches it, and reads the JSON into a struct again. It takes unstructured objects as they are.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import { apiVersionOf } from '../api/group-version.ts'
import type { JsonTree } from '../json/json.ts'
import { isJsonObject } from '../api/object.ts'
import type { Json, JsonObject, KubeObject } from '../api/object.ts'
import { inParts, kept } from '../base/parts.ts'
import type { Steps } from '../base/slices.ts'
import { withFields } from '../schema/emptied.ts'
import { coerceMerged } from '../codec/decode/decode-custom.ts'
import { canonical } from '../codec/encode/encode.ts'
import type { Decoded } from '../codec/decode/decoded.ts'
import { atomOf } from '../schema/atom.ts'
import type { HeldAs, StructType } from '../schema/structural.ts'
import { fromUnstructured } from './from-unstructured.ts'
import { copyOf } from './json-document.ts'
import { checkType } from './type-problems.ts'

interface ObjectForms {
  written(type: StructType, object: JsonObject): JsonObject
  normal(type: StructType, value: Json): JsonObject
  checking(type: StructType, objects: readonly Json[]): Steps<void>
  keepEmptyManagedFields(sent: JsonTree, object: KubeObject): void
  merged(type: StructType, kind: GroupVersionKind, value: JsonObject, decoding: Decoding): JsonObject
}

/** How the caller decodes an object of the kind and sets its defaults. */
export interface Decoding {
  decode(tree: JsonTree): Decoded
  applyDefaults(object: JsonObject): void
}

const typed: ObjectForms = {
  written: (type, object) => canonical(type, object, { keepEmpty: true }),
  normal: (type, value) => fromUnstructured(type, value).object,
  *checking() {
    // decoding has already checked objects of built-in types
  },
  keepEmptyManagedFields(sent, object) {
    const metadata = isJsonObject(sent) ? sent['metadata'] : undefined
    const managedFields = isJsonObject(metadata) ? metadata['managedFields'] : undefined
    if (Array.isArray(managedFields) && managedFields.length === 0) object.metadata.managedFields = []
  },
  merged(type, kind, value, decoding) {
    const { object } = fromUnstructured(type, value as JsonTree)
    decoding.applyDefaults(object)
    return withKind(object, kind)
  },
}

const unstructured: ObjectForms = {
  written: (_type, object) => object,
  // the root of a tracked object is always an object
  normal: (_type, value) => value as JsonObject,
  *checking(type, objects) {
    for (const object of objects) yield* inParts(() => checkType(atomOf(type), object, 'allowed'))
  },
  keepEmptyManagedFields() {},
  /**
   * Unlike a decoded body, the merged object keeps its nulls, so that validation refuses them. Nulls in the metadata
   * are dropped. An applied field that is not declared was refused, except below one that preserves unknown fields. The
   * write leaves it out at its end.
   */
  merged(type, _kind, value, decoding) {
    const decoded = kept(value, () => copyOf(value as JsonTree))
    const read = decoding.decode(decoded)
    read.check?.()
    const { metadata } = read.object
    const copy = kept(value, () => copyOf(value as JsonTree) as JsonObject)
    const object = kept(value, () => ({ ...copy, metadata }))
    coerceMerged(type, object)
    decoding.applyDefaults(object)
    return object
  },
}

const forms = { typed, unstructured } satisfies Record<HeldAs, ObjectForms>

/**
 * The JSON form of an object that field ownership and patches use. A Go struct has its inner structs that are no
 * pointers, even where they are not set, and null for lists and maps that are always written.
 */
export const asWritten = (type: StructType, object: JsonObject): JsonObject => forms[type.heldAs].written(type, object)

/** The object before a create, for comparisons: the zero value of a Go type, an empty object for custom resources. */
export const emptyObject = (type: StructType, apiVersion: string): Json =>
  asWritten(type, { apiVersion, kind: type.gvk?.kind ?? '' })

/**
 * Brings an object from its JSON form to its normal form.
 * @throws DecodeError
 */
export const inNormalForm = (type: StructType, value: Json): JsonObject => forms[type.heldAs].normal(type, value)

/**
 * Checks objects in their JSON form before ownership is computed.
 * @throws TypeMismatch
 */
export const checkingType = (type: StructType, objects: readonly Json[]): Steps<void> =>
  forms[type.heldAs].checking(type, objects)

/**
 * Restores an empty list of managedFields, which decoding loses: an empty list removes all managers, an absent one
 * does not. Custom resources lose it in kube-apiserver too.
 * @param sent the tree from which the object was decoded
 */
export const keepEmptyManagedFields = (type: StructType, sent: JsonTree, object: KubeObject): void =>
  forms[type.heldAs].keepEmptyManagedFields(sent, object)

/**
 * Makes the result of a merge an object with defaults.
 * @throws DecodeError
 */
export const mergedObject = (
  type: StructType,
  kind: GroupVersionKind,
  value: JsonObject,
  decoding: Decoding,
): JsonObject => forms[type.heldAs].merged(type, kind, value, decoding)

/** Sets the endpoint's kind, which a patch may have changed. */
export const withKind = (object: JsonObject, kind: GroupVersionKind): JsonObject =>
  withFields(object, { kind: kind.kind, apiVersion: apiVersionOf(kind) })
