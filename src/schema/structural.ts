/**
 * The one schema. A type of the Kubernetes API is one `Structural` value, whether it is built in (expanded lazily from
 * the generated table, see built-in.ts) or read from a CustomResourceDefinition (from-openapi.ts). Decoding, strict
 * checking, pruning, defaulting, server-side apply, strategic merge, OpenAPI, protobuf and CBOR all read this and
 * nothing else: a fact about a field written anywhere else is a bug.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import type { Json } from '../api/object.ts'

export type Structural = Leaf | Special | ListType | MapType | StructType | Untyped

/** Go's scalar types; `number` and `integer` are those of a CRD's schema, where no width is given. */
export type Scalar = 'string' | 'int32' | 'int64' | 'bool' | 'bytes' | 'double' | 'number' | 'integer'

export interface Leaf {
  readonly shape: 'leaf'
  readonly scalar: Scalar
  /** Go's name of the type in error texts, where it is not the scalar's own (`v1.PullPolicy`, `types.UID`). */
  readonly goType?: string
  readonly enum?: readonly Json[]
  /** Values that the documentation lists though they are no declared enum. Other values are not refused. */
  readonly knownValues?: readonly string[]
  readonly validation?: ValueValidation
}

/** Types whose JSON form is not an object of their fields. */
export type SpecialName =
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray'
  | 'unknown'

export interface Special {
  readonly shape: 'special'
  readonly special: SpecialName
  /** JSONSchemaProps, which the schemaOr… types hold. */
  readonly of?: () => StructType
  readonly validation?: ValueValidation
}

export interface ListType {
  readonly shape: 'list'
  readonly element: Structural
  /** x-kubernetes-list-type; a list without one is atomic. */
  readonly listType: 'atomic' | 'set' | 'map'
  /** The list type as declared, which OpenAPI publishes; absent where it is atomic for want of a declaration. */
  readonly declaredListType?: 'atomic' | 'set' | 'map'
  /** x-kubernetes-list-map-keys of a `map` list. */
  readonly keys: readonly string[]
  /** Strategic merge (built-in types only). */
  readonly patchStrategy: PatchStrategy
  readonly mergeKey?: string
  /** A Go type that is a list in JSON and a message with one repeated field in protobuf (ExtraValue, Verbs). */
  readonly wrapper?: string
  /** Go's name of the type in error texts, where it does not follow from the element's. */
  readonly goType?: string
  readonly validation?: ValueValidation
}

export interface MapType {
  readonly shape: 'map'
  readonly value: Structural
  readonly mapType: 'granular' | 'atomic'
  readonly declaredMapType?: 'granular' | 'atomic'
  readonly goType?: string
  readonly validation?: ValueValidation
}

/**
 * How kube-apiserver holds an object: in a Go struct, which a built-in type is, or as the JSON that it is, with a
 * schema beside it (unstructured.Unstructured). Each operation that differs has a table of both: codec/decode.ts,
 * codec/encode.ts, schema/defaulting.ts, patch/object-forms.ts, patch/decode-patched.ts, admission/made-object.ts.
 */
export type HeldAs = 'typed' | 'unstructured'

export interface StructType {
  readonly shape: 'struct'
  readonly heldAs: HeldAs
  /** OpenAPI model name (`io.k8s.api.core.v1.Pod`); empty for an anonymous object of a CRD. */
  readonly name: string
  readonly gvk?: GroupVersionKind
  /**
   * JSON carries kind and apiVersion, protobuf does not (they are in its envelope). They are no members of `fields`.
   */
  readonly typeMeta: boolean
  readonly mapType: 'granular' | 'atomic'
  /** In the order of the Go struct, inline members already flattened. Expanded on first use. */
  readonly fields: readonly Field[]
  field(name: string): Field | undefined
  /** Built-in types only: Go's name in error texts (`v1.Pod`), and what a protobuf message of it consists of. */
  readonly goType?: string
  /** Absent: the type has no protobuf form. */
  readonly message?: readonly MessageMember[]
  /** x-kubernetes-unions, as OpenAPI publishes them. */
  readonly unions?: Json
  /** CRD only: x-kubernetes-preserve-unknown-fields, x-kubernetes-embedded-resource, and the schema of other keys. */
  readonly preserveUnknownFields?: boolean
  readonly embeddedResource?: boolean
  /** CRD only: how many properties are declared; the fields with a default, and whether one of them or anything below has any. */
  readonly width?: number
  readonly defaulted?: readonly Field[]
  readonly hasDefaultsBelow?: boolean
  readonly validation?: ValueValidation
}

/** A field of the message, or the nested message of a struct that is inline in JSON; in the order of the Go struct. */
export type MessageMember = { readonly field: Field } | { readonly inline: StructType; readonly number: number }

/** A value of any JSON type; of a CRD: x-kubernetes-preserve-unknown-fields without properties. */
export interface Untyped {
  readonly shape: 'untyped'
  readonly validation?: ValueValidation
}

export interface PatchStrategy {
  readonly merge: boolean
  readonly replace: boolean
  readonly retainKeys: boolean
}

export interface Field {
  readonly name: string
  readonly type: Structural
  /**
   * When a JSON encoder leaves the field out: `empty` (absent, null, "", 0, false, no elements; a struct that is not a
   * pointer is never empty), `zero` (a zero struct too), `never` (null is written for an absent list, map or pointer).
   */
  readonly omit: 'empty' | 'zero' | 'never'
  /** The Go field is a pointer, so that an absent value differs from the zero value. */
  readonly pointer: boolean
  readonly required: boolean
  readonly nullable?: boolean
  readonly default?: Json
  readonly patchStrategy: PatchStrategy
  readonly mergeKey?: string
  /** Name of the feature gate that guards the field, if any. */
  readonly featureGates?: readonly string[]
  /** Protobuf: the field number, and the numbers of the inline messages it is nested in (usually none). */
  readonly number: number
  readonly within: readonly number[]
  /** Go's names of the inline structs it is a member of, outermost first: part of the path in error texts. */
  readonly embeddedIn: readonly string[]
  /**
   * x-kubernetes-map-type declared at the field, whose type is a struct of another kind
   * (PersistentVolumeSpec.claimRef).
   */
  readonly declaredMapType?: 'granular' | 'atomic'
  /** A list type declared at a field that is no list in JSON (bytes). */
  readonly declaredListType?: 'atomic' | 'set' | 'map'
  readonly unionDiscriminator?: boolean
}

/** The value constraints of a CRD's OpenAPI schema; built-in kinds are validated by their strategies instead. */
export interface ValueValidation {
  readonly [keyword: string]: Json | undefined
}
